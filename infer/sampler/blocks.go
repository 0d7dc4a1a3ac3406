package sampler

// blockMaxGo sets best[b] to the largest of z[b*blockLen:][:blockLen], -Inf if
// all are NaN. len(z) is len(best)*blockLen.
func blockMaxGo(best, z []float32) {
	for b := range best {
		block := (*[blockLen]float32)(z[b*blockLen:])
		m0, m1, m2, m3 := negInf, negInf, negInf, negInf
		for i := 0; i < blockLen; i += 4 {
			if v := block[i]; v > m0 {
				m0 = v
			}
			if v := block[i+1]; v > m1 {
				m1 = v
			}
			if v := block[i+2]; v > m2 {
				m2 = v
			}
			if v := block[i+3]; v > m3 {
				m3 = v
			}
		}
		best[b] = max(m0, m1, m2, m3)
	}
}

// decayGo multiplies weights, and makes what is too little to matter 0:
// processors are slow with denormal numbers.
func decayGo(weights []float32, decay float32) {
	const negligible = 0x1p-64
	for i, w := range weights {
		if w *= decay; w < negligible {
			w = 0
		}
		weights[i] = w
	}
}

// blockMassGo sets weights[i] to the weight of z[i], or to one without mass if
// z[i] is less than theta, and sums[b] to the mass of a block's weights.
// len(z) and len(weights) are len(sums)*blockLen.
func blockMassGo(sums []uint64, weights, z []float32, m, scale, theta float32) {
	for b := range sums {
		block := (*[blockLen]float32)(z[b*blockLen:])
		out := (*[blockLen]float32)(weights[b*blockLen:])
		var s uint64
		for i, v := range block {
			if !(v >= theta) {
				v = negInf
			}
			e := weight(v, m, scale)
			out[i] = e
			s += massOf(e)
		}
		sums[b] = s
	}
}
