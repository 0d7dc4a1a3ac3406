package infer

import (
	"testing"
	"time"
)

func TestPaceFollowsTheDevice(t *testing.T) {
	tests := []struct {
		name         string
		perToken     time.Duration
		decode       time.Duration
		mixed, alone int
	}{
		{"fast", 20 * time.Microsecond, time.Millisecond, 2000, 10000},
		{"laptop", time.Millisecond, 6 * time.Millisecond, 32, 192},
		{"slow", 100 * time.Millisecond, 400 * time.Millisecond, quantum, quantum},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p pace
			for range 50 {
				p.observe(0, 3, tt.decode)
				p.observe(64, 3, tt.decode+64*tt.perToken)
				p.observe(128, 0, 128*tt.perToken)
			}
			if got := p.chunk(true); got != tt.mixed {
				t.Errorf("beside decoding rows: chunk %d, want %d", got, tt.mixed)
			}
			if got := p.chunk(false); got != tt.alone {
				t.Errorf("alone: chunk %d, want %d", got, tt.alone)
			}
		})
	}
}

func TestPaceBeforeAnythingIsKnown(t *testing.T) {
	var p pace
	if p.chunk(true) != mixedTokens || p.chunk(false) != aloneTokens {
		t.Errorf("chunks %d and %d", p.chunk(true), p.chunk(false))
	}
	p.observe(1, 0, time.Hour) // one token says nothing of a chunk
	if p.chunk(false) != aloneTokens {
		t.Errorf("chunk %d after a step of one token", p.chunk(false))
	}
	fixed := pace{fixed: 7}
	if fixed.chunk(true) != 7 || fixed.chunk(false) != 7 {
		t.Error("a fixed chunk was changed")
	}
}

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
