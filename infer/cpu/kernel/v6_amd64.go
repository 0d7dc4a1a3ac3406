package kernel

import "unsafe"

// linearArgs is read by the assembly, which counts the rows down: keep the
// order.
type linearArgs struct {
	state, r, w, k, v, bonus, y           *float32
	n, stateStride, wStride, stride, rows int
}

// linearGateArgs is the same for the gate.
type linearGateArgs struct {
	r, k, w, bonus, w0, u *float32
	n, stride, rows       int
}

func (p Path) linearGate(h *linearHead) {
	n := h.Size
	if p == Go || p == AVX2 && n%8 != 0 || p >= AVX512 && n%16 != 0 {
		linearGateGo(h)
		return
	}
	args := linearGateArgs{
		r: h.at(h.R), k: h.at(h.K), bonus: &h.bonus[0], u: &h.U[h.lo], n: n, stride: 4 * h.Y.stride, rows: h.last - h.first,
	}
	if h.W0 != nil {
		args.w, args.w0 = h.at(h.W), &h.W0[h.lo]
	}
	if p == AVX2 {
		linearGateAVX2((*byte)(unsafe.Pointer(&args)))
	} else {
		linearGateAVX512((*byte)(unsafe.Pointer(&args)))
	}
}

// linear runs the recurrence by parts of the values: 64 where the path can, else
// 32.
func (p Path) linear(h *linearHead) {
	n := h.Size
	part := 64
	if p == AVX2 || n%part != 0 {
		part = 32
	}
	if p == Go || n%part != 0 {
		linearGo(h)
		return
	}
	for at := 0; at < n; at += part {
		args := linearArgs{
			state: &h.state[at], r: h.at(h.R), k: h.at(h.K), bonus: &h.bonus[0],
			v: &h.V.data[h.first*h.V.stride+h.lo+at], y: &h.Y.data[h.first*h.Y.stride+h.lo+at],
			n: n, stateStride: 4 * n, stride: 4 * h.Y.stride, rows: h.last - h.first,
		}
		if h.W != nil {
			args.w, args.wStride = h.at(h.W), args.stride
		} else {
			args.w = &h.Decay[h.lo]
		}
		if part == 32 {
			linearAVX2((*byte)(unsafe.Pointer(&args)))
		} else {
			linearAVX512((*byte)(unsafe.Pointer(&args)))
		}
	}
}

// at is the head's first column in the first row of a batch.
func (h *linearHead) at(b *Batch) *float32 { return &b.data[h.first*b.stride+h.lo] }
