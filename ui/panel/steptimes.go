package panel

import (
	"math"
	"time"
)

// stepTimes are how often steps took how long: equal parts of a logarithmic
// scale from least to most.
type stepTimes struct {
	counts      []float64
	least, most time.Duration
}

// stepTimes spreads the steps of the time shown over at most n bins. The
// engine tells the median of its latest steps, so each sample counts its own
// steps at their median.
func (m *Monitor) stepTimes(n int) stepTimes {
	var t stepTimes
	m.history.since(spans[m.span], func(s *sample) {
		if d := s.stats.StepP50; d > 0 && s.steps > 0 {
			if t.most == 0 || d < t.least {
				t.least = d
			}
			t.most = max(t.most, d)
		}
	})
	if t.most <= t.least {
		return stepTimes{}
	}
	t.counts = make([]float64, n)
	low, high := math.Log(float64(t.least)), math.Log(float64(t.most))
	m.history.since(spans[m.span], func(s *sample) {
		if d := s.stats.StepP50; d > 0 && s.steps > 0 {
			i := int((math.Log(float64(d))-low)/(high-low)*float64(n) + 1e-9) // rounding must not move a bound
			t.counts[min(max(i, 0), n-1)] += float64(s.steps)
		}
	})
	return t
}
