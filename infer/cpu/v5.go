package cpu

import (
	"math"

	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A v5Layer is the weights of a layer of RWKV-5, which computes as RWKV-6 does, with
// mixes and decays that do not depend on the token.
type v5Layer struct {
	v6Layer
	decay, first []float32 // time_decay and time_faaaa, [C] or one for each head
}

func newV5Layer() layer { return new(v5Layer) }

func (l *v5Layer) clone() layer {
	own := *l
	return &own
}

func (l *v5Layer) places() places {
	att := &l.att
	return l.basePlaces().with(l.headPlaces()).with(places{
		"att.time_mix_k": &att.mixK, "att.time_mix_v": &att.mixV, "att.time_mix_r": &att.mixR, "att.time_mix_g": &att.mixG,
		"att.time_decay": &l.decay, "att.time_faaaa": &l.first, "att.gate.weight": &att.gate,
		"ffn.time_mix_k": &l.ffn.mixK, "ffn.time_mix_r": &l.ffn.mixR,
	})
}

// prepare computes the decays w = exp(-exp(time_decay)), and both parameters for each
// channel.
func (l *v5Layer) prepare(s rwkv.Shape) {
	static, bonus := make([]float32, s.Embed), make([]float32, s.Embed)
	for i := range static {
		at := i
		if len(l.decay) == s.Heads {
			at = i / s.HeadSize
		}
		static[i], bonus[i] = float32(math.Exp(-math.Exp(float64(l.decay[at])))), l.first[at]
	}
	l.att.static, l.att.bonus = static, bonus
}

func newV5(r *runner, arena *kernel.Arena) (program, error) {
	p, err := newV6(r, arena)
	if p, ok := p.(*v6); ok {
		p.blended = true
	}
	return p, err
}

// v5Weights are what synthetic weights of a layer are like.
func v5Weights(s rwkv.Shape) map[string]distribution {
	return blendedWeights(s).with(weights{"att.time_decay": between(-5, 0.5), "att.time_faaaa": between(0.1, 0.8)})
}

// blendedWeights are those of versions whose mixes do not depend on the token.
func blendedWeights(s rwkv.Shape) weights {
	shift, ffnShift := between(0.2, 0.8), between(0.7, 1)
	return linearWeights(s).with(weights{
		"att.time_mix_k": shift, "att.time_mix_v": shift, "att.time_mix_r": shift, "att.time_mix_g": shift,
		"ffn.time_mix_k": ffnShift, "ffn.time_mix_r": ffnShift,
	})
}
