package kernel

import "fmt"

// GroupNormEps is the epsilon of RWKV-7's normalisation of the heads.
const GroupNormEps = 64e-5

// A TimeMix is what lies between the matrices of an RWKV-7 time mix: the gate
// functions, the recurrence and the head normalisation. Parameters are vectors
// of C = heads·Size values; the batches have C columns and one row for each
// token. Different heads may be run by different goroutines.
//
// The formulas (x070, "Goose"), for one token and one head:
//
//	w = exp(-e^-½ σ(W0 + W))        a = σ(A0 + A)
//	v = V + (VFirst - V)⊙σ(V0 + VGate)          (layers above 0)
//	κ = K⊙KK / max(‖K⊙KK‖, 1e-12)    k = K⊙(1 + (a-1)⊙KA)
//	S ← S·diag(w) - (Sκ)(κ⊙a)ᵀ + v kᵀ    y = S r
//	Y = (groupnorm(y⊙Scale) + (Σ r⊙k⊙RK) v) ⊙ G
type TimeMix struct {
	Size int // of a head

	W0, A0, V0, KK, KA, RK []float32 // V0 is nil in layer 0
	NormWeight, NormBias   []float32 // ln_x
	Scale                  []float32 // nil: ones

	// Read: R, W and A (outputs of the low-rank branches without their bias),
	// G, VGate and VFirst (nil in layer 0). Read and overwritten: K by k, V by
	// v, W by w, A by -κ. Written: B by κ⊙a, Y.
	R, K, V, W, A, G, VGate, VFirst, B, Y *Batch
}

// StateLen is the number of float32 of one head's state.
func StateLen(size int) int { return size * size }

// RunHead takes rows first to last of the batches, consecutive tokens of one
// sequence, through head number head. state is that head's [Size·Size] values
// in the kernels' layout, see StoreState.
func (p Path) RunHead(t *TimeMix, head, first, last int, state []float32) {
	if len(state) != StateLen(t.Size) || first < 0 || last > t.Y.cap || (head+1)*t.Size > t.Y.cols {
		panic(fmt.Sprintf("kernel: head %d of %d values, tokens %d to %d, state of %d", head, t.Size, first, last, len(state)))
	}
	for _, b := range [...]*Batch{t.R, t.K, t.V, t.W, t.A, t.G, t.B, t.VGate, t.VFirst} {
		if b != nil && (b.stride != t.Y.stride || last > b.cap) {
			panic(fmt.Sprintf("kernel: time mix of batches of %d x %d and %d x %d", b.cap, b.cols, t.Y.cap, t.Y.cols))
		}
	}
	if first >= last {
		return
	}
	h := timeMixHead{TimeMix: t, lo: head * t.Size, hi: (head + 1) * t.Size}
	for first < last {
		h.first, h.last = first, min(first+maxHeadRows, last)
		p.gate(&h)
		w := h.wkv(state)
		p.wkv(&w)
		h.scale()
		p.outNorm(&h)
		first = h.last
	}
}

// maxHeadRows is how many tokens are taken through one stage at a time: few
// enough that a head's rows stay in the L1 or L2 cache.
const maxHeadRows = 32

// A timeMixHead is one head's columns and some rows of a TimeMix.
type timeMixHead struct {
	*TimeMix
	lo, hi      int // columns
	first, last int // rows
	bonus       [maxHeadRows]float32
}

// A wkvHead is the recurrence of one head: rows of r, w, k, v, a = -κ and
// b = κ⊙a, each stride float32 apart.
type wkvHead struct {
	size, rows, stride  int
	state               []float32
	r, w, k, v, a, b, y []float32 // from the first row's first column of the head on
}

func (h *timeMixHead) wkv(state []float32) wkvHead {
	from := func(b *Batch) []float32 { return b.data[h.first*b.stride+h.lo:] }
	return wkvHead{
		size: h.Size, rows: h.last - h.first, stride: h.Y.stride, state: state,
		r: from(h.R), w: from(h.W), k: from(h.K), v: from(h.V), a: from(h.A), b: from(h.B), y: from(h.Y),
	}
}

// scale multiplies what was read from the state.
func (h *timeMixHead) scale() {
	if h.Scale == nil {
		return
	}
	for t := h.first; t < h.last; t++ {
		y := h.Y.Row(t)[h.lo:h.hi]
		for j, s := range h.Scale[h.lo:h.hi] {
			y[j] *= s
		}
	}
}

// StoreState converts one head's state from the canonical layout, [value][key],
// to the kernels': [key][value], so that vectors run over values. LoadState is
// the inverse. dst and src must not overlap.
func StoreState(dst, src []float32, size int) { transpose(dst, src, size) }

// LoadState converts one head's state to the canonical layout.
func LoadState(dst, src []float32, size int) { transpose(dst, src, size) }

func transpose(dst, src []float32, n int) {
	sameLen("transposed state", n*n, len(dst), len(src))
	const tile = 8
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := 0; j0 < n; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				for j := j0; j < min(j0+tile, n); j++ {
					dst[j*n+i] = src[i*n+j]
				}
			}
		}
	}
}
