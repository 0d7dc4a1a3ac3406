package rwkv

import (
	"fmt"
	"slices"
)

// validate checks that a model has exactly the tensors its version needs.
func (s *survey) validate(shape Shape) error {
	for _, from := range shape.arch().sources(shape) {
		if err := s.checkSource(shape, from); err != nil {
			return err
		}
	}
	if err := checkHeads(shape); err != nil {
		return err
	}
	known, ranks := map[string]bool{}, layerRanks{}
	for name, spec := range shape.Tensors() {
		known[name] = true
		want := spec.Sizes(shape)
		got, ok := s.src.Dims(name)
		if !ok && spec.Log != "" {
			known[spec.LogName(name)] = true
			got, ok = s.src.Dims(spec.LogName(name))
		}
		if !ok {
			return shape.refuse(name, "it is missing")
		}
		if spec.Kind == LowRank || spec.Kind == LowRanks {
			want = ranks.narrow(name, spec, got, want)
		}
		if !slices.Equal(got, want) && !slices.Equal(squeezed(got), squeezed(want)) {
			return shape.refuse(name, "its shape is %v, the rest of the model needs %v", got, want)
		}
	}
	for _, spec := range shape.LayerTensors() {
		if spec.NotFirst {
			known[LayerName(0, spec.Name)] = true
		}
	}
	for _, name := range s.names {
		if !known[name] {
			return shape.refuse(name, "%s has no such tensor", versions[shape.Version].name)
		}
	}
	return nil
}

// checkSource checks a tensor that a size was read from. This comes before the
// other tensors, so that the first complaint is about a cause and not about a
// consequence. The limit keeps products of sizes from overflowing.
func (s *survey) checkSource(shape Shape, from source) error {
	size := shape.Dim(from.dim)
	got, ok := s.src.Dims(from.tensor)
	switch {
	case !ok:
		return shape.refuse(from.tensor, "it is missing")
	case size < 1:
		return shape.refuse(from.tensor, "its shape %v cannot be", got)
	case size > from.most:
		return shape.refuse(from.tensor, "%d %s, at most %d can be run", size, from.what, from.most)
	}
	return nil
}

// checkHeads checks that the heads of a version that has some are as wide as
// the model.
func checkHeads(s Shape) error {
	for _, from := range s.arch().sources(s) {
		if from.dim == DimHeadSize && (s.Heads > maxEmbed || s.Heads*s.HeadSize != s.Embed) {
			return s.refuse(from.tensor, "%d heads of %d are not the %d channels of emb.weight", s.Heads, s.HeadSize, s.Embed)
		}
	}
	return nil
}

func (s Shape) refuse(tensor, format string, args ...any) error {
	return &TensorError{Version: s.Version, Tensor: tensor, Problem: fmt.Sprintf(format, args...)}
}

// layerRanks are the ranks of single layers, by the beginning of the names of both
// matrices of a branch: "blocks.1.att.w".
type layerRanks map[string]int

// narrow is what a low-rank matrix must be: want, with the rank of its layer where that
// is smaller than the model's. The first matrix of a branch decides.
func (r layerRanks) narrow(name string, spec TensorSpec, got, want []int) []int {
	branch := name[:len(name)-1] // without the 1 or 2
	out := slices.Clone(want)
	for i, d := range spec.Dims {
		each := 1
		if d == DimMixRanks {
			each = mixes
		} else if d < DimRank || d == dimS {
			continue
		}
		if _, ok := r[branch]; !ok && len(got) == len(want) && got[i] > 0 && got[i] < want[i] && got[i]%each == 0 {
			r[branch] = got[i] / each
		} else if !ok {
			r[branch] = want[i] / each
		}
		out[i] = each * r[branch]
	}
	return out
}

// squeezed drops dimensions of 1: files differ in them.
func squeezed(dims []int) []int {
	return slices.DeleteFunc(slices.Clone(dims), func(n int) bool { return n == 1 })
}
