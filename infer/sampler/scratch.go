package sampler

import "math"

// blockLen is how many tokens a block has. Blocks let most of the vocabulary
// be passed over: its best and its mass are known.
const blockLen = 64

var negInf = float32(math.Inf(-1))

// scratch is the working memory of one draw. Samplers borrow it, so that many
// of them cost little.
type scratch struct {
	z          []float32   // the logits, padded with -Inf to whole blocks
	weights    []float32   // of z, as sumMass last computed them
	best       []float32   // the largest z of each block
	mass       []uint64    // the mass of each block
	summed     summed      // what sumMass last did
	changed    []int32     // tokens whose z is not their raw logit
	reweighed  bool        // and there are others, which no list has
	candidates []candidate // in ascending order of ids
	copied     []candidate
	bins       histogram
}

// summed is what w.mass and w.weights were computed from, and their sum.
type summed struct {
	m, scale, theta float32
	sum             uint64 // 0 before anything was
}

// spare are scratches that nobody uses. A sync.Pool would lose them at every
// garbage collection; a megabyte is dear to make for a draw.
var spare = make(chan *scratch, 16)

func borrow() *scratch {
	select {
	case w := <-spare:
		return w
	default:
		return new(scratch)
	}
}

func (w *scratch) giveBack() {
	select {
	case spare <- w:
	default: // enough for as many threads as draw at once
	}
}

// load copies logits.
func (w *scratch) load(logits []float32) {
	blocks := (len(logits) + blockLen - 1) / blockLen
	if cap(w.z) < blocks*blockLen {
		w.z = make([]float32, blocks*blockLen)
		w.weights = make([]float32, blocks*blockLen)
		w.best = make([]float32, blocks)
		w.mass = make([]uint64, blocks)
	}
	w.z, w.weights = w.z[:blocks*blockLen], w.weights[:blocks*blockLen]
	w.best, w.mass = w.best[:blocks], w.mass[:blocks]
	w.summed = summed{}
	for i := copy(w.z, logits); i < len(w.z); i++ {
		w.z[i] = negInf
	}
}

// restrict takes the logits of tokens without a bit away. A word of the mask is a
// block.
func (w *scratch) restrict(allowed []uint64) {
	for i, word := range allowed[:min(len(allowed), len(w.z)/blockLen)] {
		if word == math.MaxUint64 {
			continue
		}
		block := w.z[i*blockLen:][:blockLen]
		if word == 0 {
			for j := range block {
				block[j] = negInf
			}
			continue
		}
		for j := range block {
			if word>>j&1 == 0 {
				block[j] = negInf
			}
		}
	}
}

// findBest fills w.best and returns the largest z. +Inf is made finite on the way.
func (w *scratch) findBest() float32 {
	blockMax(w.best, w.z)
	m := negInf
	for _, b := range w.best {
		m = max(m, b)
	}
	if m > math.MaxFloat32 {
		for i, z := range w.z {
			w.z[i] = tame(z)
		}
		blockMax(w.best, w.z)
		return math.MaxFloat32
	}
	return m
}

// tame is what a logit counts as: NaN as -Inf, +Inf as the largest float32.
func tame(z float32) float32 {
	switch {
	case z != z:
		return negInf
	case z > math.MaxFloat32:
		return math.MaxFloat32
	}
	return z
}

// sumMass fills w.mass and w.weights, where tokens with z < theta count for
// nothing, and returns the sum.
func (w *scratch) sumMass(m, scale, theta float32) uint64 {
	if s := w.summed; s.sum > 0 && s.m == m && s.scale == scale && s.theta == theta {
		return s.sum
	}
	blockMass(w.mass, w.weights, w.z, m, scale, theta)
	var sum uint64
	for _, b := range w.mass {
		sum += b
	}
	w.summed = summed{m, scale, theta, sum}
	return sum
}

// collect makes the candidates those with least <= z <= most.
func (w *scratch) collect(least, most float32) {
	w.candidates = w.candidates[:0]
	for b, best := range w.best {
		if !(best >= least) {
			continue
		}
		for i, z := range w.z[b*blockLen:][:blockLen] {
			if z >= least && z <= most {
				w.add(b*blockLen + i)
			}
		}
	}
}

func (w *scratch) add(id int) {
	w.candidates = append(w.candidates, candidate{keyOf(w.z[id]), int32(id), massOf(w.weights[id])})
}

// atLeast is a z that at least k tokens reach: the k-th best block's best.
func (w *scratch) atLeast(k int) float32 {
	if k > len(w.best) {
		return negInf
	}
	w.candidates = w.candidates[:0]
	for _, b := range w.best {
		w.candidates = append(w.candidates, candidate{key: keyOf(b)})
	}
	key, _ := cut(w.candidates, uint64(k), byCount)
	return zOf(key)
}
