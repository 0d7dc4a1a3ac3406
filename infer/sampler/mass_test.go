package sampler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMassIsAccurate(t *testing.T) {
	for i := range 400000 {
		y := -float32(i) / 10000 // scale 1: 2^y
		got, want := float64(mass(y, 0, 1)), math.Exp2(float64(y))*massOne
		if math.Abs(got-want) > want*1e-7+.5 {
			t.Fatalf("2^%v: %v, want %v", y, got, want)
		}
	}
}

func TestMassAtTheEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		z, m, scale float32
		want        uint64
	}{
		{3, 3, softmaxScale, massOne},
		{2, 3, 1, massOne / 2},
		{-41, 3, 1, 1},
		{-41.5, 3, 1, 1},  // 2^-44.5 rounds up
		{-42, 3, 1, 0},    // half goes to even
		{-60.99, 3, 1, 0}, // above the floor
		{-1000, 3, 1, 0},  // below it
		{-inf, 3, 1, 0},
		{nan, 3, 1, 0},
		{-math.MaxFloat32, math.MaxFloat32, softmaxScale, 0},
		{math.MaxFloat32, math.MaxFloat32, temperedScale(minTemperature), massOne},
	} {
		if got := mass(c.z, c.m, c.scale); got != c.want {
			t.Errorf("mass(%v, %v, %v) = %d, want %d", c.z, c.m, c.scale, got, c.want)
		}
	}
}

// special are logits up to 20 that every path must cope with.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 20, -math.MaxFloat32, 1e-45,
	float32(math.Inf(-1)), float32(math.NaN()),
}

func TestBlocksAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		blocks := 1 + rng.IntN(9)
		z := make([]float32, blocks*blockLen)
		for i := range z {
			z[i] = float32(min(20, rng.NormFloat64()*10)) // mass is for z up to m
			if round%2 == 0 && rng.IntN(4) == 0 {
				z[i] = special[rng.IntN(len(special))]
			}
		}
		if round%3 == 0 {
			for i := range z[:blockLen] {
				z[i] = float32(math.NaN())
			}
		}
		m, scale := float32(20), temperedScale(float32(.1+rng.Float64()*2))
		theta := float32(rng.NormFloat64() * 10)
		if round%5 == 0 {
			theta = negInf
		}
		best, sums, weights := make([]float32, blocks), make([]uint64, blocks), make([]float32, len(z))
		wantBest, wantSums, wantWeights := make([]float32, blocks), make([]uint64, blocks), make([]float32, len(z))
		blockMax(best, z)
		blockMaxGo(wantBest, z)
		blockMass(sums, weights, z, m, scale, theta)
		blockMassGo(wantSums, wantWeights, z, m, scale, theta)
		if !slices.Equal(weights, wantWeights) {
			t.Fatalf("weights %v, want %v", weights, wantWeights)
		}
		for b := range best {
			if best[b] != wantBest[b] || sums[b] != wantSums[b] {
				t.Fatalf("block %d: %v and %d, want %v and %d", b, best[b], sums[b], wantBest[b], wantSums[b])
			}
		}
	}
}
