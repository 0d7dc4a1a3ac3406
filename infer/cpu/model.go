package cpu

import (
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// ffnValueName is the matrix of a layer of which a step reads only what meets
// no zero.
const ffnValueName = "ffn.value.weight"

// A model is the weights, packed for the kernels. V is Vocab, C is Embed.
type model struct {
	shape  rwkv.Shape
	typ    kernel.Type    // of the large matrices
	emb    *kernel.Matrix // [V, C], before ln0: a row is normalised when it is looked up
	ln0    norm
	layers []layer
	lnOut  norm
	head   *kernel.Matrix // [V, C]
}

// places are where the tensors outside the layers are kept.
func (m *model) places() places {
	return places{
		"emb.weight": &m.emb, "head.weight": &m.head,
		"blocks.0.ln0.weight": &m.ln0.weight, "blocks.0.ln0.bias": &m.ln0.bias,
		"ln_out.weight": &m.lnOut.weight, "ln_out.bias": &m.lnOut.bias,
	}
}

// A norm is the gain and bias of a layer norm, [C] each.
type norm struct{ weight, bias []float32 }

// A lowRank is the branch bias + act(x·down)·up.
type lowRank struct {
	down *kernel.Matrix // [R, C]
	up   *kernel.Matrix // [C, R]
	bias []float32      // [C]
}

// A stack is the low-rank matrices of RWKV-6's token shift, which a file holds in one
// tensor: for w, k, v, r and g.
type stack [5]*kernel.Matrix

// A table is a tensor of which a token reads one row, from where it is.
type table struct {
	width int
	read  func(dst []float32, off int) error
}

// everyStepBytes is what a step reads of the layers' weights, whatever its
// tokens: all but the FFN's second matrices.
func (m *model) everyStepBytes() int64 {
	n := int64(0)
	for _, l := range m.layers {
		for name, p := range l.places() {
			switch w := p.(type) {
			case **kernel.Matrix:
				if *w != nil && name != ffnValueName {
					n += (*w).Bytes()
				}
			case *stack:
				for _, m := range w {
					n += m.Bytes()
				}
			}
		}
	}
	return n
}
