package cpu

import (
	"fmt"
	"math"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A v4Layer is the weights of a layer of RWKV-4.
type v4Layer struct {
	layerBase
	mixK, mixV, mixR []float32 // token-shift mixes [C]

	receptance, key, value, output *kernel.Matrix // [C, C]

	decay, first []float32 // time_decay and time_first [C]
	fade         []float32 // -e^decay
}

func newV4Layer() layer { return new(v4Layer) }

func (l *v4Layer) clone() layer {
	own := *l
	return &own
}

func (l *v4Layer) places() places {
	return l.basePlaces().with(places{
		"att.time_mix_k": &l.mixK, "att.time_mix_v": &l.mixV, "att.time_mix_r": &l.mixR,
		"att.time_decay": &l.decay, "att.time_first": &l.first,
		"att.receptance.weight": &l.receptance, "att.key.weight": &l.key, "att.value.weight": &l.value, "att.output.weight": &l.output,
		"ffn.time_mix_k": &l.ffn.mixK, "ffn.time_mix_r": &l.ffn.mixR, "ffn.receptance.weight": &l.ffn.receptance,
	})
}

func (l *v4Layer) prepare(rwkv.Shape) {
	l.fade = make([]float32, len(l.decay))
	for i, v := range l.decay {
		l.fade[i] = -float32(math.Exp(float64(v)))
	}
}

// v4 runs the layers of RWKV-4 "Dove" (x040). Its activations can exceed fp16: the
// reference halves them every few layers there. Here they are fp32.
type v4 struct {
	*blocks
	xr, xk, xv *kernel.Batch // x after token shift with each mix; xr is then the output
	r, k, v    *kernel.Batch
	work       *kernel.Batch // [tokens, 4C]: each row of the step uses that of its first token
	regions    v4Regions
}

// v4Regions are the bodies of parallel regions, made once.
type v4Regions struct {
	shiftAtt, runChannels func(i int)
	sigmoid               func(lo, hi int)
}

func newV4(r *runner, arena *kernel.Arena) (program, error) {
	p := &v4{blocks: newBlocks(r, arena)}
	p.blended = true
	p.regions = v4Regions{shiftAtt: p.shiftAtt, runChannels: p.runChannels, sigmoid: p.sigmoidAtt}
	p.xr, p.xk, p.xv = p.input(), p.input(), p.input()
	p.r, p.k, p.v = p.wide(), p.wide(), p.wide()
	p.work = p.batch(4*r.model.shape.Embed, false)
	hidden := p.batch(r.model.shape.FFN, r.model.typ == kernel.Q8)
	p.ffn = ffnBatches{in: p.xk, hidden: hidden, gateIn: p.xr, gate: p.r}
	return p, p.err
}

// v4Of is a layer of a version 4 model as what it is.
func v4Of(l layer) *v4Layer {
	v, ok := l.(*v4Layer)
	if !ok {
		panic(fmt.Sprintf("a layer of RWKV-4 is a %T", l))
	}
	return v
}

// runLayer adds the attention of the current layer to the residual stream, and then
// the channel mix:
//
//	xn = LN(x; ln1);  x• = shift(xn);  r, k, v = σ(Wr·xr), Wk·xk, Wv·xv
//	x += Wo·(r ⊙ recurrence(k, v))          (kernel.ChannelWKV)
func (r *v4) runLayer() {
	r.eachToken(r.bodies.norm1)
	r.eachToken(r.regions.shiftAtt)
	r.keepAttShift()
	r.projectInputs()
	r.pool.Run(len(r.spans)*r.channelParts(), r.regions.runChannels)
	if r.layer == len(r.model.layers)-1 {
		r.keepLast(r.xr)
	}
	r.reshapeInputs(reshape{adapter.Output, r.xr})
	r.queueProduct(func(l layer) *kernel.Matrix { return v4Of(l).output }, r.xr, r.act.xn, r.bodies.residual)
	r.queueDown(adapter.Output, r.xr)
	r.runQueue()
	r.queueUp(adapter.Output, r.act.x)
	r.runQueue()
	r.runChannelMix()
}

// shiftAtt makes the three shifted inputs for a chunk of tokens.
func (r *v4) shiftAtt(chunk int) {
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		l, x, prev := v4Of(r.variantLayer(t)), r.act.xn.Row(t), r.previous(t).att
		r.shift(r.xr.Row(t), x, prev, l.mixR)
		r.shift(r.xk.Row(t), x, prev, l.mixK)
		r.shift(r.xv.Row(t), x, prev, l.mixV)
		r.quantise(r.xr, t)
		r.quantise(r.xk, t)
		r.quantise(r.xv, t)
	}
}

// projectInputs computes what the recurrence reads.
func (r *v4) projectInputs() {
	r.reshapeInputs(reshape{adapter.Receptance, r.xr}, reshape{adapter.Key, r.xk}, reshape{adapter.Value, r.xv})
	sigmoid := r.regions.sigmoid
	late := r.changesProduct(adapter.Receptance)
	if late {
		sigmoid = nil
	}
	r.queueProduct(func(l layer) *kernel.Matrix { return v4Of(l).receptance }, r.xr, r.r, sigmoid)
	r.queueProduct(func(l layer) *kernel.Matrix { return v4Of(l).key }, r.xk, r.k, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v4Of(l).value }, r.xv, r.v, nil)
	r.queueDown(adapter.Receptance, r.xr)
	r.queueDown(adapter.Key, r.xk)
	r.queueDown(adapter.Value, r.xv)
	r.runQueue()
	r.queueUp(adapter.Receptance, r.r)
	r.queueUp(adapter.Key, r.k)
	r.queueUp(adapter.Value, r.v)
	if late {
		r.queue.followUps = append(r.queue.followUps, followUp{r.regions.sigmoid, r.r.Cols()})
	}
	r.runQueue()
}

func (r *v4) sigmoidAtt(lo, hi int) {
	for t := range r.tokens {
		v := r.r.Row(t)[lo:hi]
		r.path.Sigmoid(v, v)
	}
}

// channelPart is how many channels a thread takes at a time, whole blocks.
const channelPart = 2 * kernel.BlockSize

func (r *v4) channelParts() int { return (r.model.shape.Embed + channelPart - 1) / channelPart }

// runChannels takes one row's tokens through some channels.
func (r *v4) runChannels(i int) {
	c, parts := r.model.shape.Embed, r.channelParts()
	s, lo := &r.spans[i/parts], i%parts*channelPart
	hi := min(lo+channelPart, c)
	l, state := v4Of(s.layers[r.layer]), r.stateOf(s.state).wkv
	r.path.RunChannels(&kernel.ChannelWKV{
		First: l.first, Fade: l.fade, R: r.r, K: r.k, V: r.v, Y: r.xr,
		Sum: state[:c], Weight: state[c : 2*c], Exponent: state[2*c : 3*c],
		Work: r.work.Row(s.first),
	}, lo, hi, s.first, s.last)
	if r.xr.Quantised() {
		for t := s.first; t < s.last; t++ {
			r.path.Quantise(r.xr, t, lo, hi)
		}
	}
}

// v4Weights are what synthetic weights of a layer are like.
func v4Weights(s rwkv.Shape) map[string]distribution {
	return blendedWeights(s).with(weights{"att.time_decay": between(-5, 1), "att.time_first": between(-1, 1)})
}
