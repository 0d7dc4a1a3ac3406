package infer

import (
	"slices"
	"sync"

	"rookery/infer/sampler"
)

// combine makes the logits that the next token is drawn from.
func (q *sequence) combine() []float32 {
	m := q.mix
	if m == nil {
		return q.logits
	}
	sum := float64(m.weight)
	for _, v := range m.voices {
		sum += float64(v.Weight)
	}
	gate := func(w float32) float32 { return float32(float64(w) / sum) }
	setScaled(m.logits, q.logits, gate(m.weight))
	for k := range m.voices {
		if g := gate(m.voices[k].Weight); g != 0 {
			addScaled(m.logits, m.voices[k].logits, g)
		}
	}
	return m.logits
}

// lanes is how many elements a turn of the loops below has: without bounds
// checks between them they take half the time.
const lanes = 8

// setScaled sets dst = g·x.
func setScaled(dst, x []float32, g float32) {
	x = x[:len(dst)]
	for len(dst) >= lanes {
		d, z := (*[lanes]float32)(dst), (*[lanes]float32)(x)
		d[0] = g * z[0]
		d[1] = g * z[1]
		d[2] = g * z[2]
		d[3] = g * z[3]
		d[4] = g * z[4]
		d[5] = g * z[5]
		d[6] = g * z[6]
		d[7] = g * z[7]
		dst, x = dst[lanes:], x[lanes:]
	}
	for i := range dst {
		dst[i] = g * x[i]
	}
}

// addScaled sets dst += g·x.
func addScaled(dst, x []float32, g float32) {
	x = x[:len(dst)]
	for len(dst) >= lanes {
		d, z := (*[lanes]float32)(dst), (*[lanes]float32)(x)
		d[0] += g * z[0]
		d[1] += g * z[1]
		d[2] += g * z[2]
		d[3] += g * z[3]
		d[4] += g * z[4]
		d[5] += g * z[5]
		d[6] += g * z[6]
		d[7] += g * z[7]
		dst, x = dst[lanes:], x[lanes:]
	}
	for i := range dst {
		dst[i] += g * x[i]
	}
}

// weigh starts to sum up the softmax of each state, beside the drawing: the
// sums need no token. wait is called before share.
func (q *sequence) weigh() (wait func()) {
	m := q.mix
	if m == nil {
		return func() {}
	}
	n := len(q.logits)
	if v := q.answer.vocabulary; v != nil {
		n = min(v.Size(), n) // the others stand for no token
	}
	m.sums = slices.Grow(m.sums[:0], 1+len(m.voices))[:1+len(m.voices)]
	var work sync.WaitGroup
	work.Go(func() { m.sums[0] = sampler.LogSum(q.logits[:n]) })
	for k := range m.voices {
		work.Go(func() { m.sums[k+1] = sampler.LogSum(m.voices[k].logits[:n]) })
	}
	return work.Wait
}

// share notes what each state alone thought of a drawn token.
func (q *sequence) share(token int32) {
	m := q.mix
	if m == nil {
		return
	}
	m.shares = append(m.shares[:0], logShare(q.logits, token, m.sums[0]))
	for k := range m.voices {
		m.shares = append(m.shares, logShare(m.voices[k].logits, token, m.sums[k+1]))
	}
}

// logShare is the log-probability of a token of a softmax with this sum.
func logShare(logits []float32, token int32, sum float64) float32 {
	return float32(float64(logits[token]) - sum)
}
