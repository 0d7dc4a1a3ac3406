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
