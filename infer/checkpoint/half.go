package checkpoint

import "math"

// fromHalf converts an IEEE 754 half precision value, exactly.
func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	rest := uint32(h & 0x7fff)
	if rest >= 0x7c00 { // infinity and NaN
		return math.Float32frombits(sign | 0x7f800000 | rest<<13)
	}
	// The shifted exponent is 112 too small. Multiplying by 2^112 corrects it without
	// rounding, for subnormals too.
	magnitude := math.Float32frombits(rest<<13) * 0x1p112
	return math.Float32frombits(sign | math.Float32bits(magnitude))
}

// Halves rounds src to IEEE 754 half precision, to nearest, ties to even, into
// the first len(src) of dst. Values that are too large become infinite.
func Halves(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = toHalf(v)
	}
}

// toHalf converts to half precision, to nearest, ties to even. Values that are
// too large become infinite.
func toHalf(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000:
		return sign | 0x7e00
	case bits >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case bits < 0x38800000: // below 2^-14: a subnormal, counted in units of 2^-24
		scaled := math.Float32frombits(bits) * 0x1p24
		return sign | uint16(math.RoundToEven(float64(scaled)))
	}
	bits -= 112 << 23
	bits += 0xfff + bits>>13&1
	return sign | uint16(bits>>13)
}

// fromBF16 converts a bfloat16 value, exactly.
func fromBF16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// toBF16 rounds to bfloat16, to nearest, ties to even.
func toBF16(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > 0x7f800000 {
		return uint16(bits>>16) | 64 // a quiet NaN
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
