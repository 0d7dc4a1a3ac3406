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
