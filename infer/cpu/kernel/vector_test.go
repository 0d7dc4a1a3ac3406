package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// relative is the error of got against want, relative to want where that is a
// normal number.
func relative(got float32, want float64) float64 {
	if math.IsNaN(want) && math.IsNaN(float64(got)) || float64(got) == want {
		return 0
	}
	return math.Abs(float64(got)-want) / max(math.Abs(want), 0x1p-126)
}

func TestElementwiseFunctions(t *testing.T) {
	functions := []struct {
		name string
		run  func(p Path, dst, x []float32)
		want func(x float64) float64
	}{
		{"exp", Path.Exp, func(x float64) float64 { return float64(float32(math.Exp(x))) }},
		{"sigmoid", Path.Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"tanh", Path.Tanh, math.Tanh},
		{"silu", Path.SiLU, func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
		{"squaredReLU", Path.SquaredReLU, func(x float64) float64 { return max(x, 0) * max(x, 0) }},
	}
	x := []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, 1e-30, -1e-30, 0.6249, 0.625, -0.625, 10, -10, 20, -20, 60, -60, 80, -80,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for len(x) < 20003 {
		x = append(x, float32(rng.NormFloat64()*math.Pow(10, rng.Float64()*4-3)))
	}
	for i, v := range x {
		if !math.IsInf(float64(v), 0) {
			x[i] = max(min(v, 87), -87) // beyond lie the subnormal results, see TestExpAtTheEdges
		}
	}
	for _, path := range Available() {
		for _, f := range functions {
			t.Run(fmt.Sprintf("%v/%s", path, f.name), func(t *testing.T) {
				dst := make([]float32, len(x))
				f.run(path, dst, x)
				for i, got := range dst {
					if e := relative(got, f.want(float64(x[i]))); !(e <= 2e-7) {
						t.Fatalf("%s(%g) = %g, want %g: error %.3g", f.name, x[i], got, f.want(float64(x[i])), e)
					}
				}
				for n := range 40 { // every length of the tail, in place
					in := slices.Clone(x[100 : 100+n])
					f.run(path, in, in)
					if !slices.EqualFunc(in, dst[100:100+n], func(a, b float32) bool { return relative(a, float64(b)) <= 4e-7 }) {
						t.Fatalf("%d values in place: %v, want %v", n, in, dst[100:100+n])
					}
				}
			})
		}
	}
}

func TestExpAtTheEdges(t *testing.T) {
	for _, path := range Available() {
		x := slices.Repeat([]float32{-1000, -105, 88.7, 88.8, 1000}, 8)
		path.Exp(x, x)
		want := []float32{0, 0, float32(math.Exp(float64(float32(88.7)))), float32(math.Inf(1)), float32(math.Inf(1))}
		for i, v := range x {
			if relative(v, float64(want[i%len(want)])) > 2e-7 {
				t.Errorf("%v: value %d: %g, want %g", path, i%len(want), v, want[i%len(want)])
			}
		}
	}
}

func normals(rng *rand.Rand, n int, mean, scale float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(mean + rng.NormFloat64()*scale)
	}
	return v
}

