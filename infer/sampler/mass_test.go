package sampler

import (
	"math"
	"math/rand/v2"
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
		{-42.5, 3, 1, 1},   // 2^-45.5 rounds up
		{-43, 3, 1, 0},     // half goes to even
		{-60.99, 3, 1, 0},  // above the floor
		{-1000, 3, 1, 0},   // below it
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

// A device's sampler has to give these very numbers.
func TestMassGolden(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	h := uint64(14695981039346656037) // FNV-1a over the masses
	for range 100000 {
		z, m := float32(rng.NormFloat64()*8), float32(30)
		h = (h ^ mass(z, m, softmaxScale)) * 1099511628211
		h = (h ^ mass(z, m, temperedScale(1.7))) * 1099511628211
	}
	if want := uint64(0); h != want {
		t.Errorf("the masses' hash is %#x, want %#x", h, want)
	}
}

// special are logits that every path must cope with.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32, 1e-45,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
}

func TestBlocksAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		blocks := 1 + rng.IntN(9)
		z := make([]float32, blocks*blockLen)
		for i := range z {
			z[i] = float32(rng.NormFloat64() * 10)
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
		best, sums := make([]float32, blocks), make([]uint64, blocks)
		wantBest, wantSums := make([]float32, blocks), make([]uint64, blocks)
		blockMax(best, z)
		blockMaxGo(wantBest, z)
		blockMass(sums, z, m, scale)
		blockMassGo(wantSums, z, m, scale)
		for b := range best {
			if best[b] != wantBest[b] || sums[b] != wantSums[b] {
				t.Fatalf("block %d: %v and %d, want %v and %d", b, best[b], sums[b], wantBest[b], wantSums[b])
			}
		}
	}
}
