package sampler

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// exactProbs is the distribution of a draw in float64, from the words of the
// Mode comment, with nothing of the package's arithmetic. The logits have no ties.
func exactProbs(logits []float32, p Params) []float64 {
	z, prob := make([]float64, len(logits)), make([]float64, len(logits))
	for i, x := range logits {
		if z[i] = float64(x); p.Mode == ModeRapid {
			z[i] /= float64(p.Temperature)
		}
	}
	full := softmax(z)
	left := float64(p.TopP)
	for rank := 0; left > 0 && (p.TopK == 0 || rank < p.TopK) && rank < len(z); rank++ {
		best := -1
		for i := range full {
			if prob[i] == 0 && (best < 0 || full[i] > full[best]) {
				best = i
			}
		}
		take := full[best]
		if p.Mode == ModeRapid {
			take = min(take, left)
		}
		prob[best] = take
		left -= full[best]
	}
	var sum float64
	for i := range prob {
		if p.Mode != ModeRapid {
			prob[i] = math.Pow(prob[i], 1/float64(p.Temperature))
		}
		sum += prob[i]
	}
	for i := range prob {
		prob[i] /= sum
	}
	return prob
}

// quantile is the value that chi-squared with n degrees of freedom exceeds with
// probability 0.001 (Wilson and Hilferty's approximation).
func quantile(n int) float64 {
	k := float64(n)
	x := 1 - 2/(9*k) + 3.0902*math.Sqrt(2/(9*k))
	return k * x * x * x
}

func TestDrawsFollowTheDistribution(t *testing.T) {
	for _, c := range []struct {
		name   string
		vocab  int
		spread float64
		draws  int
		p      Params
	}{
		{"plain", 200, 2, 40000, Params{Temperature: 1, TopP: 1}},
		{"hot", 200, 2, 40000, Params{Temperature: 2.5, TopP: 1}},
		{"top_p", 200, 2, 40000, Params{Temperature: .8, TopP: .9}},
		{"top_k", 200, 2, 40000, Params{Temperature: 1.3, TopP: 1, TopK: 20}},
		{"both", 200, 2, 40000, Params{Temperature: 1, TopP: .7, TopK: 12}},
		{"pip", 200, 2, 40000, Params{Mode: ModePip, Temperature: 1.4, TopP: .85, TopK: 50}},
		{"rapid top_p", 200, 2, 40000, Params{Mode: ModeRapid, Temperature: 1.4, TopP: .6}},
		{"rapid both", 200, 2, 40000, Params{Mode: ModeRapid, Temperature: .9, TopP: .95, TopK: 15}},
		{"by blocks", 2600, .3, 30000, Params{Temperature: 1.1, TopP: .97}},
	} {
		c.p.Seed = 20240315
		rng := rand.New(rand.NewPCG(5, 6))
		logits := make([]float32, c.vocab)
		for i := range logits {
			logits[i] = float32(rng.NormFloat64() * c.spread)
		}
		want := exactProbs(logits, c.p)
		s := New(c.vocab, c.p)
		for i, got := range probs(s, logits) {
			if math.Abs(got-want[i]) > 1e-7+1e-5*want[i] {
				t.Errorf("%s: token %d has probability %v, want %v", c.name, i, got, want[i])
			}
		}
		drawn := make([]int, c.vocab)
		d := new(scratch).prepare(logits, c.p.effective(), counts{}) // once: TestDrawIsTheDefinition shows that Sample draws like this
		for n := range c.draws {
			drawn[d.draw(Random(c.p.Seed, uint64(n)))]++
		}
		checkChiSquared(t, c.name, drawn, want, c.draws)
	}
}

// checkChiSquared compares counts with what is expected, tokens of fewer than
// 8 expected draws together.
func checkChiSquared(t *testing.T, name string, counts []int, want []float64, draws int) {
	t.Helper()
	var chi, restWant, restGot float64
	groups := 0
	for i, p := range want {
		expected, got := p*float64(draws), float64(counts[i])
		if p == 0 && got > 0 {
			t.Errorf("%s: token %d was drawn and cannot be", name, i)
		}
		if expected < 8 {
			restWant, restGot = restWant+expected, restGot+got
			continue
		}
		chi += (got - expected) * (got - expected) / expected
		groups++
	}
	if restWant >= 8 {
		chi += (restGot - restWant) * (restGot - restWant) / restWant
		groups++
	}
	if limit := quantile(groups - 1); chi > limit {
		t.Errorf("%s: chi-squared %.1f with %d groups, want at most %.1f", name, chi, groups, limit)
	}
}

func FuzzSample(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 192, 127}, uint8(0), float32(1), float32(.5), 0, float32(.5), float32(.5), float32(.9), uint64(1))
	f.Add([]byte{0, 0, 128, 127, 0, 0, 128, 255}, uint8(1), float32(0), float32(1), 1, float32(0), float32(0), float32(0), uint64(2))
	f.Add(make([]byte, 400), uint8(2), float32(.7), float32(.9), 3, float32(1), float32(-1), float32(1), uint64(3))
	f.Fuzz(func(t *testing.T, raw []byte, mode uint8, temperature, topP float32, topK int, presence, frequency, decay float32, seed uint64) {
		logits := make([]float32, len(raw)/4)
		for i := range logits {
			logits[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		p := Params{
			Mode: Mode(mode), Temperature: temperature, TopK: topK, TopP: topP,
			Presence: presence, Frequency: frequency, Decay: decay, Seed: seed, Ban: []int32{3, int32(seed)},
		}
		s := New(len(logits), p)
		for range 3 {
			if p.Validate() == nil {
				checkDraw(t, "fuzz", s, logits)
				continue
			}
			token, logProb := s.Sample(logits)
			if token < 0 || int(token) >= max(1, len(logits)) || logProb > 0 || logProb != logProb {
				t.Fatalf("drew %d of %d at %v", token, len(logits), logProb)
			}
			s.Observe(token)
		}
	})
}
