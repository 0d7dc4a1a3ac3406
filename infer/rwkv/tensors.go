package rwkv

import (
	"fmt"
	"iter"
	"strings"
)

// A Dim is a size that the tensors of a model have in common.
type Dim uint8

// The dimensions, named as the fields of Shape. DimMixes is the number of
// token-shift mixes that RWKV-6 makes from one low-rank branch, DimMixRanks all
// their ranks together. DimDeep is the square of DeepEmbed's rank. DimRank and following are Ranks[0] and following.
const (
	DimEmbed Dim = iota
	DimHeads
	DimHeadSize
	DimFFN
	DimVocab
	DimMixes
	DimMixRanks
	DimDeep
	DimRank
)

// mixes is DimMixes.
const mixes = 5

// A Kind says how a tensor is used, and so how it lies in memory.
type Kind uint8

// The kinds.
const (
	Vector    Kind = iota // per channel, or per head and channel
	Matrix                // y = W x, stored [out, in]; adapters can change it
	LowRank               // y = x W, stored [in, out]
	LowRanks              // several of them behind each other, [n, in, out]
	Embedding             // looked up by row, [vocabulary, channel]
	Table                 // the same, so large that a backend leaves it in the file
)

// A TensorSpec is a tensor that a model has.
type TensorSpec struct {
	Name string // without "blocks.N." for those of a layer
	Kind Kind
	Dims []Dim
	// NotFirst is set where layer 0 has no use for the tensor: it may be
	// absent there, or present in any shape, and is not read.
	NotFirst bool
	// Fixed is set for a matrix that adapters do not change.
	Fixed bool
	// Log is the name under which some files have the logarithm of the tensor
	// instead, like Name without "blocks.N."; empty: none do.
	Log string
}

// LogName is the full name of the logarithm of a tensor with a full name.
func (t TensorSpec) LogName(name string) string { return strings.TrimSuffix(name, t.Name) + t.Log }

// outerTensors are those of every version.
var outerTensors = []TensorSpec{
	{Name: "emb.weight", Kind: Embedding, Dims: []Dim{DimVocab, DimEmbed}},
	{Name: "blocks.0.ln0.weight", Dims: []Dim{DimEmbed}},
	{Name: "blocks.0.ln0.bias", Dims: []Dim{DimEmbed}},
	{Name: "ln_out.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln_out.bias", Dims: []Dim{DimEmbed}},
	{Name: "head.weight", Kind: Matrix, Dims: []Dim{DimVocab, DimEmbed}},
}

// ModelTensors are the tensors outside the layers.
func (s Shape) ModelTensors() []TensorSpec {
	if a := s.arch(); a != nil {
		return a.modelTensors()
	}
	return nil
}

// LayerTensors are the tensors of every layer, in the order of the released
// files.
func (s Shape) LayerTensors() []TensorSpec {
	if a := s.arch(); a != nil {
		return a.layerTensors()
	}
	return nil
}

// LayerName is the full name of a layer's tensor.
func LayerName(layer int, name string) string { return fmt.Sprintf("blocks.%d.%s", layer, name) }

// Dim is the size of one dimension.
func (s Shape) Dim(d Dim) int {
	if d >= DimRank {
		return s.Ranks[d-DimRank]
	}
	return [DimRank]int{
		DimEmbed: s.Embed, DimHeads: s.Heads, DimHeadSize: s.HeadSize, DimFFN: s.FFN, DimVocab: s.Vocab,
		DimMixes: mixes, DimMixRanks: mixes * s.Ranks[0], DimDeep: s.Ranks[4] * s.Ranks[4],
	}[d]
}

// Sizes are the dimensions of a tensor in a model of shape s.
func (t TensorSpec) Sizes(s Shape) []int {
	out := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		out[i] = s.Dim(d)
	}
	return out
}

// Len is the number of a tensor's values in a model of shape s.
func (t TensorSpec) Len(s Shape) int { return product(t.Sizes(s)) }

// Tensors yields the full name and the specification of every tensor that a
// model of shape s needs, those outside the layers first.
func (s Shape) Tensors() iter.Seq2[string, TensorSpec] {
	return func(yield func(string, TensorSpec) bool) {
		for _, t := range s.ModelTensors() {
			if !yield(t.Name, t) {
				return
			}
		}
		for layer := range s.Layers {
			for _, t := range s.LayerTensors() {
				if layer == 0 && t.NotFirst {
					continue
				}
				if !yield(LayerName(layer, t.Name), t) {
					return
				}
			}
		}
	}
}

// Targets are the weights that adapters can change, of every layer and outside
// the layers: their names without "blocks.N." and ".weight".
func (s Shape) Targets() (layer, model []string) {
	return targets(s.LayerTensors()), targets(s.ModelTensors())
}

func targets(of []TensorSpec) []string {
	var out []string
	for _, t := range of {
		if t.Kind == Matrix && !t.Fixed {
			out = append(out, strings.TrimSuffix(t.Name, ".weight"))
		}
	}
	return out
}

// TargetSize is the size of a target's weight, or 0, 0 if the version has none.
func (s Shape) TargetSize(target string) (out, in int) {
	for _, tensors := range [][]TensorSpec{s.LayerTensors(), s.ModelTensors()} {
		for _, t := range tensors {
			if t.Kind == Matrix && !t.Fixed && t.Name == target+".weight" {
				return s.Dim(t.Dims[0]), s.Dim(t.Dims[1])
			}
		}
	}
	return 0, 0
}

// Matrices are the full names of the large matrices, nearly all of a model's
// bytes: those that every token is multiplied by and, if asked for, the
// embedding, of which a token reads one row.
func (s Shape) Matrices(embedding bool) []string {
	var out []string
	for name, t := range s.Tensors() {
		if t.Kind == Matrix || embedding && t.Kind == Embedding {
			out = append(out, name)
		}
	}
	return out
}

// Params is the number of weights of a model.
func (s Shape) Params() int64 {
	total := int64(0)
	for _, t := range s.Tensors() {
		total += int64(t.Len(s))
	}
	return total
}

// TableParams is the number of those that a backend leaves in the file.
func (s Shape) TableParams() int64 {
	total := int64(0)
	for _, t := range s.Tensors() {
		if t.Kind == Table {
			total += int64(t.Len(s))
		}
	}
	return total
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
