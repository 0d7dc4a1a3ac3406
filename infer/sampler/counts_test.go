package sampler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The form of the processor decays as the plain one does, bit for bit.
func TestDecay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 70 {
		weights := make([]float32, n)
		for i := range weights {
			weights[i] = float32(math.Exp2(rng.Float64()*80-70)) * float32(i%3) // 0, or around what is negligible
		}
		for _, decay := range []float32{0, 0.5, 0.996, 1} {
			got, want := slices.Clone(weights), slices.Clone(weights)
			decayAll(got, decay)
			for i, w := range want {
				if want[i] = w * decay; want[i] < 0x1p-64 {
					want[i] = 0
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d weights by %v: %v, want %v", n, decay, got, want)
			}
		}
	}
}

// Counts are the same whenever they are looked at, also where the decay changes
// in between.
func TestCountsWhenLookedAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := Params{Temperature: 1, TopP: 1, Presence: 0.1, Frequency: 0.1, Decay: 0.99, Seed: 5}
	seldom, often := New(300, p), New(300, p)
	for i := range 1000 {
		if i == 500 {
			p.Decay = 0.9
			seldom.SetParams(p)
			often.SetParams(p)
		}
		token := int32(rng.IntN(300))
		seldom.Observe(token)
		often.Observe(token)
		now := often.Memory()
		if i%333 == 332 && !slices.Equal(seldom.Memory().Counts, now.Counts) {
			t.Fatalf("after %d tokens the counts differ", i+1)
		}
	}
}
