package rwkv

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
