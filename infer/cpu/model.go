package cpu

import (
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A model is the weights of an RWKV-7, packed for the kernels.
// C is Embed, F is FFN, V is Vocab; matrices are [out, in].
type model struct {
	shape  rwkv.Shape
	typ    kernel.Type    // of the large matrices
	emb    *kernel.Matrix // [V, C], before ln0: a row is normalised when it is looked up
	ln0    norm
	layers []layer
	lnOut  norm
	head   *kernel.Matrix // [V, C]
}

// A norm is the gain and bias of a layer norm, [C] each.
type norm struct{ weight, bias []float32 }

type layer struct {
	ln1, ln2 norm
	att      timeMix
	ffn      channelMix
}

// timeMix is the attention of a layer: token shift, projections, the four
// low-rank branches and the constants of the recurrence.
type timeMix struct {
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

// A lowRank is the branch bias + act(x·down)·up.
type lowRank struct {
	down *kernel.Matrix // [R, C]
	up   *kernel.Matrix // [C, R]
	bias []float32      // [C]
}

// channelMix is the feed-forward part of a layer.
type channelMix struct {
	mixK  []float32
	key   *kernel.Matrix // [F, C]
	value *kernel.Matrix // [C, F]
}

// everyStepBytes is what a step reads of the layers' weights, whatever its
// tokens: all but the FFN's second matrices.
func (m *model) everyStepBytes() int64 {
	n := int64(0)
	for i := range m.layers {
		att, ffn := &m.layers[i].att, &m.layers[i].ffn
		for _, w := range []*kernel.Matrix{
			att.receptance, att.key, att.value, att.output, ffn.key,
			att.decay.down, att.decay.up, att.rate.down, att.rate.up,
			att.values.down, att.values.up, att.gate.down, att.gate.up,
		} {
			if w != nil {
				n += w.Bytes()
			}
		}
	}
	return n
}
