package sampler

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// specWeights is the package's definition written down plainly: the mass of
// every token in the draw. A device's sampler can be tested against it.
func specWeights(logits []float32, p Params, seen []Count) []uint64 {
	z := make([]float32, len(logits))
	m := negInf
	for i, x := range logits {
		z[i] = x
		for _, e := range seen {
			if int(e.Token) == i && (p.Presence != 0 || p.Frequency != 0) {
				z[i] -= e.penalty(p)
			}
		}
		if slices.Contains(p.Ban, int32(i)) {
			z[i] = negInf
		}
		z[i] = tame(z[i])
		m = max(m, z[i])
	}
	weights := make([]uint64, len(z))
	if m == negInf {
		return weights
	}
	order := make([]int, len(z)) // by z, the largest first, ties by id
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(z[b], z[a]) })
	if p.Mode == ModePip && p.Temperature < minTemperature {
		p.Temperature, p.TopP = 1, 0
	}
	if p.Mode == ModeRapid && p.TopP == 0 {
		p.TopK, p.TopP = 1, 1
	}
	switch {
	case p.Temperature < minTemperature:
		weights[order[0]] = massOne
	case p.Mode == ModeRapid:
		specRapid(weights, order, z, m, p)
	default:
		kept := specNucleus(order, z, m, softmaxScale, p)
		for _, i := range kept {
			weights[i] = mass(z[i], m, temperedScale(p.Temperature))
		}
	}
	return weights
}

// specNucleus is the beginning of order that top_p and then top_k keep.
func specNucleus(order []int, z []float32, m, scale float32, p Params) []int {
	if p.TopP < 1 {
		var sum, run uint64
		for _, i := range order {
			sum += mass(z[i], m, scale)
		}
		target := max(1, uint64(math.Ceil(float64(p.TopP)*float64(sum))))
		n := 0
		for run < target {
			run += mass(z[order[n]], m, scale)
			n++
		}
		for n < len(order) && z[order[n]] == z[order[n-1]] {
			n++
		}
		order = order[:n]
	}
	if p.TopK > 0 {
		order = order[:min(p.TopK, len(order))]
	}
	return order
}

// specRapid goes down the groups of equal tokens until one of the limits is
// reached; the last group shares what is left.
func specRapid(weights []uint64, order []int, z []float32, m float32, p Params) {
	scale := temperedScale(p.Temperature)
	var sum, above uint64
	for _, i := range order {
		sum += mass(z[i], m, scale)
	}
	target := max(1, uint64(math.Ceil(float64(p.TopP)*float64(sum))))
	limited := p.TopK > 0
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && z[order[hi]] == z[order[lo]] {
			hi++
		}
		own, ties := mass(z[order[lo]], m, scale), uint64(hi-lo)
		share := own
		full := p.TopP < 1 && above+own*ties >= target
		if full {
			share = min(share, (target-above)/ties)
		}
		if limited && hi >= p.TopK {
			full = true
			exact := new(big.Int).Mul(new(big.Int).SetUint64(own), big.NewInt(int64(p.TopK-lo)))
			share = min(share, exact.Div(exact, new(big.Int).SetUint64(ties)).Uint64())
		}
		if full && lo == 0 {
			share = max(share, 1)
		}
		for _, i := range order[lo:hi] {
			weights[i] = share
		}
		if full {
			return
		}
		above += own * ties
		lo = hi
	}
}

// specDraw walks the ids in order.
func specDraw(weights []uint64, r uint64) int32 {
	var total, run uint64
	for _, w := range weights {
		total += w
	}
	target := new(big.Int).Mul(new(big.Int).SetUint64(total), new(big.Int).SetUint64(r))
	rest := target.Rsh(target, 64).Uint64()
	for id, w := range weights {
		if run += w; rest < run {
			return int32(id)
		}
	}
	return 0
}

