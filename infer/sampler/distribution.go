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
	theta    float32
	tieLast  int32
	filtered bool   // a filter took some of them away
	shared   bool   // those with z == theta have not their own mass but tieMass
	tieMass  uint64 // see ModeRapid

	blocks bool   // the kept are in the blocks' masses, and not the candidates
	total  uint64 // the mass of the kept ids
}

// maxCandidates is up to how many kept tokens are listed. More are drawn from
// by blocks.
const maxCandidates = 2048

// prepare makes the distribution of the next draw from logits, which are of
// tokens 0 to len(logits)-1.
func (s *Sampler) prepare(w *scratch, logits []float32) distribution {
	s.settle()
	p := s.effective
	w.load(logits)
	w.reweighed = s.allowed != nil
	w.restrict(s.allowed)
	w.change(len(logits), p, s.counts)
	s.reweigh(w, len(logits))
	d := distribution{scratch: w, scale: softmaxScale, theta: negInf, tieLast: math.MaxInt32}
	if d.m = w.findBest(); d.m == negInf {
		return d
	}
	d.sum = w.sumMass(d.m, softmaxScale, negInf)
	switch {
	case p.greedy():
		d.keepFirst()
	case p.Mode == ModeRapid:
		d.scale = temperedScale(p.Temperature)
		many := d.truncateRapid(p)
		d.filter(p, s.chance())
		d.keep(many && !d.filtered)
	default:
		many := d.truncate(p)
		d.filter(p, s.chance())
		d.scale = temperedScale(p.Temperature)
		d.keep(many && !d.filtered)
	}
	return d
}

// chance is a random number from 0 to below 1 for what a draw decides besides
// the token, from a stream of its own.
func (s *Sampler) chance() float64 { return float64(Random(^s.params.Seed, s.draws)>>11) / (1 << 53) }

// reweigh applies DRY and biases to tokens below n.
func (s *Sampler) reweigh(w *scratch, n int) {
	p := s.effective
	for _, b := range p.Bias {
		if int(b.Token) < n {
			w.z[b.Token] += b.Add
			w.reweighed = true
		}
	}
	if p.DRY == 0 {
		return
	}
	for token, length := range s.repetitions() {
		if penalty := dryPenalty(p, length); penalty > 0 && int(token) < n {
			w.z[token] -= penalty
			w.reweighed = true
		}
	}
}

// change applies penalties and bans to tokens below n, and notes each once.
func (w *scratch) change(n int, p Params, seen counts) {
	w.changed = w.changed[:0]
	if p.Presence == 0 && p.Frequency == 0 {
		seen = counts{}
	}
	for i := range seen.tokens {
		if e := seen.at(i); int(e.Token) < n {
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
	d.collect(d.m, d.m)
	d.candidates = d.candidates[:1]
	d.tieLast = d.candidates[0].id
	d.total = d.candidates[0].mass
}

// keep gathers the kept tokens with the masses of the draw, as candidates or,
// if they are many, by blocks.
func (d *distribution) keep(many bool) {
	if d.blocks = many; many {
		d.keepBlocks()
		return
	}
	d.collect(d.theta, math.MaxFloat32)
	kept := d.candidates[:0]
	for _, c := range d.candidates {
		if c.mass = d.massOf(c.id); c.mass > 0 {
			d.total += c.mass
			kept = append(kept, c)
		}
	}
	d.candidates = kept
}

// keepBlocks lets the blocks' masses be those of their kept tokens.
func (d *distribution) keepBlocks() {
	d.total = d.sumMass(d.m, d.scale, d.theta)
	if !d.shared && d.tieLast == math.MaxInt32 {
		return
	}
	own := mass(d.theta, d.m, d.scale)
	d.collect(d.theta, d.theta)
	for _, c := range d.candidates {
		kept := d.massOf(c.id)
		d.mass[c.id/blockLen] += kept - own // modulo 2^64, as are all masses
		d.total += kept - own
	}
}

// massOf is the mass with which the draw can choose a token.
func (d *distribution) massOf(id int32) uint64 {
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
	if d.blocks {
		return d.drawBlocks(rest)
	}
	i := 0
	for rest >= d.candidates[i].mass { // ends, as rest is less than their sum
		rest -= d.candidates[i].mass
		i++
	}
	return d.candidates[i].id
}

// drawBlocks finds the block first and then the token in it.
func (d *distribution) drawBlocks(rest uint64) int32 {
	block := 0
	for rest >= d.mass[block] {
		rest -= d.mass[block]
		block++
	}
	id := int32(block * blockLen)
	for {
		q := d.massOf(id)
		if rest < q {
			return id
		}
		rest -= q
		id++
	}
}
