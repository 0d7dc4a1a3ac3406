package kernel

import "math"

// decayScale is -e^-½: the decay is exp(decayScale·σ(d)), from 0.5452 to 1.
const decayScale = -0.606530659712633

func gateGo(h *timeMixHead) {
	n := h.hi - h.lo
	cut := func(v []float32) []float32 { return v[h.lo:h.hi] }
	w0, a0, kk, ka, rk := cut(h.W0), cut(h.A0), cut(h.KK), cut(h.KA), cut(h.RK)
	for t := h.first; t < h.last; t++ {
		r, k, v, w, a, b := cut(h.R.Row(t)), cut(h.K.Row(t)), cut(h.V.Row(t)), cut(h.W.Row(t)), cut(h.A.Row(t)), cut(h.B.Row(t))
		if h.VGate != nil {
			gate, first, v0 := cut(h.VGate.Row(t)), cut(h.VFirst.Row(t)), cut(h.V0)
			for i := range v {
				v[i] += (first[i] - v[i]) * sigmoid32(v0[i]+gate[i])
			}
		}
		var norm float32
		for i := range n {
			w[i] = exp32(decayScale * sigmoid32(w0[i]+w[i]))
			b[i] = k[i] * kk[i]
			norm += b[i] * b[i]
		}
		inv := 1 / max(float32(math.Sqrt(float64(norm))), 1e-12)
		var bonus float32
		for i := range n {
			rate := sigmoid32(a0[i] + a[i])
			kappa := b[i] * inv
			a[i], b[i] = -kappa, kappa*rate
			k[i] *= 1 + (rate-1)*ka[i]
			bonus += r[i] * k[i] * rk[i]
		}
		h.bonus[t-h.first] = bonus
	}
}

// wkvGo is the recurrence for heads of any size. The state is [key][value].
func wkvGo(h *wkvHead) {
	n := h.size
	var buf [64]float32
	sa := buf[:]
	if n > len(sa) {
		sa = make([]float32, n)
	}
	sa = sa[:n]
	for t := range h.rows {
		at := t * h.stride
		r, w, k, v := h.r[at:at+n], h.w[at:at+n], h.k[at:at+n], h.v[at:at+n]
		a, b, y := h.a[at:at+n], h.b[at:at+n], h.y[at:at+n]
		clear(sa)
		for j := range n {
			s, f := h.state[j*n:][:n], a[j]
			for i := range sa {
				sa[i] += s[i] * f
			}
		}
		clear(y)
		for j := range n {
			s := h.state[j*n:][:n]
			wj, bj, kj, rj := w[j], b[j], k[j], r[j]
			for i := range s {
				f := s[i]*wj + sa[i]*bj + v[i]*kj
				s[i] = f
				y[i] += f * rj
			}
		}
	}
}

func outNormGo(h *timeMixHead) {
	weight, bias := h.NormWeight[h.lo:h.hi], h.NormBias[h.lo:h.hi]
	for t := h.first; t < h.last; t++ {
		y, v, g := h.Y.Row(t)[h.lo:h.hi], h.V.Row(t)[h.lo:h.hi], h.G.Row(t)[h.lo:h.hi]
		layerNormGo(y, y, weight, bias, GroupNormEps)
		bonus := h.bonus[t-h.first]
		for i := range y {
			y[i] = (y[i] + bonus*v[i]) * g[i]
		}
	}
}
