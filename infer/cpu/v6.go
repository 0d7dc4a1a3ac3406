package cpu

import (
	"fmt"
	"math"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A v6Layer is the weights of a layer of RWKV-6, or of RWKV-5, which has the same
// parts and fewer of them.
type v6Layer struct {
	layerBase
	att v6TimeMix
}

// v6TimeMix is the attention of a layer.
type v6TimeMix struct {
	// Token-shift mixes [C]. RWKV-6 adds to all but mixX what it makes of the token;
	// RWKV-5 has no mixX, mixW, down and up.
	mixX, mixW, mixK, mixV, mixR, mixG []float32
	down                               stack // [M, C] each
	up                                 stack // [C, M]

	receptance, key, value, output *kernel.Matrix // [C, C]
	gate                           *kernel.Matrix // [C, C]; nil in RWKV-5.0

	decay  lowRank   // RWKV-6: how fast the state forgets
	static []float32 // RWKV-5: w itself [C], nil in RWKV-6
	bonus  []float32 // time_faaaa [C]
	lnX    norm      // of the heads' outputs
}

func newV6Layer() layer { return new(v6Layer) }

func (l *v6Layer) clone() layer {
	own := *l
	return &own
}

func (l *v6Layer) heads() *v6Layer { return l }

func (l *v6Layer) places() places {
	att := &l.att
	return l.basePlaces().with(l.headPlaces()).with(places{
		"att.time_maa_x": &att.mixX, "att.time_maa_w": &att.mixW, "att.time_maa_k": &att.mixK,
		"att.time_maa_v": &att.mixV, "att.time_maa_r": &att.mixR, "att.time_maa_g": &att.mixG,
		"att.time_maa_w1": &att.down, "att.time_maa_w2": &att.up,
		"att.time_decay": &att.decay.bias, "att.time_decay_w1": &att.decay.down, "att.time_decay_w2": &att.decay.up,
		"att.time_faaaa": &att.bonus, "att.gate.weight": &att.gate,
		"ffn.time_maa_k": &l.ffn.mixK, "ffn.time_maa_r": &l.ffn.mixR,
	})
}

// headPlaces are the places that have the same names in RWKV-5 and 6.
func (l *v6Layer) headPlaces() places {
	att := &l.att
	return places{
		"att.receptance.weight": &att.receptance, "att.key.weight": &att.key, "att.value.weight": &att.value,
		"att.output.weight": &att.output, "att.ln_x.weight": &att.lnX.weight, "att.ln_x.bias": &att.lnX.bias,
		"ffn.receptance.weight": &l.ffn.receptance,
	}
}

// v6 runs the layers of RWKV-6 "Finch" (x060), and of RWKV-5.
type v6 struct {
	*blocks
	act       v6Batches
	regions   v6Regions
	headMixes []kernel.LinearMix // of the current layer, for each group
}

// v6Regions are the bodies of parallel regions, made once.
type v6Regions struct {
	shiftMix, shiftAtt, runHeads func(i int)
	tanhDecay, silu              func(lo, hi int)
	tanhMix                      [len(stack{})]func(lo, hi int)
	downs, ups                   [len(stack{})]pick
}

// v6Batches are the batches of a step, [tokens, ...], beside those of every version.
// Several names share one batch where the second use comes after the last read of the
// first.
type v6Batches struct {
	*activations
	xr, xk, xv, xg *kernel.Batch               // x after token shift with each mix
	xw             *kernel.Batch               // the same, and first that of mixX
	r, k, v, g     *kernel.Batch               // g is nil in RWKV-5.0
	mixes          [len(stack{})]*kernel.Batch // between the low-rank matrices
	decay          *kernel.Batch
}

func newV6(r *runner, arena *kernel.Arena) (program, error) {
	p := &v6{blocks: newBlocks(r, arena), act: v6Batches{activations: &r.act}}
	p.regions = v6Regions{
		shiftMix: p.shiftMix, shiftAtt: p.shiftAtt, runHeads: p.runHeads, tanhDecay: p.tanhDecay, silu: p.siluGate,
	}
	for i := range p.regions.tanhMix {
		p.regions.tanhMix[i] = func(lo, hi int) { p.tanh(p.act.mixes[i], lo, hi) }
		p.regions.downs[i] = func(l layer) *kernel.Matrix { return v6Of(l).down[i] }
		p.regions.ups[i] = func(l layer) *kernel.Matrix { return v6Of(l).up[i] }
	}
	p.reserve()
	return p, p.err
}

// reserve makes the batches.
func (r *v6) reserve() {
	a, top := &r.act, v6Of(r.model.layers[0])
	a.xr, a.xk, a.xv = r.input(), r.input(), r.input()
	a.r, a.k, a.v = r.wide(), r.wide(), r.wide()
	if top.gate != nil {
		a.xg, a.g = r.input(), r.wide()
	}
	if top.static == nil {
		a.xw, a.decay = r.wide(), r.batch(top.decay.down.Rows(), false)
		for i := range a.mixes {
			a.mixes[i] = r.batch(top.down[i].Rows(), false)
		}
	}
	hidden := r.batch(r.model.shape.FFN, r.model.typ == kernel.Q8)
	r.ffn = ffnBatches{in: a.xk, hidden: hidden, gateIn: a.xr, gate: a.r}
}

func (r *v6) runLayer() {
	r.runTimeMix()
	r.runChannelMix()
}

// v6Of is the attention of a layer of RWKV-5 or 6.
func v6Of(l layer) *v6TimeMix {
	v, ok := l.(interface{ heads() *v6Layer })
	if !ok {
		panic(fmt.Sprintf("a layer of RWKV-5 or 6 is a %T", l))
	}
	return &v.heads().att
}

// v6Weights are what synthetic weights of a layer are like.
func v6Weights(s rwkv.Shape) map[string]distribution {
	shift, ffnShift := between(0.2, 0.8), between(0, 0.3)
	return linearWeights(s).with(weights{
		"att.time_maa_x": shift, "att.time_maa_w": shift, "att.time_maa_k": shift,
		"att.time_maa_v": shift, "att.time_maa_r": shift, "att.time_maa_g": shift,
		"att.time_maa_w1": scaled(0.3, s.Embed),
		"att.time_maa_w2": scaled(0.3, s.Ranks[0]),

		"att.time_decay":    {mid: -2.5, half: 3.5, ramp: true},
		"att.time_decay_w1": scaled(0.3, s.Embed),
		"att.time_decay_w2": scaled(0.5, s.Ranks[1]),
		"att.time_faaaa":    spread(0.3, 0.3),

		"ffn.time_maa_k": ffnShift, "ffn.time_maa_r": ffnShift,
	})
}

// linearWeights are those that RWKV-4, 5 and 6 have in common.
func linearWeights(s rwkv.Shape) weights {
	residual := 1 / math.Sqrt(2*float64(s.Layers))
	return weights{
		"ln1.weight": around1,
		"ln1.bias":   spread(0, 0.05),
		"ln2.weight": around1,
		"ln2.bias":   constant(syntheticLN2Bias),

		"att.receptance.weight": scaled(0.5, s.Embed),
		"att.key.weight":        scaled(0.5, s.Embed),
		"att.value.weight":      scaled(0.5, s.Embed),
		"att.gate.weight":       scaled(1, s.Embed),
		"att.output.weight":     scaled(2*residual, s.Embed),
		"att.ln_x.weight":       around1,
		"att.ln_x.bias":         spread(0, 0.05),

		"ffn.key.weight":        sparseKey(s),
		"ffn.value.weight":      scaled(8*residual, s.FFN),
		"ffn.receptance.weight": scaled(0.5, s.Embed),
	}
}

// kernelMix is the current layer of a variant for the kernels. The decay's branch puts
// its output where its input was; y takes the place of xr.
func (r *v6) kernelMix(att *v6TimeMix) kernel.LinearMix {
	a := &r.act
	return kernel.LinearMix{
		Size: r.model.shape.HeadSize,
		W0:   att.decay.bias, Decay: att.static, U: att.bonus,
		NormWeight: att.lnX.weight, NormBias: att.lnX.bias,
		R: a.r, K: a.k, V: a.v, W: a.xw, G: a.g, Y: a.xr,
	}
}

// The targets of the time mix, whose inputs and outputs are batches of their own.
var v6Targets = [...]adapter.Target{adapter.Receptance, adapter.Key, adapter.Value, adapter.Gate}
