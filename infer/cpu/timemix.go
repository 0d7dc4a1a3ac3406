package cpu

import "rookery/infer/cpu/kernel"

// normEps is the epsilon of all layer norms but that of the heads.
const normEps = 1e-5

// timeMix adds the attention of the current layer to the residual stream:
//
//	xn = LN(x; ln1);  x• = xn + (prev-xn)⊙mix•
//	r, k, v = Wr·xr, Wk·xk, Wv·xv;  the low-rank branches of xw, xa, xv, xg
//	y = recurrence, head norm, bonus, gate (kernel.TimeMix)
//	x += Wo·y
func (r *runner) timeMix() {
	a, att := &r.act, &r.model.layers[r.layer].att
	r.eachToken(r.regions.norm1)
	r.eachToken(r.regions.shiftAtt)
	for _, s := range r.spans {
		copy(r.slots.layer(s.state, r.layer).att, a.xn.Row(s.last-1))
	}
	r.project(att)
	r.mix = r.kernelMix()
	r.pool.Run(len(r.spans)*r.model.shape.Heads, r.regions.heads)
	if r.layer == len(r.model.layers)-1 {
		r.keepLast()
	}
	r.pool.Multiply(kernel.Product{W: att.output, X: a.xr, Y: a.xn, Then: r.regions.residual})
}

// project computes what the recurrence needs, in two regions: the second
// halves of the low-rank branches follow the first.
func (r *runner) project(att *timeMix) {
	a := &r.act
	if r.layer == 0 {
		r.pool.Multiply(
			kernel.Product{W: att.receptance, X: a.xr, Y: a.r},
			kernel.Product{W: att.key, X: a.xk, Y: a.k},
			kernel.Product{W: att.value, X: a.xv, Y: a.vFirst},
			kernel.Product{W: att.decay.down, X: a.xw, Y: a.decay, Then: r.regions.tanh},
			kernel.Product{W: att.rate.down, X: a.xa, Y: a.rate},
			kernel.Product{W: att.gate.down, X: a.xg, Y: a.gate, Then: r.regions.sigmoid},
		)
		r.pool.Multiply(
			kernel.Product{W: att.decay.up, X: a.decay, Y: a.xw},
			kernel.Product{W: att.rate.up, X: a.rate, Y: a.xa},
			kernel.Product{W: att.gate.up, X: a.gate, Y: a.xg},
		)
		return
	}
	r.pool.Multiply(
		kernel.Product{W: att.receptance, X: a.xr, Y: a.r},
		kernel.Product{W: att.key, X: a.xk, Y: a.k},
		kernel.Product{W: att.value, X: a.xv, Y: a.v},
		kernel.Product{W: att.decay.down, X: a.xw, Y: a.decay, Then: r.regions.tanh},
		kernel.Product{W: att.rate.down, X: a.xa, Y: a.rate},
		kernel.Product{W: att.values.down, X: a.xv, Y: a.values},
		kernel.Product{W: att.gate.down, X: a.xg, Y: a.gate, Then: r.regions.sigmoid},
	)
	r.pool.Multiply(
		kernel.Product{W: att.decay.up, X: a.decay, Y: a.xw},
		kernel.Product{W: att.rate.up, X: a.rate, Y: a.xa},
		kernel.Product{W: att.values.up, X: a.values, Y: a.xv},
		kernel.Product{W: att.gate.up, X: a.gate, Y: a.xg},
	)
}

func (r *runner) normAtt(chunk int) { r.normTokens(chunk, &r.model.layers[r.layer].ln1) }

// normTokens sets xn = LN(x) for a chunk of tokens.
func (r *runner) normTokens(chunk int, ln *norm) {
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		r.path.LayerNorm(r.act.xn.Row(t), r.act.x.Row(t), ln.weight, ln.bias, normEps)
	}
}

// shiftAtt makes the six shifted inputs for a chunk of tokens.
func (r *runner) shiftAtt(chunk int) {
	a, att := &r.act, &r.model.layers[r.layer].att
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		x, prev := a.xn.Row(t), r.previous(t).att
		r.path.Shift(a.xr.Row(t), x, prev, att.mixR)
		r.path.Shift(a.xw.Row(t), x, prev, att.mixW)
		r.path.Shift(a.xk.Row(t), x, prev, att.mixK)
		r.path.Shift(a.xv.Row(t), x, prev, att.mixV)
		r.path.Shift(a.xa.Row(t), x, prev, att.mixA)
		r.path.Shift(a.xg.Row(t), x, prev, att.mixG)
		r.quantise(a.xr, t)
		r.quantise(a.xk, t)
		r.quantise(a.xv, t)
	}
}

// previous is what token t's shifts look back at: the token before it in its
// row, or the state.
func (r *runner) previous(t int) layerState {
	s := &r.spans[r.owner[t]]
	if t == s.first {
		return r.slots.layer(s.state, r.layer)
	}
	before := r.act.xn.Row(t - 1)
	return layerState{att: before, ffn: before}
}

// runHead takes one row's tokens through one head.
func (r *runner) runHead(i int) {
	a, shape := &r.act, r.model.shape
	s, head := &r.spans[i/shape.Heads], i%shape.Heads
	state := r.slots.layer(s.state, r.layer).head(head, shape.HeadSize)
	r.path.RunHead(&r.mix, head, s.first, s.last, state)
	if !a.xr.Quantised() {
		return
	}
	for t := s.first; t < s.last; t++ {
		r.path.Quantise(a.xr, t, head*shape.HeadSize, (head+1)*shape.HeadSize)
	}
}

// kernelMix is the current layer for the kernels. The outputs of the low-rank
// branches are where their inputs were; b and y take the places of xk and xr.
func (r *runner) kernelMix() kernel.TimeMix {
	a, att := &r.act, &r.model.layers[r.layer].att
	mix := kernel.TimeMix{
		Size: r.model.shape.HeadSize,
		W0:   att.decay.bias, A0: att.rate.bias,
		KK: att.kk, KA: att.ka, RK: att.rk,
		NormWeight: att.lnX.weight, NormBias: att.lnX.bias,
		R: a.r, K: a.k, V: a.vFirst, W: a.xw, A: a.xa, G: a.xg, B: a.xk, Y: a.xr,
	}
	if r.layer > 0 {
		mix.V, mix.VFirst, mix.VGate, mix.V0 = a.v, a.vFirst, a.xv, att.values.bias
	}
	return mix
}

// tanhDecay and sigmoidGate follow the first halves of two low-rank branches.
func (r *runner) tanhDecay(lo, hi int) {
	for t := range r.tokens {
		v := r.act.decay.Row(t)[lo:hi]
		r.path.Tanh(v, v)
	}
}

func (r *runner) sigmoidGate(lo, hi int) {
	for t := range r.tokens {
		v := r.act.gate.Row(t)[lo:hi]
		r.path.Sigmoid(v, v)
	}
}

// addResidual adds a block's output to the residual stream.
func (r *runner) addResidual(lo, hi int) {
	for t := range r.tokens {
		r.path.Add(r.act.x.Row(t)[lo:hi], r.act.xn.Row(t)[lo:hi])
	}
}
