package sampler

import (
	"math/rand/v2"
	"testing"
)

// modelLogits are like a model's: a bell with a few tokens standing out.
func modelLogits(n int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	z := make([]float32, n)
	for i := range z {
		z[i] = float32(rng.NormFloat64()*2.5 - 6)
	}
	for range 40 {
		z[rng.IntN(n)] = float32(4 + 3*rng.NormFloat64())
	}
	return z
}

func BenchmarkSample(b *testing.B) {
	logits := modelLogits(65536, 1)
	for _, c := range []struct {
		name string
		p    Params
	}{
		{"greedy", Params{}},
		{"plain", Params{Temperature: 1, TopP: 1}},
		{"hot", Params{Temperature: 1.5, TopP: 1}},
		{"top_p=0.5", Params{Temperature: 1, TopP: .5}},
		{"top_p=0.9", Params{Temperature: .8, TopP: .9}},
		{"top_p=0.9999", Params{Temperature: 1, TopP: .9999}},
		{"top_k=40", Params{Temperature: 1, TopP: 1, TopK: 40}},
		{"chat", Params{Temperature: 1, TopP: .5, Presence: .5, Frequency: .5, Decay: .996}},
		{"rapid", Params{Mode: ModeRapid, Temperature: .8, TopP: .5, TopK: 100, Presence: .5, Frequency: .5, Decay: .996}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New(65530, c.p)
			for id := range int32(500) {
				s.Observe(id * 131)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Sample(logits)
			}
		})
	}
}

func BenchmarkTop(b *testing.B) {
	logits := modelLogits(65536, 1)
	s := New(65530, Params{Temperature: 1, TopP: .5})
	for b.Loop() {
		s.Top(logits, 10)
	}
}

func BenchmarkObserve(b *testing.B) {
	s := New(65530, Params{Temperature: 1, TopP: .5, Decay: .996})
	for id := range int32(1000) {
		s.Observe(id * 61)
	}
	for b.Loop() {
		s.Observe(61)
	}
}
