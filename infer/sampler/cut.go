package sampler

import "math"

// A candidate is a token that truncation looks at.
type candidate struct {
	key  uint32 // orders like z, see keyOf
	id   int32
	mass uint64
}

// A measure is what a cut adds up over candidates.
type measure uint8

const (
	byMass measure = iota
	byCount
)

// keyOf maps floats to integers of the same order. -0 and +0 are one.
func keyOf(z float32) uint32 {
	b := math.Float32bits(z + 0)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

// zOf is the inverse of keyOf.
func zOf(key uint32) float32 {
	if key>>31 == 1 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}

// cut finds a weighted quantile: the largest key such that the candidates with
// it or a larger one measure at least target, and what remains of target after
// those with a larger one. The candidates measure at least target together.
// They are overwritten.
//
// It is a radix selection: of each 8-bit digit of the key, from the highest, it
// finds the value at which the sum, from the largest, reaches the target.
func cut(c []candidate, target uint64, by measure) (key uint32, rest uint64) {
	for shift := 24; shift >= 0; shift -= 8 {
		var sums [256]uint64
		for i := range c {
			add := c[i].mass
			if by == byCount {
				add = 1
			}
			sums[c[i].key>>shift&255] += add
		}
		digit := uint32(255)
		for ; digit > 0 && sums[digit] < target; digit-- {
			target -= sums[digit]
		}
		key |= digit << shift
		kept := c[:0]
		for i := range c {
			if c[i].key>>shift&255 == digit {
				kept = append(kept, c[i])
			}
		}
		c = kept
	}
	return key, target
}

// binCount is how many bins a histogram has.
const binCount = 1024

// A histogram adds up tokens by z, the largest in bin 0, so that a cut has to
// look only at one bin.
type histogram struct {
	sums   [binCount]uint64 // mass
	counts [binCount]uint64
	m, res float32
	least  float32 // smaller z are in no bin
}

// of is the bin of a z that is at least h.least. It never falls as z falls.
func (h *histogram) of(z float32) int {
	if f := float32(h.m-z) * h.res; f < binCount-1 {
		return int(f)
	}
	return binCount - 1
}

// fill puts tokens with z >= least into bins, and returns their mass. Weights
// are for m and scale, by sumMass.
func (w *scratch) fill(least, m, scale float32) uint64 {
	h := &w.bins
	clear(h.sums[:])
	clear(h.counts[:])
	h.m, h.least = m, least
	h.res = (binCount - 1) / min(m-least, (massBits+1)/scale) // below, the mass is 0
	var sum uint64
	for b, best := range w.best {
		if !(best >= least) {
			continue
		}
		weights := w.weights[b*blockLen:][:blockLen]
		for i, z := range w.z[b*blockLen:][:blockLen] {
			if z >= least {
				bin, q := h.of(z), massOf(weights[i])
				h.sums[bin] += q
				h.counts[bin]++
				sum += q
			}
		}
	}
	return sum
}

// cutBins is cut for all tokens in bins. It overwrites the candidates.
func (w *scratch) cutBins(target uint64, by measure) (key uint32, rest uint64) {
	h := &w.bins
	sums := &h.sums
	if by == byCount {
		sums = &h.counts
	}
	bin := 0
	for ; bin < binCount-1 && sums[bin] < target; bin++ {
		target -= sums[bin]
	}
	w.candidates = w.candidates[:0]
	for b, best := range w.best {
		if !(best >= h.least) || h.of(best) > bin {
			continue
		}
		for i, z := range w.z[b*blockLen:][:blockLen] {
			if z >= h.least && h.of(z) == bin {
				w.add(b*blockLen + i)
			}
		}
	}
	return cut(w.candidates, target, by)
}

// upTo is how many tokens are in bins up to that of z.
func (h *histogram) upTo(z float32) (n uint64) {
	for _, c := range h.counts[:h.of(z)+1] {
		n += c
	}
	return n
}
