package kernel

import "fmt"

// A ChannelWKV is the recurrence of RWKV-4, whose channels do not depend on each
// other. Parameters, batches and the state's parts have C columns. Different
// channels may be run by different goroutines.
//
// The formulas (x040), for one token and one channel, with the sums a of values
// and b of weights divided by e^p so that nothing overflows:
//
//	q = max(p, First+k);  y = (e^(p-q) a + e^(First+k-q) v) / (e^(p-q) b + e^(First+k-q))
//	q = max(p+Fade, k);   a, b ← e^(p+Fade-q) a + e^(k-q) v, e^(p+Fade-q) b + e^(k-q);  p ← q
//	Y = R ⊙ y
//
// b = 0 means that nothing was read: p is then minus infinity.
type ChannelWKV struct {
	First, Fade           []float32 // time_first, -e^time_decay
	R, K, V, Y            *Batch    // Y may be none of the others
	Sum, Weight, Exponent []float32 // the state: a, b, p
	Work                  []float32 // four values for each channel
}

// RunChannels takes rows first to last of the batches, consecutive tokens of one
// sequence, through channels lo to hi.
func (p Path) RunChannels(t *ChannelWKV, lo, hi, first, last int) {
	n := hi - lo
	if n < 0 || first < 0 || last > t.Y.cap || lo < 0 || hi > t.Y.cols || hi > len(t.Sum) {
		panic(fmt.Sprintf("kernel: channels %d to %d, tokens %d to %d", lo, hi, first, last))
	}
	exp := tables[p].unary[exp]
	e := t.Work[4*lo : 4*hi]
	eOld, eNow, eKept, eAdded := e[:n], e[n:2*n], e[2*n:3*n], e[3*n:]
	u, fade := t.First[lo:hi], t.Fade[lo:hi]
	a, b, pp := t.Sum[lo:hi], t.Weight[lo:hi], t.Exponent[lo:hi]
	for i, w := range b {
		if w == 0 {
			pp[i] = nothingRead
		}
	}
	for row := first; row < last; row++ {
		r, k, v, y := t.R.Row(row)[lo:hi], t.K.Row(row)[lo:hi], t.V.Row(row)[lo:hi], t.Y.Row(row)[lo:hi]
		for i, x := range k {
			old := pp[i]
			q := max(old, u[i]+x)
			eOld[i], eNow[i] = old-q, u[i]+x-q
			old += fade[i]
			q = max(old, x)
			eKept[i], eAdded[i] = old-q, x-q
			pp[i] = q
		}
		exp(e, e)
		for i, x := range v {
			y[i] = r[i] * (eOld[i]*a[i] + eNow[i]*x) / (eOld[i]*b[i] + eNow[i])
			a[i] = eKept[i]*a[i] + eAdded[i]*x
			b[i] = eKept[i]*b[i] + eAdded[i]
		}
	}
}

// nothingRead is the exponent before the first token.
const nothingRead = -1e30