func TestLayerNorm(t *testing.T) {
	for _, path := range Available() {
		for _, n := range []int{1, 8, 16, 24, 64, 100, 768, 2080} {
			for _, mean := range []float64{0, 100} {
				rng := rand.New(rand.NewPCG(uint64(n), 3))
				x, w, b := normals(rng, n, mean, 2), normals(rng, n, 1, 0.2), normals(rng, n, 0, 1)
				var sum, sq float64
				for _, v := range x {
					sum += float64(v)
				}
				sum /= float64(n)
				for _, v := range x {
					sq += (float64(v) - sum) * (float64(v) - sum)
				}
				got := make([]float32, n)
				path.LayerNorm(got, x, w, b, 1e-5)
				for i, v := range x {
					want := (float64(v)-sum)/math.Sqrt(sq/float64(n)+1e-5)*float64(w[i]) + float64(b[i])
					tolerance := 2e-6 * (1 + mean) * (1 + math.Abs(want))
					if d := math.Abs(float64(got[i]) - want); !(d <= tolerance) && n > 1 {
						t.Fatalf("%v, %d values, mean %g: element %d is %g, want %g", path, n, mean, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestGroupNormIsLayerNormOfEachGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x, w, b := normals(rng, 256, 1, 2), normals(rng, 256, 1, 0.2), normals(rng, 256, 0, 1)
	for _, path := range Available() {
		got, want := make([]float32, 256), make([]float32, 256)
		path.GroupNorm(got, x, w, b, 4, GroupNormEps)
		for i := 0; i < 256; i += 64 {
			path.LayerNorm(want[i:i+64], x[i:i+64], w[i:i+64], b[i:i+64], GroupNormEps)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: groups differ from layer norms of the parts", path)
		}
	}
}

func TestShiftAndAdd(t *testing.T) {
	for _, path := range Available() {
		for _, n := range []int{0, 1, 15, 16, 47, 768} {
			rng := rand.New(rand.NewPCG(uint64(n), 5))
			x, prev, mix := normals(rng, n, 0, 1), normals(rng, n, 0, 1), normals(rng, n, 0.5, 0.3)
			got := make([]float32, n)
			path.Shift(got, x, prev, mix)
			for i := range x {
				want := float64(x[i]) + (float64(prev[i])-float64(x[i]))*float64(mix[i])
				if math.Abs(float64(got[i])-want) > 1e-6 {
					t.Fatalf("%v: shift of %d: element %d is %g, want %g", path, n, i, got[i], want)
				}
			}
			more := normals(rng, n, 0, 0.3)
			by := slices.Clone(more)
			path.ShiftBy(by, x, prev, mix, by)
			for i := range x {
				want := float64(x[i]) + (float64(prev[i])-float64(x[i]))*(float64(mix[i])+float64(more[i]))
				if math.Abs(float64(by[i])-want) > 1e-6 {
					t.Fatalf("%v: shift of %d by its own mix: element %d is %g, want %g", path, n, i, by[i], want)
				}
			}
			gated := slices.Clone(more)
			path.AddGated(gated, x, mix)
			for i := range x {
				if want := float64(more[i]) + float64(x[i])*float64(mix[i]); math.Abs(float64(gated[i])-want) > 1e-6 {
					t.Fatalf("%v: gated sum of %d: element %d is %g, want %g", path, n, i, gated[i], want)
				}
			}
			path.Add(got, x)
			for i := range x {
				want := 2*float64(x[i]) + (float64(prev[i])-float64(x[i]))*float64(mix[i])
				if math.Abs(float64(got[i])-want) > 2e-6 {
					t.Fatalf("%v: sum of %d: element %d is %g, want %g", path, n, i, got[i], want)
				}
			}
		}
	}
}

// TestQuantise: all paths make the same bits, and these are within half a
// step.
func TestQuantise(t *testing.T) {
	const cols = 96
	rng := rand.New(rand.NewPCG(6, 6))
	for _, scale := range []float64{1, 1e-3, 1e20, 1e-30, 1e-37, 1e-42, 0} {
		x := normals(rng, cols, 0, scale)
		x[40] = float32(50 * scale) // an outlier
		var want *Batch
		for _, path := range Available() {
			b := newBatch(t, testArena(t), 1, cols)
			copy(b.Row(0), x)
			path.Quantise(b, 0, 0, BlockSize)
			path.Quantise(b, 0, BlockSize, cols)
			if want == nil {
				want = b
			}
			if !slices.Equal(b.quants, want.quants) || !slices.Equal(b.scales, want.scales) || !slices.Equal(b.offsets, want.offsets) {
				t.Fatalf("%v, scale %g: differs from plain Go: %v %v %v, want %v %v %v", path, scale, b.quants, b.scales, b.offsets, want.quants, want.scales, want.offsets)
			}
		}
		for i, v := range x {
			s := float64(want.scales[i/BlockSize])
			if d := math.Abs(float64(want.quants[i])*s - float64(v)); d > s*0.5001+2*smallestBlock {
				t.Errorf("scale %g: element %d is %g, quantised %d·%g", scale, i, v, want.quants[i], s)
			}
		}
	}
}
