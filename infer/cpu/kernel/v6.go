package kernel

import "fmt"

// A LinearMix is what lies between the matrices of an RWKV-6 or RWKV-5 time
// mix: decays, the recurrence and the head normalisation. Parameters are vectors
// of C = heads·Size values; the batches have C columns and one row for each
// token. Different heads may be run by different goroutines.
//
// The formulas (x060, "Finch"), for one token and one head:
//
//	w = exp(-exp(W0 + W))              (RWKV-5: the static Decay)
//	y = S r + (Σ r⊙U⊙K) V              S is that of the tokens before
//	S ← S·diag(w) + V Kᵀ
//	Y = groupnorm(y) ⊙ G
type LinearMix struct {
	Size int // of a head

	W0    []float32 // nil with Decay
	Decay []float32 // w of every token; nil with W0
	U     []float32

	NormWeight, NormBias []float32 // ln_x

	// Read: R, K, V, and G, which may be nil for ones. Read and overwritten by w:
	// W, nil with Decay. Written: Y.
	R, K, V, W, G, Y *Batch
}

// RunLinear takes rows first to last of the batches, consecutive tokens of one
// sequence, through head number head. state is that head's [Size·Size] values
// in the kernels' layout, see StoreState.
func (p Path) RunLinear(t *LinearMix, head, first, last int, state []float32) {
	if len(state) != StateLen(t.Size) || first < 0 || last > t.Y.cap || (head+1)*t.Size > t.Y.cols {
		panic(fmt.Sprintf("kernel: head %d of %d values, tokens %d to %d, state of %d", head, t.Size, first, last, len(state)))
	}
	for _, b := range [...]*Batch{t.R, t.K, t.V, t.W, t.G} {
		if b != nil && (b.stride != t.Y.stride || last > b.cap) {
			panic(fmt.Sprintf("kernel: time mix of batches of %d x %d and %d x %d", b.cap, b.cols, t.Y.cap, t.Y.cols))
		}
	}
	h := linearHead{LinearMix: t, lo: head * t.Size, hi: (head + 1) * t.Size, state: state}
	for first < last {
		h.first, h.last = first, min(first+maxHeadRows, last)
		p.linearGate(&h)
		p.linear(&h)
		p.linearNorm(&h)
		first = h.last
	}
}

// A linearHead is one head's columns and some rows of a LinearMix.
type linearHead struct {
	*LinearMix
	lo, hi      int // columns
	first, last int // rows
	state       []float32
	bonus       [maxHeadRows]float32
}

// linearNorm is the normalisation of RWKV-7 without its bonus.
func (p Path) linearNorm(h *linearHead) {
	if h.G == nil {
		for t := h.first; t < h.last; t++ {
			y := h.Y.Row(t)[h.lo:h.hi]
			tables[p].layerNorm(y, y, h.NormWeight[h.lo:h.hi], h.NormBias[h.lo:h.hi], GroupNormEps)
		}
		return
	}
	mix := TimeMix{NormWeight: h.NormWeight, NormBias: h.NormBias, Y: h.Y, V: h.V, G: h.G}
	norm := timeMixHead{TimeMix: &mix, lo: h.lo, hi: h.hi, first: h.first, last: h.last}
	p.outNorm(&norm)
}
