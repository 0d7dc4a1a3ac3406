package cpu

import (
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// runTimeMix adds the attention of the current layer to the residual stream:
//
//	xn = LN(x; ln1);  x• = xn + (prev-xn)⊙mix•
//	r, k, v = Wr·xr, Wk·xk, Wv·xv;  the low-rank branches of xw, xa, xv, xg
//	y = recurrence, head norm, bonus, gate (kernel.TimeMix)
//	x += Wo·y
func (r *v7) runTimeMix() {
	a := &r.act
	r.eachToken(r.bodies.norm1)
	r.eachToken(r.regions.shiftAtt)
	r.keepAttShift()
	r.projectInputs()
	r.headMixes = r.headMixes[:0]
	for i := range r.groups {
		r.headMixes = append(r.headMixes, r.kernelMix(&v7Of(r.groups[i].layers[r.layer]).att))
	}
	r.pool.Run(len(r.spans)*r.model.shape.Heads, r.regions.runHeads)
	r.finishHeads(a.xr)
	r.reshapeInputs(reshape{adapter.Output, a.xr})
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.output }, a.xr, a.xn, r.bodies.residual)
	r.queueDown(adapter.Output, a.xr)
	r.runQueue()
	r.queueUp(adapter.Output, a.x)
	r.runQueue()
}

// projectInputs computes what the recurrence reads, in two parallel regions: the down
// halves of low-rank branches and adapters are in the first, the up halves in the
// second.
func (r *v7) projectInputs() {
	a := &r.act
	v, xv := a.v, a.xv
	if r.layer == 0 {
		v = a.vFirst
	}
	if r.changesInput(adapter.Value) {
		for t := range r.tokens {
			copy(r.valueInput.Row(t), a.xv.Row(t))
		}
		xv = r.valueInput
	}
	r.reshapeInputs(reshape{adapter.Receptance, a.xr}, reshape{adapter.Key, a.xk}, reshape{adapter.Value, a.xv})
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.receptance }, a.xr, a.r, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.key }, a.xk, a.k, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.value }, a.xv, v, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.decay.down }, a.xw, a.decay, r.regions.tanh)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.rate.down }, a.xa, a.rate, nil)
	if r.layer > 0 {
		r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.values.down }, xv, a.values, nil)
	}
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.gate.down }, a.xg, a.gate, r.regions.sigmoid)
	r.queueDown(adapter.Receptance, a.xr)
	r.queueDown(adapter.Key, a.xk)
	r.queueDown(adapter.Value, a.xv)
	r.runQueue()

	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.decay.up }, a.decay, a.xw, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.rate.up }, a.rate, a.xa, nil)
	if r.layer > 0 {
		r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.values.up }, a.values, a.xv, nil)
	}
	r.queueProduct(func(l layer) *kernel.Matrix { return v7Of(l).att.gate.up }, a.gate, a.xg, nil)
	r.queueUp(adapter.Receptance, a.r)
	r.queueUp(adapter.Key, a.k)
	r.queueUp(adapter.Value, v)
	r.runQueue()
}

// shiftAtt makes the six shifted inputs for a chunk of tokens.
func (r *v7) shiftAtt(chunk int) {
	a := &r.act
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		att := &r.layerOf(t).att
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

// runHeads takes one row's tokens through one head.
func (r *v7) runHeads(i int) {
	a, shape := &r.act, r.model.shape
	s, head := &r.spans[i/shape.Heads], i%shape.Heads
	state := r.stateOf(s.state).head(head, shape.HeadSize)
	r.path.RunHead(&r.headMixes[s.group], head, s.first, s.last, state)
	r.quantiseHead(a.xr, head, s)
}

// kernelMix is the current layer of a variant for the kernels. The low-rank branches
// put their outputs where their inputs were; b and y take the places of xk and xr.
func (r *v7) kernelMix(att *v7TimeMix) kernel.TimeMix {
	a := &r.act
	mix := kernel.TimeMix{
		Size: r.model.shape.HeadSize,
		W0:   att.decay.bias, A0: att.rate.bias,
		KK: att.kk, KA: att.ka, RK: att.rk,
		NormWeight: att.lnX.weight, NormBias: att.lnX.bias, Scale: att.scale,
		R: a.r, K: a.k, V: a.vFirst, W: a.xw, A: a.xa, G: a.xg, B: a.xk, Y: a.xr,
	}
	if r.layer > 0 {
		mix.V, mix.VFirst, mix.VGate, mix.V0 = a.v, a.vFirst, a.xv, att.values.bias
	}
	return mix
}

// tanhDecay and sigmoidGate are the activations between the halves of two low-rank
// branches.
func (r *v7) tanhDecay(lo, hi int) {
	for t := range r.tokens {
		v := r.act.decay.Row(t)[lo:hi]
		r.path.Tanh(v, v)
	}
}

func (r *v7) sigmoidGate(lo, hi int) {
	for t := range r.tokens {
		v := r.act.gate.Row(t)[lo:hi]
		r.path.Sigmoid(v, v)
	}
}