// randomParams are any that Validate accepts, the odd ones often.
func randomParams(rng *rand.Rand, vocab int) Params {
	pick := func(list ...float32) float32 { return list[rng.IntN(len(list))] }
	p := Params{
		Mode:        Mode(rng.IntN(3)),
		Temperature: pick(0, .0005, .001, .3, 1, 1, 1.7, 5, 1000),
		TopP:        pick(0, 1e-30, .1, .5, .9, .99, .9999, 1, 1),
		TopK:        []int{0, 0, 1, 2, 7, vocab / 2, vocab - 1, vocab, vocab * 2}[rng.IntN(9)],
		Presence:    pick(0, 0, .5, -3),
		Frequency:   pick(0, 0, .7, -1),
		Decay:       pick(1, .99, .5),
		Seed:        rng.Uint64(),
	}
	for range rng.IntN(4) {
		p.Ban = append(p.Ban, int32(rng.IntN(vocab+3)))
	}
	return p
}

// randomLogits have ties now and then, and special values.
func randomLogits(rng *rand.Rand, n int) []float32 {
	z := make([]float32, n)
	spread := []float64{.1, 2, 8, 40}[rng.IntN(4)]
	step := []float64{0, 0, .5, 4}[rng.IntN(4)]
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), negInf, math.MaxFloat32, -math.MaxFloat32, 0, float32(math.Copysign(0, -1))}
	oddities := rng.IntN(6) == 0
	for i := range z {
		x := rng.NormFloat64() * spread
		if step > 0 {
			x = math.Round(x/step) * step
		}
		z[i] = float32(x)
		if oddities && rng.IntN(10) == 0 {
			z[i] = odd[rng.IntN(len(odd))]
		}
	}
	return z
}

// Every draw and every probability must be what the definition says.
func TestDrawIsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 700 {
		n := []int{1, 2, 63, 64, 65, 300, 5000}[rng.IntN(7)]
		if round%8 != 0 && n == 5000 {
			n = 500
		}
		vocab := max(1, n-rng.IntN(3))
		p := randomParams(rng, vocab)
		s := New(vocab, p)
		for range rng.IntN(30) {
			s.Observe(int32(rng.IntN(vocab)))
		}
		for step := range 4 {
			checkDraw(t, fmt.Sprintf("round %d step %d, %d logits, %+v", round, step, n, p), s, randomLogits(rng, n))
		}
	}
}

func checkDraw(t *testing.T, name string, s *Sampler, logits []float32) {
	t.Helper()
	known := logits[:min(len(logits), s.vocab)]
	weights := specWeights(known, s.Params(), s.Memory().Counts)
	var total uint64
	for _, w := range weights {
		total += w
	}
	for _, c := range s.Top(logits, len(known)) {
		want := float64(0)
		if total > 0 {
			want = float64(weights[c.Token]) / float64(total)
		}
		if float64(c.Prob) != float64(float32(want)) {
			t.Fatalf("%s: token %d has probability %v, want %v", name, c.Token, c.Prob, want)
		}
	}
	before := slices.Clone(logits)
	want := specDraw(weights, Random(s.Params().Seed, s.Memory().Draws))
	got, logProb := s.Sample(logits)
	if got != want {
		t.Fatalf("%s: drew %d, want %d", name, got, want)
	}
	if norm := logSum(known); total > 0 {
		exact := float64(tame(logits[got])) - norm
		if math.Abs(float64(logProb)-exact) > 2e-6*max(1, math.Abs(exact)) {
			t.Fatalf("%s: log-probability %v, want %v", name, logProb, exact)
		}
	} else if got != 0 || logProb != negInf {
		t.Fatalf("%s: without candidates drew %d at %v", name, got, logProb)
	}
	for i := range logits {
		if math.Float32bits(logits[i]) != math.Float32bits(before[i]) {
			t.Fatalf("%s: logit %d was changed", name, i)
		}
	}
	s.Observe(got)
}
