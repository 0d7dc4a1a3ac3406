package kernel

import "math"

// halfToFloat converts IEEE binary16 bits; exact.
func halfToFloat(h uint16) float32 {
	sign, exp, man := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0:
		v := float32(man) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// floatToHalf rounds to the nearest binary16, ties to even. What is too large
// becomes infinite.
func floatToHalf(f float32) uint16 {
	u := math.Float32bits(f)
	sign := uint16(u>>16) & 0x8000
	u &= 0x7fffffff
	switch {
	case u > 0x7f800000: // NaN stays one
		return sign | 0x7e00
	case u >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case u >= 0x38800000: // normal: a carry out of the mantissa is the next exponent
		u += 0xfff + u>>13&1
		return sign | uint16((u-0x38000000)>>13)
	}
	// subnormal: adding 2^23·2^-24 leaves the rounded multiple of 2^-24 in the low bits
	v := math.Float32frombits(u) + 0.5
	return sign | uint16(math.Float32bits(v)-0x3f000000)
}

// bfloatToFloat converts bfloat16 bits; exact.
func bfloatToFloat(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// floatToBfloat rounds to the nearest bfloat16, ties to even.
func floatToBfloat(f float32) uint16 {
	u := math.Float32bits(f)
	if u&0x7fffffff > 0x7f800000 {
		return uint16(u>>16) | 0x40
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// IsHalf says whether fp16 holds a value exactly.
func IsHalf(f float32) bool { return halfToFloat(floatToHalf(f)) == f }
