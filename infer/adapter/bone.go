package adapter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rookery/infer/checkpoint"
)

// bone reads DiSHA, BAT and the oldest Bone, told apart by shape.
//
//	2-D [r, out]           DiSHA
//	2-D [out, r]           blocks by output row, cut along the outputs
//	3-D [in/r, r, r]       BAT
//	3-D [out/r, r, r]      blocks by output row
//
// Where in and out are equal, other tensors of the file, its names or a person say
// which of the last two it is.
func (r *reader) bone(at product, t *checkpoint.Tensor) (*Delta, error) {
	out, in := r.shape.TargetSize(string(at.target))
	v, err := values(t)
	if err != nil {
		return nil, err
	}
	if k := r.strengthOf(at); k != 1 {
		for i := range v {
			v[i] *= k
		}
	}
	switch len(t.Shape) {
	case 1: // a leading 1 is dropped: rank 1
		if t.Shape[0] == out {
			return disha(v, 1, out, in), nil
		}
	case 2:
		return r.bone2(t, v, out, in)
	case 3:
		return r.bone3(t, v, out, in)
	}
	return nil, refuse(t.Name, fmt.Sprintf("its shape is %v, and this product's weight is [%d, %d]", t.Shape, out, in), "the adapter is of another model")
}

func (r *reader) bone2(t *checkpoint.Tensor, v []float32, out, in int) (*Delta, error) {
	rows, cols := t.Shape[0], t.Shape[1]
	switch {
	case cols == out && rows <= in:
		return disha(v, rows, out, in), nil
	case rows == out && cols <= in && out%cols == 0 && in%cols == 0:
		return &Delta{Form: Bone, Out: out, In: in, Rank: cols, Scale: 1, Blocks: v}, nil
	}
	return nil, refuse(t.Name, fmt.Sprintf("its shape is [%d, %d], and this product's weight is [%d, %d]", rows, cols, out, in), "the adapter is of another model")
}

func (r *reader) bone3(t *checkpoint.Tensor, v []float32, out, in int) (*Delta, error) {
	n, rank := t.Shape[0], t.Shape[1]
	if t.Shape[2] != rank || in%rank != 0 || out%rank != 0 || n != in/rank && n != out/rank {
		return nil, refuse(t.Name, fmt.Sprintf("its shape is %v, and this product's weight is [%d, %d]", t.Shape, out, in), "the adapter is of another model")
	}
	d := &Delta{Form: BAT, Out: out, In: in, Rank: rank, Scale: 1, Blocks: v}
	switch tells := tellDirection(t, out, in); {
	case tells == BlocksRow, tells == "" && cmp.Or(r.options.Blocks, r.blocks) == BlocksRow:
		d.Form = Bone
	case tells == "" && cmp.Or(r.options.Blocks, r.blocks) == "":
		return nil, &QuestionError{
			Path: r.path, Asked: "blocks", Choices: []string{BlocksColumn, BlocksRow},
			Problem: "the blocks of this Bone file can lie both ways (column is what newer trainers write)",
		}
	}
	return d, nil
}

// tellDirection is the direction of blocks that a tensor tells by its shape or by its
// name, or "". Trainers that write disha or Bone experts know columns only.
func tellDirection(t *checkpoint.Tensor, out, in int) string {
	if len(t.Shape) == 2 && t.Shape[0] == out && t.Shape[1] != out {
		return BlocksRow
	}
	if len(t.Shape) != 3 {
		return ""
	}
	n, rank := t.Shape[0], t.Shape[1]
	switch {
	case n*rank != in && n*rank == out:
		return BlocksRow
	case n*rank == in && n*rank != out, strings.HasSuffix(t.Name, ".disha"), strings.HasSuffix(t.Name, "_expert_0"):
		return BlocksColumn
	}
	return ""
}

// findDirection looks for tensors that tell the direction of blocks: it is that of the
// others in the file too. Another answer of a person's is refused.
func (r *reader) findDirection() error {
	both := false
	for _, at := range slices.SortedFunc(maps.Keys(r.groups), compareProducts) {
		t := r.groups[at][partBone]
		if t == nil {
			continue
		}
		out, in := r.shape.TargetSize(string(at.target))
		tells := tellDirection(t, out, in)
		if tells != "" && r.options.Blocks != "" && tells != r.options.Blocks {
			return refuse(t.Name, fmt.Sprintf("its blocks go by %s, and the answer was %s", tells, r.options.Blocks), "leave blocks out")
		}
		both = both || tells != "" && r.blocks != "" && tells != r.blocks
		r.blocks = cmp.Or(r.blocks, tells)
	}
	if both {
		r.blocks = ""
	}
	return nil
}

// disha holds D [rank, out] transposed, as Up.
func disha(v []float32, rank, out, in int) *Delta {
	up := make([]float32, len(v))
	for i := range rank {
		for o := range out {
			up[o*rank+i] = v[i*out+o]
		}
	}
	return &Delta{Form: DiSHA, Out: out, In: in, Rank: rank, Scale: 1, Up: up}
}
