package kernel

import "math"

// layerNormGo takes the variance from the differences to the mean: E[x²]-E[x]²
// cancels when the mean is large.
func layerNormGo(dst, x, weight, bias []float32, eps float32) {
	n := float32(len(x))
	var sum float32
	for _, v := range x {
		sum += v
	}
	mean := sum / n
	var sq float32
	for _, v := range x {
		d := v - mean
		sq += d * d
	}
	scale := 1 / float32(math.Sqrt(float64(sq/n+eps)))
	dst, weight, bias = dst[:len(x)], weight[:len(x)], bias[:len(x)]
	for i, v := range x {
		dst[i] = (v-mean)*scale*weight[i] + bias[i]
	}
}

func shiftGo(dst, x, prev, mix []float32) {
	dst, prev, mix = dst[:len(x)], prev[:len(x)], mix[:len(x)]
	for i, v := range x {
		dst[i] = v + (prev[i]-v)*mix[i]
	}
}

func shiftByGo(dst, x, prev, mix, more []float32) {
	dst, prev, mix, more = dst[:len(x)], prev[:len(x)], mix[:len(x)], more[:len(x)]
	for i, v := range x {
		dst[i] = v + (prev[i]-v)*(mix[i]+more[i])
	}
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

func sigmoid32(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func sigmoidGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = sigmoid32(v)
	}
}

func tanhGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Tanh(float64(v)))
	}
}

func expGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = exp32(v)
	}
}

func squaredReLUGo(dst, x []float32) {
	for i, v := range x {
		v = max(v, 0)
		dst[i] = v * v
	}
}

func siluGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = v * sigmoid32(v)
	}
}

func addGatedGo(dst, x, gate []float32) {
	dst, gate = dst[:len(x)], gate[:len(x)]
	for i, v := range x {
		dst[i] += v * gate[i]
	}
}

func addGo(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += v
	}
}

// smallestBlock is the largest magnitude below which a block counts as zero:
// its inverse would overflow.
const smallestBlock = 1e-35

// quantiseGo makes symmetric int8 blocks: scale max|x|/127, rounded to nearest
// even, and -128 times the sum of the quants, which takes the bias of the
// stored weights out of a dot product.
func quantiseGo(quants []int8, scales []float32, offsets []int32, x []float32) {
	for b := range scales {
		in, out := x[b*BlockSize:][:BlockSize], quants[b*BlockSize:][:BlockSize]
		var top float32
		for _, v := range in {
			top = max(top, v, -v)
		}
		var inv float32
		if top >= smallestBlock {
			inv = 127 / top
		} else {
			top = 0
		}
		scales[b] = top / 127
		var sum int32
		for i, v := range in {
			q := int32(math.RoundToEven(float64(v * inv)))
			out[i] = int8(q)
			sum += q
		}
		offsets[b] = -q8Bias * sum
	}
}
