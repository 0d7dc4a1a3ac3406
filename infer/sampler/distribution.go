package sampler

import (
	"math"
	"math/bits"
)

// A distribution is what a draw draws from.
type distribution struct {
	*scratch         // after load, penalties and bans
	m        float32 // the largest z; -Inf if no token is left
	sum      uint64  // the mass of the untempered softmax
	scale    float32 // of the weights

	// Kept are the ids with z > theta, and of those with z == theta the ones
	// up to tieLast.
	theta   float32
	tieLast int32
	shared  bool   // those with z == theta have not their own mass but tieMass
	tieMass uint64 // see ModeRapid
	whole   bool   // all ids are kept, and the candidates are not used
	total   uint64 // the mass of the kept ids
}

// prepare makes the distribution of the next draw from logits, which are of
// tokens 0 to len(logits)-1. It needs effective parameters.
func (w *scratch) prepare(logits []float32, p Params, seen counts) distribution {
	w.load(logits)
	w.change(len(logits), p, seen)
	d := distribution{scratch: w, m: negInf, scale: softmaxScale, theta: negInf, tieLast: math.MaxInt32}
	if d.m = w.findBest(); d.m == negInf {
		return d
	}
	d.sum = w.sumMass(d.m, softmaxScale)
	switch {
	case p.greedy():
		d.keepFirst()
	case p.Mode == ModeRapid:
		d.scale = temperedScale(p.Temperature)
		d.truncateRapid(p)
	default:
		d.truncate(p, d.sum)
		d.scale = temperedScale(p.Temperature)
	}
	d.weigh()
	return d
}

// change applies penalties and bans to tokens below n, and notes each once.
func (w *scratch) change(n int, p Params, seen counts) {
	w.changed = w.changed[:0]
	if p.Presence == 0 && p.Frequency == 0 {
		seen = nil
	}
	for _, e := range seen {
		if int(e.Token) < n {
			w.z[e.Token] -= e.penalty(p)
			w.changed = append(w.changed, e.Token)
		}
	}
	for _, id := range p.Ban {
		if int(id) >= n {
			continue
		}
		w.z[id] = negInf
		if _, noted := seen.find(id); !noted {
			w.changed = append(w.changed, id)
		}
	}
}

// keepFirst keeps the likeliest token, the smallest id of several.
func (d *distribution) keepFirst() {
	d.theta = d.m
	d.collect(d.m, d.m, d.scale)
	d.tieLast = d.candidates[0].id
}

// truncate applies top_p and then top_k to the softmax with d.scale, whose
// mass is sum.
func (d *distribution) truncate(p Params, sum uint64) {
	keyP, keyK, k := d.cutoffs(p, sum)
	if d.whole {
		return
	}
	d.theta = zOf(max(keyP, keyK))
	if keyK < keyP || keyK == 0 {
		return
	}
	for i := range d.candidates {
		if c := &d.candidates[i]; c.key > keyK {
			k--
		}
	}
	for i := range d.candidates { // the first of the ties that still find a place
		if c := &d.candidates[i]; c.key == keyK {
			if k--; k == 0 {
				d.tieLast = c.id
				return
			}
		}
	}
}

// truncateRapid applies top_p and top_k as Rapid-Sampling does.
func (d *distribution) truncateRapid(p Params) {
	sum := d.sumMass(d.m, d.scale)
	keyP, keyK, k := d.cutoffs(p, sum)
	if d.whole {
		return
	}
	key := max(keyP, keyK)
	d.theta = zOf(key)
	var above, ties, places uint64
	for i := range d.candidates {
		switch c := &d.candidates[i]; {
		case c.key > key:
			above += c.mass
			places++
		case c.key == key:
			ties++
		}
	}
	own := mass(d.theta, d.m, d.scale)
	d.shared, d.tieMass = true, own
	if p.TopP < 1 {
		d.tieMass = min(d.tieMass, (targetMass(p.TopP, sum)-above)/ties)
	}
	if k > 0 {
		hi, lo := bits.Mul64(own, uint64(k)-places)
		share, _ := bits.Div64(hi, lo, ties)
		d.tieMass = min(d.tieMass, share)
	}
	if above == 0 {
		d.tieMass = max(d.tieMass, 1) // so that something is left to draw
	}
}

