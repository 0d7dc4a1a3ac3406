package rwkv

import "slices"

// The names of the parts of a layer's state.
const (
	PartAttShift = "att shift" // [C]: the time mix's input for the last token
	PartFFNShift = "ffn shift" // [C]: the channel mix's input for the last token
	PartWKV      = "wkv"       // [H, N value rows, N key columns]; RWKV-4: the sums [C, 1, 1]
	PartWeights  = "weights"   // [C] of RWKV-4: the sums of weights
	PartExponent = "exponent"  // [C] of RWKV-4: the logarithm that both sums are divided by
)

// A StatePart is one array of a layer's state. In the canonical layout it is
// fp32 and in row-major order.
type StatePart struct {
	Name string
	Dims []int
}

// Len is the number of values.
func (p StatePart) Len() int { return product(p.Dims) }

// StateParts are what a layer keeps of the tokens that it has read, in the order
// of the canonical layout: the parts of layer 0 one after the other, then those
// of layer 1, and so on. It is nil for a version that cannot be run.
func (s Shape) StateParts() []StatePart {
	if a := s.arch(); a != nil {
		return a.state(s)
	}
	return nil
}

// StateLen is the number of float32 values in the canonical state.
func (s Shape) StateLen() int { return s.Layers * s.LayerStateLen() }

// LayerStateLen is StateLen for one layer.
func (s Shape) LayerStateLen() int {
	n := 0
	for _, p := range s.StateParts() {
		n += p.Len()
	}
	return n
}

// StateBytes is the size of a canonical state.
func (s Shape) StateBytes() int64 { return 4 * int64(s.StateLen()) }

// StatePart is where a part of a layer lies in the canonical state: values
// first to last-1. Both are 0 if the version has no such part.
func (s Shape) StatePart(layer int, name string) (first, last int) {
	at := layer * s.LayerStateLen()
	for _, p := range s.StateParts() {
		if p.Name == name {
			return at, at + p.Len()
		}
		at += p.Len()
	}
	return 0, 0
}

// WKV is where the WKV part of a layer begins.
func (s Shape) WKV(layer int) int {
	first, _ := s.StatePart(layer, PartWKV)
	return first
}

// SameState says whether states of two shapes have the same parts. A tuned state of
// one then fits the other: its file does not say for which version it was trained.
func (s Shape) SameState(other Shape) bool {
	return s.Layers == other.Layers && slices.EqualFunc(s.StateParts(), other.StateParts(), func(a, b StatePart) bool {
		return a.Name == b.Name && slices.Equal(a.Dims, b.Dims)
	})
}

// TimeStateShape is the shape of a tuned initial state ("time_state"): a matrix
// of size by size for each head of each layer. Its file does not say the
// version; those with such states lay them out alike, so it is the newest.
func TimeStateShape(layers, heads, size int) Shape {
	return Shape{Version: Newest(), Layers: layers, Embed: heads * size, Heads: heads, HeadSize: size}
}

// headState is the state of a layer whose heads keep a matrix each.
func headState(s Shape) []StatePart {
	return []StatePart{
		{PartAttShift, []int{s.Embed}},
		{PartFFNShift, []int{s.Embed}},
		{PartWKV, []int{s.Heads, s.HeadSize, s.HeadSize}},
	}
}
