package sampler

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
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
		if full[best] < float64(p.MinP)*slices.Max(full) {
			break
		}
		take := full[best]
		if p.Mode == ModeRapid {
			take = min(take, left)
		}
		prob[best] = take
		left -= full[best]
	}
	if p.TopA > 0 {
		for i := range prob {
			if full[i] < float64(p.TopA)*slices.Max(full)*slices.Max(full) {
				prob[i] = 0
			}
		}
	}
	if p.Typical > 0 {
		exactTypical(prob, float64(p.Typical))
	}
	if p.XTC == 1 {
		exactExclusion(prob, float64(p.XTCThreshold))
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

// normalised are probabilities that add up to 1.
func normalised(prob []float64) []float64 {
	var sum float64
	for _, p := range prob {
		sum += p
	}
	out := make([]float64, len(prob))
	for i, p := range prob {
		out[i] = p / sum
	}
	return out
}

// exactTypical is equation 7 of Meister et al., "Locally Typical Sampling" (2023).
func exactTypical(prob []float64, share float64) {
	p := normalised(prob)
	var entropy float64
	for _, x := range p {
		if x > 0 {
			entropy -= x * math.Log(x)
		}
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	away := func(i int) float64 { return math.Abs(-math.Log(p[i]) - entropy) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	for _, i := range order {
		if share <= 0 {
			prob[i] = 0
		}
		share -= p[i]
	}
}

// exactExclusion is what XTC leaves where it acts.
func exactExclusion(prob []float64, threshold float64) {
	p := normalised(prob)
	last := 2.0
	for _, x := range p {
		if x >= threshold {
			last = min(last, x)
		}
	}
	for i, x := range p {
		if x > last {
			prob[i] = 0
		}
	}
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
		{"min_p", 200, 2, 40000, Params{Temperature: 1.3, TopP: 1, MinP: .08}},
		{"min_p with the others", 200, 2, 40000, Params{Temperature: .9, TopP: .97, TopK: 150, MinP: .05}},
		{"rapid min_p", 200, 2, 40000, Params{Mode: ModeRapid, Temperature: 1.5, TopP: 1, MinP: .1}},
		{"min_p by blocks", 2600, .3, 30000, Params{Temperature: 1.1, TopP: 1, MinP: .2}},
		{"top_a", 200, 2, 40000, Params{Temperature: 1, TopP: 1, TopA: .3}},
		{"typical", 200, 2, 40000, Params{Temperature: 1, TopP: 1, Typical: .6}},
		{"typical by blocks", 2600, .3, 30000, Params{Temperature: 1.2, TopP: .95, Typical: .5}},
		{"xtc", 200, 2, 40000, Params{Temperature: 1, TopP: 1, XTC: 1, XTCThreshold: .02}},
		{"rapid typical and xtc", 200, 2, 40000, Params{Mode: ModeRapid, Temperature: 1.2, TopP: 1, Typical: .8, XTC: 1, XTCThreshold: .02}},
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
		d := s.prepare(new(scratch), logits) // once: TestDrawIsTheDefinition shows that Sample draws like this
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
