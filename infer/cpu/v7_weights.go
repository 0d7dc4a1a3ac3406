package cpu

import (
	"math"

	"rookery/infer/rwkv"
)

// v7Weights are what synthetic weights of a layer are like.
func v7Weights(s rwkv.Shape) map[string]distribution { return plainWeights(s) }

func plainWeights(s rwkv.Shape) weights {
	residual := 1 / math.Sqrt(2*float64(s.Layers))
	shift, ffnShift := between(0, 0.6), between(0, 0.3)
	return weights{
		"ln1.weight": around1,
		"ln1.bias":   spread(0, 0.05),
		"ln2.weight": around1,
		"ln2.bias":   constant(syntheticLN2Bias),

		"att.x_r": shift, "att.x_w": shift, "att.x_k": shift,
		"att.x_v": shift, "att.x_a": shift, "att.x_g": shift,

		"att.w0": {mid: -2.5, half: 3.5, ramp: true},
		"att.w1": scaled(0.3, s.Embed),
		"att.w2": scaled(0.3, s.Ranks[0]),
		"att.a0": spread(0, 0.5),
		"att.a1": scaled(0.5, s.Embed),
		"att.a2": scaled(0.5, s.Ranks[1]),
		"att.v0": between(0, 1),
		"att.v1": scaled(0.5, s.Embed),
		"att.v2": scaled(0.5, s.Ranks[2]),
		"att.g1": scaled(1, s.Embed),
		"att.g2": scaled(1, s.Ranks[3]),

		"att.k_k": between(0.7, 1),
		"att.k_a": around1,
		"att.r_k": spread(0, 0.05),

		"att.receptance.weight": scaled(0.5, s.Embed),
		"att.key.weight":        scaled(0.3, s.Embed),
		"att.value.weight":      scaled(0.5, s.Embed),
		"att.output.weight":     scaled(residual, s.Embed),
		"att.ln_x.weight":       around1,
		"att.ln_x.bias":         spread(0, 0.05),

		"ffn.x_k":          ffnShift,
		"ffn.key.weight":   sparseKey(s),
		"ffn.value.weight": scaled(8*residual, s.FFN),
	}
}
