package sampler

import "math"

// logNormaliser is the natural logarithm of the sum of exp(logit), without
// penalties. It mostly comes from the distribution's own sum, in which only
// the changed tokens must be replaced.
func (d *distribution) logNormaliser(logits []float32) float64 {
	if d.reweighed {
		return LogSum(logits)
	}
	if len(d.changed) == 0 && d.sum > 0 {
		return float64(d.m) + math.Log(float64(d.sum)/massOne)
	}
	if sum, ok := d.unchangedSum(logits); ok {
		return float64(d.m) + math.Log(sum)
	}
	return logSum(logits)
}

// unchangedSum is the sum of exp(logit-m), with the raw logits of the changed
// tokens. It is not ok where the masses are too coarse for it: when the
// unchanged tokens are far less likely than the changed ones.
func (d *distribution) unchangedSum(logits []float32) (sum float64, ok bool) {
	rest := d.sum
	for _, id := range d.changed {
		rest -= mass(d.z[id], d.m, softmaxScale)
		if z := tame(logits[id]); z <= d.m {
			sum += float64(mass(z, d.m, softmaxScale)) / massOne
		} else {
			sum += math.Exp(float64(z) - float64(d.m))
		}
	}
	sum += float64(rest) / massOne
	return sum, sum > 1.0/256 && sum < 1e30
}

// LogProb is the log-probability of a token under the softmax of logits, as
// Sample returns it.
func LogProb(logits []float32, token int32) float32 {
	return float32(float64(tame(logits[token])) - LogSum(logits))
}

// LogSum is the logarithm of the sum of exp(logit): -Inf if no token is left.
func LogSum(logits []float32) float64 {
	w := borrow()
	defer w.giveBack()
	w.load(logits)
	w.changed, w.reweighed = w.changed[:0], false
	d := distribution{scratch: w}
	if d.m = w.findBest(); d.m == negInf {
		return math.Inf(-1)
	}
	d.sum = w.sumMass(d.m, softmaxScale, negInf)
	return d.logNormaliser(logits)
}

// logSum is the logarithm of the sum of exp(logit), by itself.
func logSum(logits []float32) float64 {
	m := math.Inf(-1)
	for _, z := range logits {
		m = max(m, float64(tame(z)))
	}
	if math.IsInf(m, -1) {
		return m
	}
	var sum float64
	for _, z := range logits {
		sum += math.Exp(float64(tame(z)) - m)
	}
	return m + math.Log(sum)
}
