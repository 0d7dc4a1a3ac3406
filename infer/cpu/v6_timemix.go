package cpu

import (
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// runTimeMix adds the attention of the current layer to the residual stream:
//
//	xn = LN(x; ln1);  x• = shift(xn)
//	r, k, v, g = Wr·xr, Wk·xk, Wv·xv, silu(Wg·xg)
//	y = recurrence, head norm, gate (kernel.LinearMix)
//	x += Wo·y
func (r *v6) runTimeMix() {
	a := &r.act
	r.eachToken(r.bodies.norm1)
	if a.xw != nil {
		r.makeMixes()
	}
	r.eachToken(r.regions.shiftAtt)
	r.keepAttShift()
	r.projectInputs()
	r.headMixes = r.headMixes[:0]
	for i := range r.groups {
		r.headMixes = append(r.headMixes, r.kernelMix(v6Of(r.groups[i].layers[r.layer])))
	}
	r.pool.Run(len(r.spans)*r.model.shape.Heads, r.regions.runHeads)
	r.finishHeads(a.xr)
	r.reshapeInputs(reshape{adapter.Output, a.xr})
	r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).output }, a.xr, a.xn, r.bodies.residual)
	r.queueDown(adapter.Output, a.xr)
	r.runQueue()
	r.queueUp(adapter.Output, a.x)
	r.runQueue()
}

// inputs are the batches of the stack's mixes, in its order.
func (a *v6Batches) inputs() [len(stack{})]*kernel.Batch {
	return [...]*kernel.Batch{a.xw, a.xk, a.xv, a.xr, a.xg}
}

// makeMixes computes what RWKV-6 adds to the mixes of a token, in the batches that the
// shifted inputs are then made in:
//
//	m• = tanh((xn + (prev-xn)⊙mixX)·down•)·up•
func (r *v6) makeMixes() {
	a := &r.act
	r.eachToken(r.regions.shiftMix)
	for i, m := range a.mixes {
		r.queueProduct(r.regions.downs[i], a.xw, m, r.regions.tanhMix[i])
	}
	r.runQueue()
	inputs := a.inputs()
	for i, m := range a.mixes {
		r.queueProduct(r.regions.ups[i], m, inputs[i], nil)
	}
	r.runQueue()
}

// shiftMix makes the input of the mixes for a chunk of tokens.
func (r *v6) shiftMix(chunk int) {
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		r.path.Shift(r.act.xw.Row(t), r.act.xn.Row(t), r.previous(t).att, v6Of(r.variantLayer(t)).mixX)
	}
}

// shiftAtt makes the shifted inputs for a chunk of tokens.
func (r *v6) shiftAtt(chunk int) {
	a := &r.act
	lo, hi := r.chunk(chunk)
	inputs := a.inputs()
	for t := lo; t < hi; t++ {
		att, x, prev := v6Of(r.variantLayer(t)), a.xn.Row(t), r.previous(t).att
		for i, mix := range [...][]float32{att.mixW, att.mixK, att.mixV, att.mixR, att.mixG} {
			to := inputs[i]
			switch {
			case to == nil:
				continue
			case a.xw != nil:
				r.path.ShiftBy(to.Row(t), x, prev, mix, to.Row(t))
			default:
				r.shift(to.Row(t), x, prev, mix)
			}
			r.quantise(to, t)
		}
	}
}

// projectInputs computes what the recurrence reads, in two parallel regions: the down
// halves of the decay and of adapters are in the first, the up halves in the second.
func (r *v6) projectInputs() {
	a := &r.act
	inputs, outputs := [...]*kernel.Batch{a.xr, a.xk, a.xv, a.xg}, [...]*kernel.Batch{a.r, a.k, a.v, a.g}
	r.reshapeInputs(reshape{adapter.Receptance, a.xr}, reshape{adapter.Key, a.xk}, reshape{adapter.Value, a.xv}, reshape{adapter.Gate, a.xg})
	silu := r.regions.silu
	late := r.changesProduct(adapter.Gate)
	if late {
		silu = nil
	}
	r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).receptance }, a.xr, a.r, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).key }, a.xk, a.k, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).value }, a.xv, a.v, nil)
	if a.g != nil {
		r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).gate }, a.xg, a.g, silu)
	}
	if a.decay != nil {
		r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).decay.down }, a.xw, a.decay, r.regions.tanhDecay)
	}
	for i, t := range v6Targets {
		r.queueDown(t, inputs[i])
	}
	r.runQueue()

	if a.decay != nil {
		r.queueProduct(func(l layer) *kernel.Matrix { return v6Of(l).decay.up }, a.decay, a.xw, nil)
	}
	for i, t := range v6Targets {
		r.queueUp(t, outputs[i])
	}
	if late {
		r.queue.followUps = append(r.queue.followUps, followUp{r.regions.silu, a.g.Cols()})
	}
	r.runQueue()
}

// runHeads takes one row's tokens through one head.
func (r *v6) runHeads(i int) {
	shape := r.model.shape
	s, head := &r.spans[i/shape.Heads], i%shape.Heads
	state := r.stateOf(s.state).head(head, shape.HeadSize)
	r.path.RunLinear(&r.headMixes[s.group], head, s.first, s.last, state)
	r.quantiseHead(r.act.xr, head, s)
}

func (r *v6) tanhDecay(lo, hi int) { r.tanh(r.act.decay, lo, hi) }

func (r *v6) tanh(b *kernel.Batch, lo, hi int) {
	for t := range r.tokens {
		v := b.Row(t)[lo:hi]
		r.path.Tanh(v, v)
	}
}

func (r *v6) siluGate(lo, hi int) {
	for t := range r.tokens {
		v := r.act.g.Row(t)[lo:hi]
		r.path.SiLU(v, v)
	}
}
