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

// blockMassGo sets sums[b] to the mass of z[b*blockLen:][:blockLen].
// len(z) is len(sums)*blockLen.
func blockMassGo(sums []uint64, z []float32, m, scale float32) {
	for b := range sums {
		block := (*[blockLen]float32)(z[b*blockLen:])
		var s uint64
		for _, v := range block {
			s += mass(v, m, scale)
		}
		sums[b] = s
	}
}
