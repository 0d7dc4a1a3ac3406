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

// gateArgs is read by the assembly: keep the order.
type gateArgs struct {
	r, k, v, w, a, b, vgate, vfirst *float32
	w0, a0, v0, kk, ka, rk          *float32
	n                               int
	bonus                           float32
}

func gates(p Path, h *timeMixHead) {
	args := gateArgs{w0: &h.W0[h.lo], a0: &h.A0[h.lo], kk: &h.KK[h.lo], ka: &h.KA[h.lo], rk: &h.RK[h.lo], n: h.hi - h.lo}
	if h.VGate != nil {
		args.v0 = &h.V0[h.lo]
	}
	for t := h.first; t < h.last; t++ {
		args.r, args.k, args.v = h.at(h.R, t), h.at(h.K, t), h.at(h.V, t)
		args.w, args.a, args.b = h.at(h.W, t), h.at(h.A, t), h.at(h.B, t)
		if h.VGate != nil {
			args.vgate, args.vfirst = h.at(h.VGate, t), h.at(h.VFirst, t)
		}
		if p == AVX2 {
			gateAVX2((*byte)(unsafe.Pointer(&args)))
		} else {
			gateAVX512((*byte)(unsafe.Pointer(&args)))
		}
		h.bonus[t-h.first] = args.bonus
	}
}

// at is the head's first column in row t of a batch.
func (h *timeMixHead) at(b *Batch, t int) *float32 { return &b.data[t*b.stride+h.lo] }

// normArgs is read by the assembly: keep the order.
type normArgs struct {
	y, v, g, weight, bias *float32
	n                     int
	bonus, _              float32
	eps, _                float32
}

func outNorms(p Path, h *timeMixHead) {
	args := normArgs{weight: &h.NormWeight[h.lo], bias: &h.NormBias[h.lo], n: h.hi - h.lo, eps: GroupNormEps}
	for t := h.first; t < h.last; t++ {
		args.y, args.v, args.g, args.bonus = h.at(h.Y, t), h.at(h.V, t), h.at(h.G, t), h.bonus[t-h.first]
		if p == AVX2 {
			outNormAVX2((*byte)(unsafe.Pointer(&args)))
		} else {
			outNormAVX512((*byte)(unsafe.Pointer(&args)))
		}
	}
}

// wkvArgs is read by the assembly: keep the order. The assembly counts rows
// down.
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
