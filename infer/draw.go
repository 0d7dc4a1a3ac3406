package infer

import (
	"errors"
	"slices"
)

// ErrNaN ends a request when the model computes logits that are not numbers.
var ErrNaN = errors.New("the model produced NaN: its weights may be damaged, or need a wider format than they were loaded in")

// drawToken draws from q.logits, and in a mix those of all members, on the engine
// goroutine. It gives what a backend would.
func (q *sequence) drawToken() (d Drawn, err error) {
	defer caught(&err, "sampling")
	if q.mix != nil {
		gates, states := q.gateLogits()
		return q.mix.blend.Draw(q.sampler, gates, states, q.req.Top), nil
	}
	if q.req.Top > 0 {
		d.Top = q.sampler.Top(q.logits, q.req.Top)
	}
	d.Token, d.LogProb = q.sampler.Sample(q.logits)
	return d, nil
}

// hasNaN says whether any of v is not a number. It runs over a whole vocabulary for
// every token, so it looks at sums of eight first: a sum with a NaN is NaN.
func hasNaN(v []float32) bool {
	for ; len(v) >= 8; v = v[8:] {
		w := v[:8]
		sum := ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]))
		if isNaN(sum) && slices.ContainsFunc(w, isNaN) { // a sum of infinities can be NaN too
			return true
		}
	}
	return slices.ContainsFunc(v, isNaN)
}

func isNaN(x float32) bool { return x != x }
