package cpu

import (
	"errors"
	"fmt"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A v7Layer is the weights of a layer of RWKV-7.
// C is Embed, F is FFN, R is a rank padded to whole blocks.
type v7Layer struct {
	ln1, ln2 norm
	att      v7TimeMix
	ffn      v7ChannelMix
}

// v7TimeMix is the attention of a layer: token shift, projections, the four
// low-rank branches and the constants of the recurrence.
type v7TimeMix struct {
	mixR, mixW, mixK, mixV, mixA, mixG []float32 // token-shift mixes [C]

	receptance, key, value, output *kernel.Matrix // [C, C]

	decay  lowRank // w: how fast the state forgets
	rate   lowRank // a: the in-context learning rate
	values lowRank // v: how much of layer 0's value is mixed in; absent in layer 0
	gate   lowRank // g: of the output; it has no bias

	kk, ka []float32 // k_k, k_a [C]
	rk     []float32 // r_k [H*N], the bonus
	lnX    norm      // of the heads' outputs
	scale  []float32 // of those before the norm [C]; nil: ones. No model has it, adapters do
}

// v7ChannelMix is the feed-forward part of a layer.
type v7ChannelMix struct {
	mixK  []float32
	key   *kernel.Matrix // [F, C]
	value *kernel.Matrix // [C, F]
}

func newV7Layer() layer { return new(v7Layer) }

func (l *v7Layer) clone() layer {
	own := *l
	return &own
}

func (l *v7Layer) places() places {
	att, ffn := &l.att, &l.ffn
	return places{
		"ln1.weight": &l.ln1.weight, "ln1.bias": &l.ln1.bias, "ln2.weight": &l.ln2.weight, "ln2.bias": &l.ln2.bias,
		"att.x_r": &att.mixR, "att.x_w": &att.mixW, "att.x_k": &att.mixK,
		"att.x_v": &att.mixV, "att.x_a": &att.mixA, "att.x_g": &att.mixG,
		"att.w0": &att.decay.bias, "att.w1": &att.decay.down, "att.w2": &att.decay.up,
		"att.a0": &att.rate.bias, "att.a1": &att.rate.down, "att.a2": &att.rate.up,
		"att.v0": &att.values.bias, "att.v1": &att.values.down, "att.v2": &att.values.up,
		"att.g1": &att.gate.down, "att.g2": &att.gate.up,
		"att.k_k": &att.kk, "att.k_a": &att.ka, "att.r_k": &att.rk,
		"att.receptance.weight": &att.receptance, "att.key.weight": &att.key, "att.value.weight": &att.value,
		"att.output.weight": &att.output, "att.ln_x.weight": &att.lnX.weight, "att.ln_x.bias": &att.lnX.bias,
		"ffn.x_k": &ffn.mixK, "ffn.key.weight": &ffn.key, ffnValueName: &ffn.value,
		adapter.TimeOffset: &att.scale,
	}
}

// v7 runs the layers of RWKV-7 "Goose" (x070).
type v7 struct {
	*runner
	act       v7Batches
	regions   v7Regions
	headMixes []kernel.TimeMix // of the current layer, for each group
	mole      *moleBatches     // nil until experts are loaded
	// valueInput is a copy of xv for the low-rank branch, where an adapter changes
	// the value's input; nil until an adapter is loaded.
	valueInput *kernel.Batch
	valueArena *kernel.Arena
	at         v7State
}

// A v7State is where the parts of a layer begin in a state, and how many values
// a layer has.
type v7State struct{ att, ffn, wkv, layer int }

// v7Regions are the bodies of parallel regions, made once.
type v7Regions struct {
	norm1, shiftAtt, runHeads, norm2, shiftFFN func(i int)
	route, square, gather, settle              func(i int)
	tanh, sigmoid, relu2, residual             func(lo, hi int)
}

// v7Batches are the batches of a step, [tokens, ...], beside those of every
// version. Several names share one batch where the second use comes after the
// last read of the first.
type v7Batches struct {
	*activations

	// x after token shift with each mix
	xr, xw, xk, xv, xa, xg *kernel.Batch

	r, k, v, vFirst *kernel.Batch

	decay, rate, values, gate *kernel.Batch // between the low-rank matrices

	hidden *kernel.Batch // [tokens, F]

	all []*kernel.Batch
}

func newV7(r *runner, arena *kernel.Arena) (program, error) {
	p := &v7{runner: r, at: v7StateOf(r.model.shape), act: v7Batches{activations: &r.act}}
	p.regions = v7Regions{
		norm1: p.normAtt, shiftAtt: p.shiftAtt, runHeads: p.runHeads, norm2: p.normFFN, shiftFFN: p.shiftFFN,
		route: p.routeTokens, square: p.squareTokens, gather: p.gatherTokens, settle: p.settleTokens,
		tanh: p.tanhDecay, sigmoid: p.sigmoidGate, relu2: p.squareHidden, residual: p.addResidual,
	}
	return p, p.act.reserve(r.model, arena)
}

func v7StateOf(s rwkv.Shape) v7State {
	begin := func(part string) int {
		first, _ := s.StatePart(0, part)
		return first
	}
	return v7State{begin(rwkv.PartAttShift), begin(rwkv.PartFFNShift), begin(rwkv.PartWKV), s.LayerStateLen()}
}

// reserve makes the batches.
func (a *v7Batches) reserve(m *model, arena *kernel.Arena) error {
	s := m.shape
	quantised := m.typ == kernel.Q8
	var first error
	batch := func(cols int, quantised bool) *kernel.Batch {
		b, err := kernel.NewBatch(arena, maxTokens, cols, quantised)
		if err != nil && first == nil {
			first = err
		}
		a.all = append(a.all, b)
		return b
	}
	wide := func(quantised bool) *kernel.Batch { return batch(s.Embed, quantised) }
	rank := func(l lowRank) *kernel.Batch { return batch(l.down.Rows(), false) }

	a.xr, a.xk, a.xv = wide(quantised), wide(quantised), wide(quantised)
	a.xw, a.xa, a.xg = wide(false), wide(false), wide(false)
	a.r, a.k, a.v, a.vFirst = wide(false), wide(false), wide(false), wide(false)
	top := &v7Of(m.layers[len(m.layers)-1]).att
	a.decay, a.rate, a.gate = rank(top.decay), rank(top.rate), rank(top.gate)
	if top.values.down != nil {
		a.values = rank(top.values)
	}
	a.hidden = batch(s.FFN, quantised)
	return first
}

func (r *v7) resize(tokens int) {
	for _, b := range r.act.all {
		b.Resize(tokens)
	}
}

func (r *v7) reserveFor(v *variant) error {
	if r.valueInput == nil {
		arena := kernel.NewArena()
		b, err := kernel.NewBatch(arena, maxTokens, r.model.shape.Embed, false)
		if err != nil {
			return errors.Join(fmt.Errorf("reserve memory for adapters: %w", err), arena.Close())
		}
		r.valueInput, r.valueArena = b, arena
	}
	return r.reserveMole(v)
}

func (r *v7) close() error {
	if r.valueArena == nil {
		return nil
	}
	return errors.Join(r.closeMole(), r.valueArena.Close())
}

func (r *v7) runLayer() {
	r.runTimeMix()
	r.runChannelMix()
}

// v7Of is a layer of a version 7 model as what it is.
func v7Of(l layer) *v7Layer {
	v, ok := l.(*v7Layer)
	if !ok {
		panic(fmt.Sprintf("a layer of RWKV-7 is a %T", l))
	}
	return v
}

// layerOf is the current layer as a token's variant has it.
func (r *v7) layerOf(token int) *v7Layer {
	return v7Of(r.spans[r.owner[token]].layers[r.layer])
}

// A layerState is one layer's part of a state.
type layerState struct {
	att, ffn []float32 // [C] token shifts
	wkv      []float32 // [H][N*N]
}

// stateOf cuts the current layer's part out of a state.
func (r *v7) stateOf(state []float32) layerState {
	c, l := r.model.shape.Embed, state[r.layer*r.at.layer:(r.layer+1)*r.at.layer]
	return layerState{att: l[r.at.att : r.at.att+c], ffn: l[r.at.ffn : r.at.ffn+c], wkv: l[r.at.wkv : r.at.wkv+c*r.model.shape.HeadSize]}
}

func (l layerState) head(h, size int) []float32 {
	return l.wkv[h*size*size : (h+1)*size*size]
}
