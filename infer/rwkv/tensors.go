package rwkv

import (
	"fmt"
	"iter"
)

// A Dim is a size that the tensors of a model have in common.
type Dim uint8

// The dimensions, named as the fields of Shape.
const (
	DimEmbed Dim = iota
	DimHeads
	DimHeadSize
	DimFFN
	DimVocab
	DimRankW
	DimRankA
	DimRankV
	DimRankG
	numDims
)

// A Kind says how a tensor is used, and so how it lies in memory.
type Kind uint8

// The kinds.
const (
	Vector  Kind = iota // per channel, or per head and channel
	Matrix              // y = W x, stored [out, in]
	LowRank             // y = x W, stored [in, out]
)

// A TensorSpec is a tensor that a model has.
type TensorSpec struct {
	Name string // without "blocks.N." for those of a layer
	Kind Kind
	Dims []Dim
	// NotFirst is set where layer 0 has no use for the tensor: it may be
	// absent there, or present in any shape, and is not read.
	NotFirst bool
}

// LayerTensors are the tensors of every layer of an RWKV-7 model, in the order
// of the released files.
var LayerTensors = []TensorSpec{
	{Name: "ln1.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln1.bias", Dims: []Dim{DimEmbed}},
	{Name: "ln2.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln2.bias", Dims: []Dim{DimEmbed}},
	{Name: "att.x_r", Dims: []Dim{DimEmbed}},
	{Name: "att.x_w", Dims: []Dim{DimEmbed}},
	{Name: "att.x_k", Dims: []Dim{DimEmbed}},
	{Name: "att.x_v", Dims: []Dim{DimEmbed}},
	{Name: "att.x_a", Dims: []Dim{DimEmbed}},
	{Name: "att.x_g", Dims: []Dim{DimEmbed}},
	{Name: "att.w0", Dims: []Dim{DimEmbed}},
	{Name: "att.w1", Kind: LowRank, Dims: []Dim{DimEmbed, DimRankW}},
	{Name: "att.w2", Kind: LowRank, Dims: []Dim{DimRankW, DimEmbed}},
	{Name: "att.a0", Dims: []Dim{DimEmbed}},
	{Name: "att.a1", Kind: LowRank, Dims: []Dim{DimEmbed, DimRankA}},
	{Name: "att.a2", Kind: LowRank, Dims: []Dim{DimRankA, DimEmbed}},
	{Name: "att.v0", Dims: []Dim{DimEmbed}, NotFirst: true},
	{Name: "att.v1", Kind: LowRank, Dims: []Dim{DimEmbed, DimRankV}, NotFirst: true},
	{Name: "att.v2", Kind: LowRank, Dims: []Dim{DimRankV, DimEmbed}, NotFirst: true},
	{Name: "att.g1", Kind: LowRank, Dims: []Dim{DimEmbed, DimRankG}},
	{Name: "att.g2", Kind: LowRank, Dims: []Dim{DimRankG, DimEmbed}},
	{Name: "att.k_k", Dims: []Dim{DimEmbed}},
	{Name: "att.k_a", Dims: []Dim{DimEmbed}},
	{Name: "att.r_k", Dims: []Dim{DimHeads, DimHeadSize}},
	{Name: "att.receptance.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.key.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.output.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimEmbed}},
	{Name: "att.ln_x.weight", Dims: []Dim{DimEmbed}},
	{Name: "att.ln_x.bias", Dims: []Dim{DimEmbed}},
	{Name: "ffn.x_k", Dims: []Dim{DimEmbed}},
	{Name: "ffn.key.weight", Kind: Matrix, Dims: []Dim{DimFFN, DimEmbed}},
	{Name: "ffn.value.weight", Kind: Matrix, Dims: []Dim{DimEmbed, DimFFN}},
}

// ModelTensors are the tensors of an RWKV-7 model outside its layers. The
// embedding is looked up by row, [vocabulary, channel].
var ModelTensors = []TensorSpec{
	{Name: "emb.weight", Kind: Matrix, Dims: []Dim{DimVocab, DimEmbed}},
	{Name: "blocks.0.ln0.weight", Dims: []Dim{DimEmbed}},
	{Name: "blocks.0.ln0.bias", Dims: []Dim{DimEmbed}},
	{Name: "ln_out.weight", Dims: []Dim{DimEmbed}},
	{Name: "ln_out.bias", Dims: []Dim{DimEmbed}},
	{Name: "head.weight", Kind: Matrix, Dims: []Dim{DimVocab, DimEmbed}},
}

// LayerName is the full name of a layer's tensor.
func LayerName(layer int, name string) string { return fmt.Sprintf("blocks.%d.%s", layer, name) }

// Dim is the size of one dimension.
func (s Shape) Dim(d Dim) int { return s.dims()[d] }

func (s Shape) dims() [numDims]int {
	return [numDims]int{
		DimEmbed: s.Embed, DimHeads: s.Heads, DimHeadSize: s.HeadSize, DimFFN: s.FFN, DimVocab: s.Vocab,
		DimRankW: s.RankW, DimRankA: s.RankA, DimRankV: s.RankV, DimRankG: s.RankG,
	}
}

// Sizes are the dimensions of a tensor in a model of shape s.
func (t TensorSpec) Sizes(s Shape) []int {
	out := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		out[i] = s.Dim(d)
	}
	return out
}

// Tensors yields the full name and the specification of every tensor that a
// model of shape s needs, those outside the layers first.
func (s Shape) Tensors() iter.Seq2[string, TensorSpec] {
	return func(yield func(string, TensorSpec) bool) {
		for _, t := range ModelTensors {
			if !yield(t.Name, t) {
				return
			}
		}
		for layer := range s.Layers {
			for _, t := range LayerTensors {
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

// Params is the number of weights of an RWKV-7 model.
func (s Shape) Params() int64 {
	total := int64(0)
	for _, t := range s.Tensors() {
		n := int64(1)
		for _, d := range t.Sizes(s) {
			n *= int64(d)
		}
		total += n
	}
	return total
}
