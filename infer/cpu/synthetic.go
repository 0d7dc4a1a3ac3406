package cpu

import (
	"fmt"
	"math"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// Synthetic weights are a function of the seed, the tensor's name and the
// value's index: any piece of them can be made at any time and in any order,
// and testdata/golden.py makes the same ones, bit for bit. Their scales keep
// activations tame in every weight width and make 90 % of relu² zero, which
// is about what trained models do.

const (
	syntheticLN2Bias = 0.2
	normal90         = 1.2815515655446004 // 90 % of a normal distribution is below
)

// A distribution is uniform over mid ± half, or, where ramp is set, rises
// evenly from mid-half to mid+half over the tensor.
type distribution struct {
	mid, half float32
	ramp      bool
}

// spread has the standard deviation of a normal distribution; sums over a row
// of weights are then normal enough.
func spread(mid, std float64) distribution {
	return distribution{mid: float32(mid), half: float32(std * math.Sqrt(3))}
}

func constant(v float64) distribution { return distribution{mid: float32(v)} }

func between(lo, hi float64) distribution {
	return distribution{mid: float32((lo + hi) / 2), half: float32((hi - lo) / 2)}
}

// syntheticSource makes weights for a shape.
func syntheticSource(s rwkv.Shape, seed uint64) source {
	specs := syntheticSpecs(s)
	return func(name string) (tensor, error) {
		sp, ok := specs[name]
		if !ok {
			return tensor{}, fmt.Errorf("synthetic weights have no %s", name)
		}
		t := tensor{name: name, shape: sp.shape, dtype: checkpoint.F32}
		base, n := hashName(name, seed), t.len()
		t.read = func(dst []float32, off int) error {
			sp.dist.fill(dst, off, n, base)
			return nil
		}
		t.blocks = func() ([]int8, []uint16, bool) { return nil, nil, false }
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

// fill writes values [off, off+len(dst)) of a tensor of n values. The
// conversions keep a compiler from fusing multiplication and addition.
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

// A spec is a synthetic tensor's shape and distribution.
type spec struct {
	shape []int
	dist  distribution
}

// syntheticSpecs describes every tensor of a model, as in released files:
// names, shapes, and no value residual in layer 0.
func syntheticSpecs(s rwkv.Shape) map[string]spec {
	specs := map[string]spec{
		"emb.weight":          {[]int{s.Vocab, s.Embed}, spread(0, 0.02)},
		"blocks.0.ln0.weight": {[]int{s.Embed}, around1},
		"blocks.0.ln0.bias":   {[]int{s.Embed}, spread(0, 0.05)},
		"ln_out.weight":       {[]int{s.Embed}, around1},
		"ln_out.bias":         {[]int{s.Embed}, spread(0, 0.05)},
		"head.weight":         {[]int{s.Vocab, s.Embed}, scaled(3, s.Embed)},
	}
	for i := range s.Layers {
		block := syntheticBlock(s)
		if i == 0 {
			for _, name := range []string{"att.v0", "att.v1", "att.v2"} {
				delete(block, name)
			}
		}
		for name, sp := range block {
			specs[fmt.Sprintf("blocks.%d.%s", i, name)] = sp
		}
	}
	return specs
}

// around1 is what the gains of norms are like.
var around1 = between(0.8, 1.2)

// scaled keeps the size of activations times gain through a matrix with n inputs.
func scaled(gain float64, n int) distribution {
	return spread(0, gain/math.Sqrt(float64(n)))
}

func syntheticBlock(s rwkv.Shape) map[string]spec {
	c := []int{s.Embed}
	cc := []int{s.Embed, s.Embed}
	residual := 1 / math.Sqrt(2*float64(s.Layers))
	// The FFN's input has the mean of ln2's constant bias, which token shift
	// leaves unchanged; a mean in the key turns it into an offset of every
	// activation that 10 % of them overcome.
	const sigma = 0.5
	keyMean := -normal90 * sigma / (float64(s.Embed) * syntheticLN2Bias)
	shift, ffnShift := between(0, 0.6), between(0, 0.3)
	return map[string]spec{
		"ln1.weight": {c, around1},
		"ln1.bias":   {c, spread(0, 0.05)},
		"ln2.weight": {c, around1},
		"ln2.bias":   {c, constant(syntheticLN2Bias)},

		"att.x_r": {c, shift}, "att.x_w": {c, shift}, "att.x_k": {c, shift},
		"att.x_v": {c, shift}, "att.x_a": {c, shift}, "att.x_g": {c, shift},

		"att.w0": {c, distribution{mid: -2.5, half: 3.5, ramp: true}},
		"att.w1": {[]int{s.Embed, s.RankW}, scaled(0.3, s.Embed)},
		"att.w2": {[]int{s.RankW, s.Embed}, scaled(0.3, s.RankW)},
		"att.a0": {c, spread(0, 0.5)},
		"att.a1": {[]int{s.Embed, s.RankA}, scaled(0.5, s.Embed)},
		"att.a2": {[]int{s.RankA, s.Embed}, scaled(0.5, s.RankA)},
		"att.v0": {c, between(0, 1)},
		"att.v1": {[]int{s.Embed, s.RankV}, scaled(0.5, s.Embed)},
		"att.v2": {[]int{s.RankV, s.Embed}, scaled(0.5, s.RankV)},
		"att.g1": {[]int{s.Embed, s.RankG}, scaled(1, s.Embed)},
		"att.g2": {[]int{s.RankG, s.Embed}, scaled(1, s.RankG)},

		"att.k_k": {c, between(0.7, 1)},
		"att.k_a": {c, around1},
		"att.r_k": {[]int{s.Heads, s.HeadSize}, spread(0, 0.05)},

		"att.receptance.weight": {cc, scaled(0.5, s.Embed)},
		"att.key.weight":        {cc, scaled(0.3, s.Embed)},
		"att.value.weight":      {cc, scaled(0.5, s.Embed)},
		"att.output.weight":     {cc, scaled(residual, s.Embed)},
		"att.ln_x.weight":       {c, around1},
		"att.ln_x.bias":         {c, spread(0, 0.05)},

		"ffn.x_k":          {c, ffnShift},
		"ffn.key.weight":   {[]int{s.FFN, s.Embed}, spread(keyMean, sigma/math.Sqrt(float64(s.Embed)))},
		"ffn.value.weight": {[]int{s.Embed, s.FFN}, scaled(8*residual, s.FFN)},
	}
}
