package infer

import (
	"errors"
	"slices"
)

var errNaN = errors.New("the model produced NaN: its weights may be damaged, or need a wider format than they were loaded in")

// draw draws from q.logits, and those of the other states of a mix, on the
// engine goroutine, as a backend would.
func (q *sequence) draw() (d Drawn, err error) {
	defer caught(&err, "sampling")
	if q.mix != nil {
		gates, states := q.gate()
		return q.mix.blend.Draw(q.sampler, gates, states, q.req.Top), nil
	}
	if q.req.Top > 0 {
		d.Top = q.sampler.Top(q.logits, q.req.Top)
	}
	d.Token, d.LogProb = q.sampler.Sample(q.logits)
	return d, nil
}

// hasNaN says whether any of v is not a number. It runs over a whole vocabulary
// for every token, and so looks at sums first: one with a NaN is NaN.
func hasNaN(v []float32) bool {
	for ; len(v) >= 8; v = v[8:] {
		w := v[:8]
		sum := ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]))
		if isNaN(sum) && slices.ContainsFunc(w, isNaN) { // infinities may sum up to NaN too
			return true
		}
	}
	return slices.ContainsFunc(v, isNaN)
}

func isNaN(x float32) bool { return x != x }
