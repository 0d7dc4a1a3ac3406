package kernel

func linearGateGo(h *linearHead) {
	u := h.U[h.lo:h.hi]
	for t := h.first; t < h.last; t++ {
		r, k := h.R.Row(t)[h.lo:h.hi], h.K.Row(t)[h.lo:h.hi]
		if h.W0 != nil {
			w := h.W.Row(t)[h.lo:h.hi]
			for i, w0 := range h.W0[h.lo:h.hi] {
				w[i] = exp32(-exp32(w0 + w[i]))
			}
		}
		var bonus float32
		for i := range u {
			bonus += r[i] * k[i] * u[i]
		}
		h.bonus[t-h.first] = bonus
	}
}

// linearGo is the recurrence for heads of any size. The state is [key][value].
func linearGo(h *linearHead) {
	n := h.Size
	for t := h.first; t < h.last; t++ {
		r, k, v, y := h.R.Row(t)[h.lo:h.hi], h.K.Row(t)[h.lo:h.hi], h.V.Row(t)[h.lo:h.hi], h.Y.Row(t)[h.lo:h.hi]
		w := h.Decay
		if h.W != nil {
			w = h.W.Row(t)
		}
		w = w[h.lo:h.hi]
		for i, x := range v {
			y[i] = h.bonus[t-h.first] * x
		}
		for j := range n {
			s := h.state[j*n:][:n]
			wj, kj, rj := w[j], k[j], r[j]
			for i, old := range s {
				y[i] += old * rj
				s[i] = old*wj + v[i]*kj
			}
		}
	}
}
