package sampler

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A restricted draw is that of the allowed tokens alone, with the log-probability
// under all of them.
func TestRestrictedDraw(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const vocab = 1000
	for _, p := range []Params{
		{Temperature: 1, TopP: 1},
		{Temperature: 0.7, TopP: 0.8, TopK: 20},
		{},
		{Temperature: 1, TopP: 0.9, Presence: 1, Frequency: 0.5, Decay: 0.9, Ban: []int32{3, 64}},
		{Mode: ModeRapid, Temperature: 1.3, TopP: 0.7},
	} {
		logits, alone := make([]float32, vocab), make([]float32, vocab)
		allowed := make([]uint64, (vocab+63)/64)
		for i := range logits {
			logits[i] = float32(r.NormFloat64() * 3)
			alone[i] = float32(math.Inf(-1))
			if r.IntN(3) == 0 || i >= 128 && i < 192 {
				allowed[i/64] |= 1 << (i % 64)
				alone[i] = logits[i]
			}
		}
		clear(allowed[5:7])
		for i := 5 * 64; i < 7*64; i++ {
			alone[i] = float32(math.Inf(-1))
		}
		p.Seed = 11
		restricted, plain := New(vocab, p), New(vocab, p)
		restricted.Restrict(allowed)
		if !restricted.NeedsHost() || plain.NeedsHost() {
			t.Error("only a restricted draw is the host's alone")
		}
		for range 300 {
			got, logProb := restricted.Sample(logits)
			want, _ := plain.Sample(alone)
			if got != want {
				t.Fatalf("%+v: drew %d, want %d", p, got, want)
			}
			if want := LogProb(logits, got); math.Abs(float64(logProb-want)) > 1e-4 {
				t.Fatalf("%+v: log-probability %v, want %v", p, logProb, want)
			}
			restricted.Observe(got)
			plain.Observe(got)
		}
		restricted.Restrict(make([]uint64, len(allowed)))
		if got, logProb := restricted.Sample(logits); got != 0 || !math.IsInf(float64(logProb), -1) {
			t.Errorf("with nothing allowed it drew %d (%v)", got, logProb)
		}
	}
}
