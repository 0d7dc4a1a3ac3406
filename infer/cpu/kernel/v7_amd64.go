package kernel

import "unsafe"

// The stages of a head's time mix. They are called by name, not through a
// table, so that their arguments stay on the stack.

func (p Path) gate(h *timeMixHead) {
	switch n := h.hi - h.lo; {
	case p >= AVX512 && n%16 == 0, p == AVX2 && n%8 == 0:
		gates(p, h)
	default:
		gateGo(h)
	}
}

func (p Path) outNorm(h *timeMixHead) {
	switch n := h.hi - h.lo; {
	case p >= AVX512 && n%16 == 0, p == AVX2 && n%8 == 0:
		outNorms(p, h)
	default:
		outNormGo(h)
	}
}

func (p Path) wkv(h *wkvHead) {
	switch {
	case h.size != 64 || p == Go:
		wkvGo(h)
	case p == AVX2:
		for half := 0; half < 64; half += 32 {
			args := h.args()
			args.state, args.v, args.y = &h.state[half], &h.v[half], &h.y[half]
			wkv64HalfAVX2((*byte)(unsafe.Pointer(&args)))
		}
	default:
		args := h.args()
		wkv64AVX512((*byte)(unsafe.Pointer(&args)))
	}
}

// gateArgs is read by the assembly, which counts the rows down: keep the order.
type gateArgs struct {
	r, k, v, w, a, b, vgate, vfirst, bonus *float32
	w0, a0, v0, kk, ka, rk                 *float32
	n, stride, rows                        int
}

func gates(p Path, h *timeMixHead) {
	args := gateArgs{
		r: h.at(h.R), k: h.at(h.K), v: h.at(h.V), w: h.at(h.W), a: h.at(h.A), b: h.at(h.B), bonus: &h.bonus[0],
		w0: &h.W0[h.lo], a0: &h.A0[h.lo], kk: &h.KK[h.lo], ka: &h.KA[h.lo], rk: &h.RK[h.lo],
		n: h.hi - h.lo, stride: 4 * h.Y.stride, rows: h.last - h.first,
	}
	if h.VGate != nil {
		args.vgate, args.vfirst, args.v0 = h.at(h.VGate), h.at(h.VFirst), &h.V0[h.lo]
	}
	if p == AVX2 {
		gateAVX2((*byte)(unsafe.Pointer(&args)))
	} else {
		gateAVX512((*byte)(unsafe.Pointer(&args)))
	}
}

// at is the head's first column in the first row of a batch.
func (h *timeMixHead) at(b *Batch) *float32 { return &b.data[h.first*b.stride+h.lo] }

// normArgs is the same for outNorm.
type normArgs struct {
	y, v, g, bonus, weight, bias *float32
	n, stride, rows              int
	eps                          float32
}

func outNorms(p Path, h *timeMixHead) {
	args := normArgs{
		y: h.at(h.Y), v: h.at(h.V), g: h.at(h.G), bonus: &h.bonus[0],
		weight: &h.NormWeight[h.lo], bias: &h.NormBias[h.lo],
		n: h.hi - h.lo, stride: 4 * h.Y.stride, rows: h.last - h.first, eps: GroupNormEps,
	}
	if p == AVX2 {
		outNormAVX2((*byte)(unsafe.Pointer(&args)))
	} else {
		outNormAVX512((*byte)(unsafe.Pointer(&args)))
	}
}

// wkvArgs is the same for the recurrence.
type wkvArgs struct {
	state, r, w, k, v, a, b, y *float32
	stride, rows               int
}

func (h *wkvHead) args() wkvArgs {
	return wkvArgs{
		state: &h.state[0], r: &h.r[0], w: &h.w[0], k: &h.k[0], v: &h.v[0], a: &h.a[0], b: &h.b[0], y: &h.y[0],
		stride: 4 * h.stride, rows: h.rows,
	}
}
