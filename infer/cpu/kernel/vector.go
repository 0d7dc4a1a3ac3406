package kernel

import "fmt"

func sameLen(what string, n int, others ...int) {
	for _, m := range others {
		if m != n {
			panic(fmt.Sprintf("kernel: %s of vectors of %d and %d values", what, n, m))
		}
	}
}

// LayerNorm sets dst = (x-mean)/sqrt(var+eps)·weight + bias with the biased
// variance. dst may be x.
func (p Path) LayerNorm(dst, x, weight, bias []float32, eps float32) {
	sameLen("layer norm", len(x), len(dst), len(weight), len(bias))
	tables[p].layerNorm(dst, x, weight, bias, eps)
}

// GroupNorm normalises each of groups equal parts of x on its own, then
// applies weight and bias by element. dst may be x.
func (p Path) GroupNorm(dst, x, weight, bias []float32, groups int, eps float32) {
	sameLen("group norm", len(x), len(dst), len(weight), len(bias))
	n := len(x) / groups
	for i := 0; i+n <= len(x); i += n {
		tables[p].layerNorm(dst[i:i+n], x[i:i+n], weight[i:i+n], bias[i:i+n], eps)
	}
}

// Shift sets dst = x + (prev-x)·mix: the token shift. dst may
// be x or prev.
func (p Path) Shift(dst, x, prev, mix []float32) {
	sameLen("token shift", len(x), len(dst), len(prev), len(mix))
	tables[p].shift(dst, x, prev, mix)
}

// ShiftBy sets dst = x + (prev-x)·(mix+more): the token shift whose mixes depend
// on the token. dst may be more.
func (p Path) ShiftBy(dst, x, prev, mix, more []float32) {
	sameLen("token shift", len(x), len(dst), len(prev), len(mix), len(more))
	tables[p].shiftBy(dst, x, prev, mix, more)
}

// Sigmoid sets dst = 1/(1+e^-x). dst may be x. Relative error at most 2e-7.
func (p Path) Sigmoid(dst, x []float32) { p.unary(sigmoid, "sigmoid", dst, x) }

// Tanh sets dst = tanh(x). dst may be x. Relative error at most 2e-7.
func (p Path) Tanh(dst, x []float32) { p.unary(tanh, "tanh", dst, x) }

// Exp sets dst = e^x. dst may be x. Relative error at most 2e-7; below about
// -87.3 the result is 0, above about 88.7 infinite.
func (p Path) Exp(dst, x []float32) { p.unary(exp, "exp", dst, x) }

// SquaredReLU sets dst = max(x,0)². dst may be x.
func (p Path) SquaredReLU(dst, x []float32) { p.unary(squaredReLU, "squared relu", dst, x) }

// SiLU sets dst = x/(1+e^-x). dst may be x.
func (p Path) SiLU(dst, x []float32) { p.unary(silu, "silu", dst, x) }

func (p Path) unary(f int, what string, dst, x []float32) {
	sameLen(what, len(x), len(dst))
	tables[p].unary[f](dst, x)
}

// Add sets dst += x.
func (p Path) Add(dst, x []float32) {
	sameLen("sum", len(x), len(dst))
	tables[p].add(dst, x)
}

// AddGated sets dst += x·gate, by element.
func (p Path) AddGated(dst, x, gate []float32) {
	sameLen("gated sum", len(x), len(dst), len(gate))
	tables[p].addGated(dst, x, gate)
}
