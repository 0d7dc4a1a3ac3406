package panel

import (
	"math"
	"time"

	"rookery/infer"
)

// A sample is the engine at one moment.
type sample struct {
	at       time.Time
	stats    infer.Stats
	heap     int64  // of the Go program
	steps    uint64 // since the sample before
	requests []infer.RequestStats
}

// keepFor and keepMost bound the history: ten minutes at four samples a second.
const (
	keepFor  = 10 * time.Minute
	keepMost = 2400
)

// A history is a ring of samples, the oldest overwritten.
type history struct {
	ring []sample
	next int // where the next one goes, once the ring is full
}

func (h *history) push(s sample) {
	if prev, ok := h.latest(); ok && s.stats.Steps >= prev.stats.Steps {
		s.steps = s.stats.Steps - prev.stats.Steps
	}
	if len(h.ring) < keepMost {
		h.ring = append(h.ring, s)
		return
	}
	h.ring[h.next] = s
	h.next = (h.next + 1) % keepMost
}

func (h *history) len() int { return len(h.ring) }

// at is the i-th sample, the oldest first.
func (h *history) at(i int) *sample { return &h.ring[(h.next+i)%len(h.ring)] }

func (h *history) latest() (*sample, bool) {
	if len(h.ring) == 0 {
		return nil, false
	}
	return h.at(len(h.ring) - 1), true
}

// since calls f with the samples of the last span, the oldest first.
func (h *history) since(span time.Duration, f func(s *sample)) {
	end, ok := h.latest()
	if !ok {
		return
	}
	from := h.len()
	for from > 0 && end.at.Sub(h.at(from-1).at) < span {
		from--
	}
	for i := from; i < h.len(); i++ {
		f(h.at(i))
	}
}

// series are n means of a value over equal parts of the last span. Between two
// samples not far apart the value stands still; where there was nothing, it is
// not a number.
func (h *history) series(span time.Duration, n int, value func(s *sample) float64) []float64 {
	sums, counts := make([]float64, n), make([]int, n)
	end, ok := h.latest()
	if !ok || n == 0 {
		return sums[:0]
	}
	h.since(span, func(s *sample) {
		i := n - 1 - int(end.at.Sub(s.at)*time.Duration(n)/span)
		if v := value(s); i >= 0 && i < n && !math.IsNaN(v) {
			sums[i] += v
			counts[i]++
		}
	})
	bridge := max(1, int(maxPause*time.Duration(n)/span))
	lastAt := -1
	for i := range sums {
		switch {
		case counts[i] > 0:
			sums[i] /= float64(counts[i])
			lastAt = i
		case lastAt >= 0 && i-lastAt <= bridge:
			sums[i] = sums[lastAt]
		default:
			sums[i] = math.NaN()
		}
	}
	return sums
}

// maxPause is how far apart two samples may be with the value standing still.
const maxPause = 1500 * time.Millisecond
