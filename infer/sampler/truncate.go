package sampler

import (
	"math"
	"math/bits"
)

// A cutoff is where a truncation cuts: at the tokens with a key, of which rest
// (a count or a mass) still finds a place. The zero cutoff cuts nothing.
type cutoff struct {
	key  uint32
	rest uint64
}

// truncate applies top_p, top_k and min_p to the untempered softmax. It says
// whether many tokens are kept.
func (d *distribution) truncate(p Params) (many bool) {
	byP, byK := d.cutoffs(p, d.sum)
	key := max(byP.key, byK.key)
	if least := d.leastKey(p, d.sum); least > key {
		return d.keepFrom(least, key == 0)
	}
	if key == 0 {
		return true
	}
	d.theta = zOf(key)
	if byK.key != 0 && byK.key >= byP.key {
		d.collect(d.theta, d.theta)
		d.tieLast = d.candidates[byK.rest-1].id
	}
	return d.bins.upTo(d.theta) > maxCandidates
}

// leastKey is the smallest key that min_p and top_a keep in the softmax with
// d.scale and this sum; 0 if they keep all.
func (d *distribution) leastKey(p Params, sum uint64) uint32 {
	least := float64(p.MinP)
	if p.TopA > 0 { // a*pmax^2 of pmax, which is massOne of sum
		least = max(least, float64(p.TopA)*(massOne/float64(sum)))
	}
	if least == 0 {
		return 0
	}
	z := float32(float64(d.m) + math.Log2(least)/float64(d.scale))
	return keyOf(max(z, -math.MaxFloat32))
}

// keepFrom keeps all tokens from a key up. Fresh says that no bins are filled.
func (d *distribution) keepFrom(key uint32, fresh bool) (many bool) {
	d.theta = zOf(key)
	if fresh {
		d.fill(d.theta, d.m, d.scale)
	}
	return d.bins.upTo(d.theta) > maxCandidates
}

// truncateRapid applies top_p and top_k as Rapid-Sampling does, and min_p, all
// to the softmax with d.scale. It says whether many tokens are kept.
func (d *distribution) truncateRapid(p Params) (many bool) {
	sum := d.sumMass(d.m, d.scale, negInf)
	byP, byK := d.cutoffs(p, sum)
	key := max(byP.key, byK.key)
	if least := d.leastKey(p, sum); least > key {
		return d.keepFrom(least, key == 0)
	}
	if key == 0 {
		return true
	}
	d.theta = zOf(key)
	d.collect(d.theta, d.theta)
	ties, own := uint64(len(d.candidates)), mass(d.theta, d.m, d.scale)
	d.shared, d.tieMass = true, own
	if byP.key == key {
		d.tieMass = min(d.tieMass, byP.rest/ties)
	}
	if byK.key == key {
		hi, lo := bits.Mul64(own, byK.rest)
		share, _ := bits.Div64(hi, lo, ties)
		d.tieMass = min(d.tieMass, share)
	}
	if d.theta == d.m {
		d.tieMass = max(d.tieMass, 1) // nothing else is kept
	}
	return d.bins.upTo(d.theta) > maxCandidates
}

// cutoffs finds where top_p and top_k cut the softmax with d.scale, of which
// sumMass has said the sum. top_k may leave that of top_p zero if it is the
// stricter one.
func (d *distribution) cutoffs(p Params, sum uint64) (byP, byK cutoff) {
	target := max(1, uint64(math.Ceil(float64(p.TopP)*float64(sum))))
	switch {
	case p.TopK > 0 && p.TopK < len(d.z):
		filled := d.fill(d.atLeast(p.TopK), d.m, d.scale)
		byK.key, byK.rest = d.cutBins(uint64(p.TopK), byCount)
		if p.TopP < 1 && filled >= target {
			byP.key, byP.rest = d.cutBins(target, byMass)
		}
	case p.TopP < 1:
		d.fillNucleus(p.TopP, sum, target)
		byP.key, byP.rest = d.cutBins(target, byMass)
	}
	return byP, byK
}

// fillNucleus fills the bins with the likeliest tokens, of a mass of at least
// target. Mostly those above a bound will do, which are few: if there are not
// tailTokens of them below it, the ones below have less than 1-top_p together.
func (d *distribution) fillNucleus(topP float32, sum, target uint64) {
	const tailTokens = 512
	bound := (1 - float64(topP)) / tailTokens * float64(sum) / massOne
	z := float64(d.m) + math.Log2(bound)/float64(d.scale)
	if d.fill(min(float32(z), d.m), d.m, d.scale) < target {
		d.fill(negInf, d.m, d.scale)
	}
}
