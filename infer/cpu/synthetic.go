package cpu

import (
	"fmt"
	"maps"
	"math"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// Synthetic weights are a function of the seed, the tensor's name and the value's
// index, so any piece of them can be made in any order. testdata/golden.py makes
// the same ones, bit for bit. Their scales keep activations small in every weight
// type and make about 90 % of relu² zero, as in trained models.

const (
	syntheticLN2Bias = 0.2
	normal90         = 1.2815515655446004 // 90 % of a normal distribution lie below
)

// A distribution is uniform over mid ± half, or, where ramp is set, rises
// evenly from mid-half to mid+half over the tensor.
type distribution struct {
	mid, half float32
	ramp      bool
}

// weights are what tensors are like, by name.
type weights map[string]distribution

// with are both.
func (w weights) with(more weights) weights {
	maps.Copy(w, more)
	return w
}

// spread is a uniform distribution with a standard deviation. Sums over a row of such
// weights are close to normal.
func spread(mid, std float64) distribution {
	return distribution{mid: float32(mid), half: float32(std * math.Sqrt(3))}
}

func constant(v float64) distribution { return distribution{mid: float32(v)} }

func between(lo, hi float64) distribution {
	return distribution{mid: float32((lo + hi) / 2), half: float32((hi - lo) / 2)}
}

// syntheticSource makes weights for a shape.
func syntheticSource(s rwkv.Shape, seed uint64) source {
	tensors := map[string]tensor{}
	outside, inLayer := modelWeights(s), map[string]distribution{}
	if v, ok := versions[s.Version]; ok {
		inLayer = v.weights(s)
	}
	for name, spec := range s.Tensors() {
		dist, ok := outside[name]
		if !ok {
			dist = inLayer[spec.Name]
		}
		t := tensor{name: name, shape: spec.Sizes(s), dtype: checkpoint.F32}
		base, n := hashName(name, seed), t.len()
		t.read = func(dst []float32, off int) error {
			dist.fill(dst, off, n, base)
			return nil
		}
		t.blocks = func(_, _ int, _ func([]int8, []uint16)) (bool, error) { return false, nil }
		tensors[name] = t
	}
	return func(name string) (tensor, error) {
		t, ok := tensors[name]
		if !ok {
			return tensor{}, fmt.Errorf("synthetic weights have no %s", name)
		}
		return t, nil
	}
}

// SyntheticValues are the weights of Synthetic, for other backends: values off
// and following of a tensor, in row-major order. It is safe for concurrent use.
func SyntheticValues(s rwkv.Shape, seed uint64) func(name string, dst []float32, off int) error {
	src := syntheticSource(s, seed)
	return func(name string, dst []float32, off int) error {
		t, err := src(name)
		if err != nil {
			return err
		}
		return t.read(dst, off)
	}
}

// fill writes values [off, off+len(dst)) of a tensor of n values. The conversions
// keep the compiler from fusing multiplication and addition.
func (d distribution) fill(dst []float32, off, n int, base uint64) {
	if d.ramp {
		lo, span := float64(d.mid-d.half), float64(2*d.half)
		for i := range dst {
			dst[i] = float32(lo + float64(span*float64(off+i)/float64(n-1)))
		}
		return
	}
	for i := range dst {
		h := mix(base + uint64(off+i+1)*0x9E3779B97F4A7C15)
		u := float32(int32(h>>40)-1<<23) * (1.0 / (1 << 23)) // in [-1, 1)
		dst[i] = float32(u*d.half) + d.mid
	}
}

// hashName is 64-bit FNV-1a, with the seed mixed in.
func hashName(name string, seed uint64) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(h ^ mix(seed))
}

// mix is the finaliser of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// modelWeights are what synthetic weights outside the layers are like.
func modelWeights(s rwkv.Shape) map[string]distribution {
	return map[string]distribution{
		"emb.weight":          spread(0, 0.02),
		"blocks.0.ln0.weight": around1,
		"blocks.0.ln0.bias":   spread(0, 0.05),
		"ln_out.weight":       around1,
		"ln_out.bias":         spread(0, 0.05),
		"head.weight":         scaled(3, s.Embed),
	}
}

// sparseKey is for the FFN's first matrix. The mean of its input is ln2's constant
// bias, also after the token shift. The mean of the weights makes of it an offset of
// every activation, above which 10 % of them are positive.
func sparseKey(s rwkv.Shape) distribution {
	const sigma = 0.5
	mean := -normal90 * sigma / (float64(s.Embed) * syntheticLN2Bias)
	return spread(mean, sigma/math.Sqrt(float64(s.Embed)))
}

// around1 is the distribution of the gains of norms.
var around1 = between(0.8, 1.2)

// scaled is for a matrix with n inputs that multiplies the size of activations by
// gain.
func scaled(gain float64, n int) distribution {
	return spread(0, gain/math.Sqrt(float64(n)))
}
