package cpu

import (
	"errors"
	"fmt"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// A v7Layer is the weights of a layer of RWKV-7.
// C is Embed, F is FFN, R is a rank.
type v7Layer struct {
	layerBase
	att v7TimeMix
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

func newV7Layer() layer { return new(v7Layer) }

func (l *v7Layer) plain() *v7Layer { return l }

func (l *v7Layer) clone() layer {
	own := *l
	return &own
}

func (l *v7Layer) places() places {
	att := &l.att
	return l.basePlaces().with(places{
		"att.x_r": &att.mixR, "att.x_w": &att.mixW, "att.x_k": &att.mixK,
		"att.x_v": &att.mixV, "att.x_a": &att.mixA, "att.x_g": &att.mixG,
		"att.w0": &att.decay.bias, "att.w1": &att.decay.down, "att.w2": &att.decay.up,
		"att.a0": &att.rate.bias, "att.a1": &att.rate.down, "att.a2": &att.rate.up,
		"att.v0": &att.values.bias, "att.v1": &att.values.down, "att.v2": &att.values.up,
		"att.g1": &att.gate.down, "att.g2": &att.gate.up,
		"att.k_k": &att.kk, "att.k_a": &att.ka, "att.r_k": &att.rk,
		"att.receptance.weight": &att.receptance, "att.key.weight": &att.key, "att.value.weight": &att.value,
		"att.output.weight": &att.output, "att.ln_x.weight": &att.lnX.weight, "att.ln_x.bias": &att.lnX.bias,
		"ffn.x_k":          &l.ffn.mixK,
		adapter.TimeOffset: &att.scale,
	})
}

// v7 runs the layers of RWKV-7 "Goose" (x070).
type v7 struct {
	*blocks
	act       v7Batches
	regions   v7Regions
	headMixes []kernel.TimeMix // of the current layer, for each group
	mole      *moleBatches     // nil until experts are loaded
	// valueInput is a copy of xv for the low-rank branch, where an adapter changes
	// the value's input; nil until an adapter is loaded.
	valueInput *kernel.Batch
	valueArena *kernel.Arena
}

// v7Regions are the bodies of parallel regions, made once.
type v7Regions struct {
	shiftAtt, runHeads                  func(i int)
	route, bend, square, gather, settle func(i int)
	tanh, sigmoid                       func(lo, hi int)
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
}

func newV7(r *runner, arena *kernel.Arena) (program, error) {
	p := &v7{blocks: newBlocks(r, arena), act: v7Batches{activations: &r.act}}
	p.regions = v7Regions{
		shiftAtt: p.shiftAtt, runHeads: p.runHeads,
		route: p.routeTokens, bend: p.bendTokens, square: p.squareTokens, gather: p.gatherTokens, settle: p.settleTokens,
		tanh: p.tanhDecay, sigmoid: p.sigmoidGate,
	}
	p.experts.have, p.experts.run = p.haveExperts, p.runExperts
	p.experts.squared = func(token int) bool { return p.expertsOf(token) != nil }
	p.reserve()
	return p, p.err
}

// reserve makes the batches.
func (r *v7) reserve() {
	a, m := &r.act, r.model
	rank := func(l lowRank) *kernel.Batch { return r.batch(l.down.Rows(), false) }
	a.xr, a.xk, a.xv = r.input(), r.input(), r.input()
	a.xw, a.xa, a.xg = r.wide(), r.wide(), r.wide()
	a.r, a.k, a.v, a.vFirst = r.wide(), r.wide(), r.wide(), r.wide()
	top := &v7Of(m.layers[len(m.layers)-1]).att
	a.decay, a.rate, a.gate = rank(top.decay), rank(top.rate), rank(top.gate)
	if top.values.down != nil {
		a.values = rank(top.values)
	}
	a.hidden = r.batch(m.shape.FFN, m.typ == kernel.Q8)
	r.ffn.in, r.ffn.hidden = a.xk, a.hidden
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
	v, ok := l.(interface{ plain() *v7Layer })
	if !ok {
		panic(fmt.Sprintf("a layer of RWKV-7 is a %T", l))
	}
	return v.plain()
}

// layerOf is the current layer as a token's variant has it.
func (r *v7) layerOf(token int) *v7Layer { return v7Of(r.variantLayer(token)) }
