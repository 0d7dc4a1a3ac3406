package infer

import "time"

// meterGrain is the least time that an interval of a meter covers. meterIntervals
// is how many intervals it keeps: more than a second of them.
const (
	meterGrain     = time.Second / 16
	meterIntervals = 32
)

// A meter measures a rate over the last second. It keeps counts over intervals of
// time, so that it is right for steps of a millisecond and for steps of ten
// seconds. The zero value is ready.
type meter struct {
	ring  [meterIntervals]interval
	n     int // intervals used
	last  int // index of the newest
	since time.Time
}

// A span is the time from start to end.
type span struct{ start, end time.Time }

type interval struct {
	span
	count int
}

// add adds a count over a span, which begins after all earlier ones.
func (m *meter) add(at span, count int) {
	if m.n == 0 {
		m.since = at.start
	} else if newest := &m.ring[m.last]; newest.end.Sub(newest.start) < meterGrain && at.start.Sub(newest.end) < meterGrain {
		newest.end = at.end
		newest.count += count
		return
	}
	if m.n < meterIntervals {
		m.n++
	}
	m.last = (m.last + 1) % meterIntervals
	m.ring[m.last] = interval{at, count}
}

// rate is the count per second over the second before now, or since the first
// count if that is shorter. An interval that lies partly in that second counts in
// part.
func (m *meter) rate(now time.Time) float64 {
	if m.n == 0 {
		return 0
	}
	from := now.Add(-time.Second)
	if m.since.After(from) {
		from = m.since
	}
	window := now.Sub(from).Seconds()
	if window <= 0 {
		return 0
	}
	var sum float64
	for i := range m.n {
		in := &m.ring[(m.last-i+meterIntervals)%meterIntervals]
		if !in.end.After(from) {
			break
		}
		inside := 1.0
		if in.start.Before(from) {
			inside = in.end.Sub(from).Seconds() / in.end.Sub(in.start).Seconds()
		}
		sum += inside * float64(in.count)
	}
	return sum / window
}

// reset forgets everything.
func (m *meter) reset() { *m = meter{} }
