package adapter

import (
	"fmt"

	"rookery/infer/checkpoint"
)

// bone reads DiSHA, BAT and the oldest Bone, told apart by shape.
//
//	2-D [r, out]           DiSHA
//	2-D [out, r]           blocks by output row, cut along the outputs
//	3-D [in/r, r, r]       BAT
//	3-D [out/r, r, r]      blocks by output row
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
	switch blocks := r.options.Blocks; {
	case n != in/rank:
		d.Form = Bone
	case n != out/rank:
		// blocks of the inputs
	case blocks == "":
		return nil, &QuestionError{
			Path: r.path, Asked: "blocks", Choices: []string{BlocksColumn, BlocksRow},
			Problem: "the blocks of this Bone file can lie both ways (column is what newer trainers write)",
		}
	case blocks == BlocksRow:
		d.Form = Bone
	}
	return d, nil
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