// cutoffs finds the keys at which top_p and top_k cut the softmax with
// d.scale, whose mass is sum; 0 for one that does not. It leaves at least the
// kept tokens as candidates, or sets d.whole. k is 0 when top_k is off.
func (d *distribution) cutoffs(p Params, sum uint64) (keyP, keyK uint32, k int) {
	if k = p.TopK; k >= len(d.z) {
		k = 0
	}
	switch {
	case k > 0:
		all := d.collect(d.atLeast(k), d.m, d.scale)
		keyK = cutCount(d.candidates, d.room(), k)
		if target := targetMass(p.TopP, sum); p.TopP < 1 && all >= target {
			keyP = cutMass(d.candidates, d.room(), target)
		}
	case p.TopP < 1:
		target := targetMass(p.TopP, sum)
		d.collectNucleus(p.TopP, sum, target)
		keyP = cutMass(d.candidates, d.room(), target)
	default:
		d.whole = true
	}
	return keyP, keyK, k
}

// targetMass is the mass that top_p asks for: at least that of one candidate.
func targetMass(topP float32, sum uint64) uint64 {
	return max(1, uint64(math.Ceil(float64(topP)*float64(sum))))
}

// collectNucleus makes candidates of the likeliest tokens down to some bound,
// with a mass of at least target. Tokens below (1-top_p)/V have together less
// than 1-top_p, so the others have enough; mostly a higher bound will do.
func (d *distribution) collectNucleus(topP float32, sum, target uint64) {
	for _, v := range [...]float64{256, 4096, 2 * float64(len(d.z))} {
		least := (1 - float64(topP)) / v * float64(sum) / massOne
		z := float64(d.m) + math.Log2(least)/float64(d.scale)
		if d.collect(min(float32(z), d.m), d.m, d.scale) >= target {
			return
		}
	}
	d.collect(negInf, d.m, d.scale)
}

// weigh leaves the kept tokens as candidates, with the weights of the draw.
func (d *distribution) weigh() {
	if d.whole {
		d.total = d.sum
		if d.scale != softmaxScale {
			d.total = d.sumMass(d.m, d.scale)
		}
		return
	}
	kept := d.candidates[:0]
	for _, c := range d.candidates {
		if c.mass = d.weight(c.id); c.mass > 0 {
			d.total += c.mass
			kept = append(kept, c)
		}
	}
	d.candidates = kept
}

// weight is the mass with which the draw can choose a token.
func (d *distribution) weight(id int32) uint64 {
	z := d.z[id]
	switch {
	case z > d.theta:
		return mass(z, d.m, d.scale)
	case z != d.theta || id > d.tieLast:
		return 0
	case d.shared:
		return d.tieMass
	}
	return mass(z, d.m, d.scale)
}

// draw chooses a token by a random word.
func (d *distribution) draw(r uint64) int32 {
	rest, _ := bits.Mul64(d.total, r)
	if d.whole {
		return d.drawWhole(rest)
	}
	for i := range d.candidates {
		c := &d.candidates[i]
		if rest < c.mass {
			return c.id
		}
		rest -= c.mass
	}
	return 0 // not reached: rest is less than the sum
}

// drawWhole finds the block first and then the token in it.
func (d *distribution) drawWhole(rest uint64) int32 {
	block := 0
	for rest >= d.mass[block] {
		rest -= d.mass[block]
		block++
	}
	id := block * blockLen
	for {
		q := mass(d.z[id], d.m, d.scale)
		if rest < q {
			return int32(id)
		}
		rest -= q
		id++
	}
}
