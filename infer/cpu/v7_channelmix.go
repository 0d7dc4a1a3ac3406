package cpu

import (
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// runChannelMix adds the feed-forward part of the current layer to the residual
// stream:
//
//	xn = LN(x; ln2);  h = relu²(Wk·(xn + (prev-xn)⊙mix));  x += Wv·h
//
// Most of h is zero, so decoding leaves most of Wv unread.
func (r *v7) runChannelMix() {
	a := &r.act
	r.eachToken(r.regions.norm2)
	r.eachToken(r.regions.shiftFFN)
	for _, s := range r.spans {
		copy(r.stateOf(s.state).ffn, a.xn.Row(s.last-1))
	}
	r.reshapeInputs(reshape{adapter.FFNKey, a.xk})
	r.computeKey()
	r.reshapeInputs(reshape{adapter.FFNValue, a.hidden})
	r.computeValue()
}

func ffnKey(l layer) *kernel.Matrix   { return v7Of(l).ffn.key }
func ffnValue(l layer) *kernel.Matrix { return v7Of(l).ffn.value }

// computeKey makes h. Adapters change the product before relu².
func (r *v7) computeKey() {
	a := &r.act
	if !r.changesProduct(adapter.FFNKey) && !r.haveExperts() {
		r.queueProduct(ffnKey, a.xk, a.hidden, r.regions.relu2)
		r.runQueue()
		return
	}
	r.queueProduct(ffnKey, a.xk, a.hidden, nil)
	r.queueDown(adapter.FFNKey, a.xk)
	r.runQueue()
	r.queueUp(adapter.FFNKey, a.hidden)
	r.runQueue()
	r.runExperts()
	r.queue.followUps = append(r.queue.followUps, followUp{r.regions.relu2, a.hidden.Cols()})
	r.runQueue()
}

// computeValue adds Wv·h to the residual stream.
func (r *v7) computeValue() {
	a, q := &r.act, &r.queue
	if r.haveSame(ffnValue) {
		r.read += r.sparse.Multiply(kernel.Product{W: ffnValue(r.groups[0].layers[r.layer]), X: a.hidden, Y: a.xn, Then: r.regions.residual})
	} else {
		for _, g := range r.groups {
			r.read += r.sparse.Multiply(kernel.Product{
				W: ffnValue(g.layers[r.layer]), X: q.window(a.hidden, g.first, g.last, a.hidden.Cols()), Y: q.window(a.xn, g.first, g.last, a.xn.Cols()),
			})
		}
		q.followUps = append(q.followUps, followUp{r.regions.residual, a.xn.Cols()})
	}
	r.queueDown(adapter.FFNValue, a.hidden)
	r.runQueue()
	r.queueUp(adapter.FFNValue, a.x)
	r.runQueue()
}

func (r *v7) normFFN(chunk int) { r.normTokens(chunk, func(l *v7Layer) *norm { return &l.ln2 }) }

// shiftFFN makes the shifted input for a chunk of tokens.
func (r *v7) shiftFFN(chunk int) {
	a := &r.act
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		r.path.Shift(a.xk.Row(t), a.xn.Row(t), r.previous(t).ffn, r.layerOf(t).ffn.mixK)
		r.quantise(a.xk, t)
	}
}

// squareHidden applies relu² and makes the int8 form of the result.
func (r *v7) squareHidden(lo, hi int) {
	h := r.act.hidden
	for t := range r.tokens {
		v := h.Row(t)[lo:hi]
		if !r.adapted || r.expertsOf(t) == nil { // experts have applied relu² already
			r.path.SquaredReLU(v, v)
		}
		if h.Quantised() {
			r.path.Quantise(h, t, lo, hi)
		}
	}
}
