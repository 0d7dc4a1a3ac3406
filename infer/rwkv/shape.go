package rwkv

import "fmt"

// A Shape is the size of everything in a model.
type Shape struct {
	Version  Version
	Layers   int
	Embed    int // C
	Heads    int // H
	HeadSize int // N; H*N == C for RWKV-7
	FFN      int // F
	Vocab    int // V, rows of emb and head
	// ranks of the low-rank branches of RWKV-7
	RankW, RankA, RankV, RankG int
}

// StateLen is the number of float32 values in the canonical state:
// for each layer the att shift [C], the ffn shift [C] and the WKV state
// [H][N value rows][N key columns].
func (s Shape) StateLen() int { return s.Layers * s.LayerStateLen() }

// LayerStateLen is StateLen for one layer.
func (s Shape) LayerStateLen() int {
	return 2*s.Embed + s.Heads*s.HeadSize*s.HeadSize
}

// AttShift is where in the canonical state the att shift of a layer begins; it
// has Embed values.
func (s Shape) AttShift(layer int) int { return layer * s.LayerStateLen() }

// FFNShift is where the ffn shift of a layer begins; it has Embed values.
func (s Shape) FFNShift(layer int) int { return s.AttShift(layer) + s.Embed }

// WKV is where the WKV state of a layer begins: Heads matrices of HeadSize
// value rows by HeadSize key columns.
func (s Shape) WKV(layer int) int { return s.AttShift(layer) + 2*s.Embed }

// released are the sizes that RWKV-7 models are published in, by layers and channels.
var released = map[[2]int]string{
	{12, 768}: "0.1B", {24, 1024}: "0.4B", {24, 2048}: "1.5B", {32, 2560}: "2.9B", {32, 4096}: "7.2B", {61, 4096}: "13.3B",
}

// SizeName is what people call a model of this size: "2.9B" as its authors do,
// or the rounded number of parameters.
func (s Shape) SizeName() string {
	if name, ok := released[[2]int{s.Layers, s.Embed}]; ok && s.Version == V7 {
		return name
	}
	n := float64(s.Params())
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", n/1e9)
	case n >= 1e5:
		return fmt.Sprintf("%.1fM", n/1e6)
	}
	return fmt.Sprintf("%.0fK", n/1e3)
}
