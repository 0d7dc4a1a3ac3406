package infer

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	begin := time.Now()
	tests := []struct {
		name  string
		step  time.Duration
		steps int
		count int
		after time.Duration // the last step
		want  float64
	}{
		{"fast steps", time.Millisecond, 3000, 2, 0, 2000},
		{"shorter than a second", 10 * time.Millisecond, 50, 1, 0, 100},
		{"slow steps", 4 * time.Second, 3, 2, 0, 0.5},
		{"half a second ago", 10 * time.Millisecond, 200, 1, 500 * time.Millisecond, 50},
		{"long ago", 10 * time.Millisecond, 200, 1, time.Minute, 0},
		{"nothing", 0, 0, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m meter
			now := begin
			for range tt.steps {
				m.add(span{now, now.Add(tt.step)}, tt.count)
				now = now.Add(tt.step)
			}
			if got := m.rate(now.Add(tt.after)); got < tt.want*0.93 || got > tt.want*1.07 {
				t.Errorf("rate %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	sorted := make([]time.Duration, 100)
	for i := range sorted {
		sorted[i] = time.Duration(i + 1)
	}
	if p := percentile(sorted, 50); p != 50 {
		t.Errorf("p50 of 1 to 100 is %d", p)
	}
	if p := percentile(sorted, 95); p != 95 {
		t.Errorf("p95 of 1 to 100 is %d", p)
	}
	if p := percentile(sorted[:1], 95); p != 1 {
		t.Errorf("p95 of one value is %d", p)
	}
	if p := percentile(nil, 50); p != 0 {
		t.Errorf("p50 of nothing is %d", p)
	}
}

// In the first step of a request the rates are those of now, and not those that
// the last one ended with.
func TestRatesOfTheOneBefore(t *testing.T) {
	m := &monitor{snapshots: new(atomic.Int64)}
	end := time.Now().Add(-time.Hour)
	m.observeStep(&plan{rows: make([]Row, 1), draws: 100}, span{end.Add(-time.Second), end})
	m.observeQueue([]*sequence{{stream: &Stream{}}}, 0)
	if s := m.stats(time.Now()); s.DecodeRate != 0 || s.Rows != 1 {
		t.Errorf("%d rows, %.1f tokens a second", s.Rows, s.DecodeRate)
	}
}
