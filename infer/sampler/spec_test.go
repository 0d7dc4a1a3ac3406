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
func specWeights(logits []float32, p Params, s *Sampler) []uint64 {
	seen, chance := s.Memory().Counts, s.chance()
	p.XTCThreshold, p.DRYBase, p.DRYLength = cmp.Or(p.XTCThreshold, .1), cmp.Or(p.DRYBase, 1.75), cmp.Or(p.DRYLength, 2)
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
		for _, b := range p.Bias {
			if int(b.Token) == i {
				z[i] += b.Add
			}
		}
		if length := specRepetition(s, int32(i)); p.DRY > 0 && length > 0 && length >= p.DRYLength {
			z[i] -= float32(min(float64(p.DRY)*math.Pow(float64(p.DRYBase), float64(length-p.DRYLength)), math.MaxFloat32))
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
		specFilter(weights, p, chance)
	default:
		for _, i := range specNucleus(order, z, m, softmaxScale, p) {
			weights[i] = mass(z[i], m, softmaxScale)
		}
		kept := slices.Clone(weights)
		if specFilter(kept, p, chance) {
			m = negInf
			for i, w := range kept {
				if w > 0 {
					m = max(m, z[i])
				}
			}
			weights = kept
		} else {
			for _, i := range specNucleus(order, z, m, softmaxScale, p) {
				weights[i] = 1 // no mass now, perhaps one at a high temperature
			}
		}
		for i := range weights {
			if weights[i] > 0 {
				weights[i] = mass(z[i], m, temperedScale(p.Temperature))
			}
		}
	}
	return weights
}

// specRepetition is the length of the longest end of the answer that came before
// with the token after it.
func specRepetition(s *Sampler, token int32) (longest int) {
	h := s.recent
	if s.Breaks != nil && s.Breaks(token) {
		return 0
	}
	for i := 1; i < len(h); i++ { // h[i] came after h[:i]
		n := 0
		for n < i && h[i-1-n] == h[len(h)-1-n] && (s.Breaks == nil || !s.Breaks(h[i-1-n])) {
			n++
		}
		if h[i] == token {
			longest = max(longest, n)
		}
	}
	return longest
}

// specFilter takes the weights away that typical and then XTC do. It says
// whether it looked.
func specFilter(weights []uint64, p Params, chance float64) bool {
	typical, exclude := p.Typical > 0 && p.Typical < 1, p.XTC > 0 && chance < float64(p.XTC)
	total := func() (sum uint64) {
		for _, w := range weights {
			sum += w
		}
		return sum
	}
	if typical {
		sum := total()
		surprise := func(w uint64) float64 { return math.Log(float64(sum)) - math.Log(float64(w)) }
		var expected float64
		for _, w := range weights {
			if w > 0 {
				expected += float64(w) / float64(sum) * surprise(w)
			}
		}
		distance := func(i int) float32 { return float32(math.Abs(surprise(weights[i]) - expected)) }
		var order []int
		for i, w := range weights {
			if w > 0 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
		target, run, n := max(1, uint64(math.Ceil(float64(p.Typical)*float64(sum)))), uint64(0), 0
		for run < target {
			run += weights[order[n]]
			n++
		}
		for n < len(order) && distance(order[n]) == distance(order[n-1]) {
			n++
		}
		for _, i := range order[n:] {
			weights[i] = 0
		}
	}
	if exclude {
		sum, last := total(), uint64(math.MaxUint64)
		for _, w := range weights {
			if w > 0 && float64(w) >= float64(p.XTCThreshold)*float64(sum) {
				last = min(last, w)
			}
		}
		for i, w := range weights {
			if w > last {
				weights[i] = 0
			}
		}
	}
	return typical || exclude
}

// specNucleus is the beginning of order that top_p and then top_k keep.
func specNucleus(order []int, z []float32, m, scale float32, p Params) []int {
	var whole uint64
	for _, i := range order {
		whole += mass(z[i], m, scale)
	}
	order = slices.Clone(order)
	if p.TopP < 1 {
		sum, run := whole, uint64(0)
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
	return slices.DeleteFunc(order, func(i int) bool { return z[i] < specLeast(m, scale, whole, p) })
}

// specLeast is the smallest logit that min_p and top_a keep.
func specLeast(m, scale float32, sum uint64, p Params) float32 {
	share := float64(p.MinP)
	if p.TopA > 0 {
		share = max(share, float64(p.TopA)*(massOne/float64(sum)))
	}
	if share == 0 {
		return negInf
	}
	return float32(float64(m) + math.Log2(share)/float64(scale))
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
		if z[order[lo]] < specLeast(m, scale, sum, p) {
			return
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
		MinP:        pick(0, 0, 0, 1e-30, .02, .3, 1),
		TopA:        pick(0, 0, 0, .01, .2, 1),
		Typical:     pick(0, 0, 0, .2, .7, .95, 1),
		XTC:         pick(0, 0, 0, .5, 1),
		DRY:         pick(0, 0, .8, 50),
		DRYBase:     pick(1.75, 0, 1, 100),
		DRYLength:   rng.IntN(4),
		TopK:        []int{0, 0, 1, 2, 7, vocab / 2, vocab - 1, vocab, vocab * 2}[rng.IntN(9)],
		Presence:    pick(0, 0, .5, -3),
		Frequency:   pick(0, 0, .7, -1),
		Decay:       pick(1, .99, .5),
		Seed:        rng.Uint64(),
	}
	p.XTCThreshold = pick(.1, 0, .4, 1)
	for range rng.IntN(4) {
		p.Ban = append(p.Ban, int32(rng.IntN(vocab+3)))
	}
	for id := range min(vocab, 4) * max(0, rng.IntN(3)-1) {
		p.Bias = append(p.Bias, Bias{int32(id * 2), pick(-2, 3, 0, math.MaxFloat32)})
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
		s.Breaks = func(token int32) bool { return token%5 == 4 }
		for range rng.IntN(30) {
			s.Observe(int32(rng.IntN(min(vocab, 1+rng.IntN(8)*vocab)))) // often one of few
		}
		for step := range 4 {
			checkDraw(t, fmt.Sprintf("round %d step %d, %d logits, %+v", round, step, n, p), s, randomLogits(rng, n))
		}
	}
}

func checkDraw(t *testing.T, name string, s *Sampler, logits []float32) {
	t.Helper()
	known := logits[:min(len(logits), s.vocab)]
	weights := specWeights(known, s.Params(), s)
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
