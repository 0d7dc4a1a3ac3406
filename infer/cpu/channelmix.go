package cpu

import "rookery/infer/cpu/kernel"

// channelMix adds the feed-forward part of the current layer to the residual
// stream:
//
//	xn = LN(x; ln2);  h = relu²(Wk·(xn + (prev-xn)⊙mix));  x += Wv·h
//
// Most of h is zero, so that decoding leaves most of Wv unread.
func (r *runner) channelMix() {
	a, ffn := &r.act, &r.model.layers[r.layer].ffn
	r.eachToken(r.regions.norm2)
	r.eachToken(r.regions.shiftFFN)
	for _, s := range r.spans {
		copy(r.slots.layer(s.state, r.layer).ffn, a.xn.Row(s.last-1))
	}
	r.pool.Multiply(kernel.Product{W: ffn.key, X: a.xk, Y: a.hidden, Then: r.regions.relu2})
	r.read += r.sparse.Multiply(kernel.Product{W: ffn.value, X: a.hidden, Y: a.xn, Then: r.regions.residual})
}

func (r *runner) normFFN(chunk int) { r.normTokens(chunk, &r.model.layers[r.layer].ln2) }

// shiftFFN makes the shifted input for a chunk of tokens.
func (r *runner) shiftFFN(chunk int) {
	a, ffn := &r.act, &r.model.layers[r.layer].ffn
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		r.path.Shift(a.xk.Row(t), a.xn.Row(t), r.previous(t).ffn, ffn.mixK)
		r.quantise(a.xk, t)
	}
}

// squareHidden is relu², and the int8 form of what it leaves.
func (r *runner) squareHidden(lo, hi int) {
	h := r.act.hidden
	for t := range r.tokens {
		v := h.Row(t)[lo:hi]
		r.path.SquaredReLU(v, v)
		if h.Quantised() {
			r.path.Quantise(h, t, lo, hi)
		}
	}
}
