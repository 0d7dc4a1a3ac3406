package sampler

import "math"

// massOne is the mass of the likeliest token, 2^massBits.
const (
	massBits = 44
	massOne  = 1 << massBits
)

// massBias, added to a float64 below 2^52, rounds it to an integer, which is
// then the difference of their bits.
const massBias = 1 << 52

var massBiasBits = math.Float64bits(massBias)

// Coefficients of 2^f - 1 = f*(e1 + f*(e2 + ...)) for |f| <= 1/2, fitted for a
// relative error of at most 2e-9 before rounding.
const (
	exp1 = 0x1.62e430p-01
	exp2 = 0x1.ebfbdcp-03
	exp3 = 0x1.c6aee8p-05
	exp4 = 0x1.3b2d4cp-07
	exp5 = 0x1.5f3e54p-10
	exp6 = 0x1.41fbc2p-13
)

// expFloor is the least exponent; its mass is 0.
const expFloor = -64

// roundBias, added to a float32 of magnitude below 2^22, leaves its nearest
// integer in the low bits.
const roundBias = 3 << 22

// mass is 2^y in units of 2^-44, to the nearest integer (even of two), for
// y = float32(z-m)*scale <= 0. NaN, and what is below expFloor, has no mass.
func mass(z, m, scale float32) uint64 { return massOf(weight(z, m, scale)) }

// weight is 2^y as a float32, computed so: n = y rounded to an integer (even of two),
// f = y-n, and 2^n * (1 + f*(exp1 + ... + f*exp6)), by Horner's rule, every
// multiplication and every addition rounded by itself (no fused operations).
// Its relative error is at most 1e-7.
func weight(z, m, scale float32) float32 {
	y := float32(float32(z-m) * scale)
	if !(y > expFloor) {
		y = expFloor
	}
	t := float32(y + roundBias)
	f := float32(y - float32(t-roundBias))
	p := float32(exp6*f) + exp5
	p = float32(p*f) + exp4
	p = float32(p*f) + exp3
	p = float32(p*f) + exp2
	p = float32(p*f) + exp1
	p = float32(p*f) + 1
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(t)<<23)
}

// massOf is a weight as a mass.
func massOf(weight float32) uint64 {
	return math.Float64bits(float64(weight)*massOne+massBias) - massBiasBits
}

// softmaxScale is the scale of the untempered softmax.
const softmaxScale = float32(math.Log2E)

// temperedScale is the scale of a softmax with a temperature.
func temperedScale(t float32) float32 { return float32(math.Log2E / float64(t)) }
