package rwkv

// A Shape is the size of everything in a model.
type Shape struct {
	Version  Version
	Layers   int
	Embed    int // C
	Heads    int // H
	HeadSize int // N; H*N == C in all released models
	FFN      int // F
	Vocab    int // V, rows of emb and head
	// Ranks are the inner sizes of the low-rank matrices. RankNames names them.
	Ranks Ranks
}

// Ranks are the ranks of a model, in the order of its version's RankNames: the largest
// of all layers. A layer may have smaller ones, which zeros complete.
type Ranks [5]int

// RankNames are the names of the ranks that the version has: "w", "a", "v", "g".
func (s Shape) RankNames() []string {
	if a := s.arch(); a != nil {
		return a.ranks()
	}
	return nil
}
