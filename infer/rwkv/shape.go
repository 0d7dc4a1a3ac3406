package rwkv

// A Version is a generation of the architecture.
type Version uint8

// The versions, oldest first.
const (
	Unknown Version = iota
	V4
	V50
	V51
	V52
	V6
	V7
)

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
