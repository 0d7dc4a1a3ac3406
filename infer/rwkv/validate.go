package rwkv

import (
	"fmt"
	"slices"
)

// validate checks that an RWKV-7 model has exactly the tensors it needs.
func (s *survey) validate(shape Shape) error {
	if err := s.checkSources(shape); err != nil {
		return err
	}
	if err := checkBounds(shape); err != nil {
		return err
	}
	known := map[string]bool{}
	for name, spec := range shape.Tensors() {
		known[name] = true
		want := spec.Sizes(shape)
		got, ok := s.src.Dims(name)
		if !ok {
			return &TensorError{Tensor: name, Problem: "it is missing"}
		}
		if !slices.Equal(got, want) && !slices.Equal(got, squeezed(want)) {
			return &TensorError{Tensor: name, Problem: fmt.Sprintf("its shape is %v, the rest of the model needs %v", got, want)}
		}
	}
	for _, spec := range LayerTensors {
		if spec.NotFirst {
			known[LayerName(0, spec.Name)] = true
		}
	}
	for _, name := range s.names {
		if !known[name] {
			return &TensorError{Tensor: name, Problem: "RWKV-7 has no such tensor"}
		}
	}
	return nil
}

// checkSources checks the tensors that the sizes were read from, so that the
// first complaint is about a cause and not about a consequence.
func (s *survey) checkSources(shape Shape) error {
	sources := []struct {
		name string
		size int
	}{
		{"emb.weight", shape.Embed},
		{"blocks.0.att.r_k", shape.HeadSize},
		{"blocks.0.ffn.key.weight", shape.FFN},
		{"blocks.0.att.w1", shape.RankW},
		{"blocks.0.att.a1", shape.RankA},
		{"blocks.0.att.g1", shape.RankG},
		{"blocks.1.att.v1", shape.RankV},
	}
	for _, source := range sources {
		if source.size > 0 || source.name == "blocks.1.att.v1" && shape.Layers == 1 {
			continue
		}
		if got, ok := s.src.Dims(source.name); ok {
			return &TensorError{Tensor: source.name, Problem: fmt.Sprintf("its shape %v cannot be", got)}
		}
		return &TensorError{Tensor: source.name, Problem: "it is missing"}
	}
	return nil
}

// checkBounds keeps products of sizes small enough for what computes with them.
func checkBounds(s Shape) error {
	limits := []struct {
		tensor, what string
		got, most    int
	}{
		{"emb.weight", "channels", s.Embed, maxEmbed},
		{"emb.weight", "vocabulary entries", s.Vocab, maxVocab},
		{"blocks.0.att.r_k", "channels a head", s.HeadSize, maxHeadSize},
		{"blocks.0.ffn.key.weight", "FFN channels", s.FFN, maxFFN},
		{"blocks.0.att.w1", "ranks", s.RankW, maxEmbed},
		{"blocks.0.att.a1", "ranks", s.RankA, maxEmbed},
		{"blocks.0.att.g1", "ranks", s.RankG, maxEmbed},
		{"blocks.1.att.v1", "ranks", s.RankV, maxEmbed},
	}
	for _, l := range limits {
		if l.got > l.most {
			return &TensorError{Tensor: l.tensor, Problem: fmt.Sprintf("%d %s, at most %d can be run", l.got, l.what, l.most)}
		}
	}
	if s.Vocab < 1 {
		return &TensorError{Tensor: "emb.weight", Problem: "an empty vocabulary"}
	}
	if s.Heads > maxEmbed || s.Heads*s.HeadSize != s.Embed {
		return &TensorError{Tensor: "blocks.0.att.r_k", Problem: fmt.Sprintf("%d heads of %d are not the %d channels of emb.weight", s.Heads, s.HeadSize, s.Embed)}
	}
	return nil
}

// squeezed drops leading dimensions of 1, but not the last dimension.
func squeezed(dims []int) []int {
	for len(dims) > 1 && dims[0] == 1 {
		dims = dims[1:]
	}
	return dims
}
