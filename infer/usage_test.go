package infer_test

import (
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/scripted"
)

// The first token comes with the prompt's last step: its time is not that of the rate,
// and an answer of one token has none.
func TestRateOfUsage(t *testing.T) {
	for _, c := range []struct {
		usage infer.Usage
		want  float64
	}{
		{infer.Usage{Generated: 1, DecodeTime: 27 * time.Microsecond}, 0},
		{infer.Usage{Generated: 2, DecodeTime: 100 * time.Millisecond}, 10},
		{infer.Usage{Generated: 11, DecodeTime: time.Second}, 10},
		{infer.Usage{Generated: 11}, 0},
	} {
		if got := c.usage.Rate(); got != c.want {
			t.Errorf("%+v: %g tokens a second, want %g", c.usage, got, c.want)
		}
	}
	e := start(t, scripted.Options{Before: scripted.Slow(10 * time.Millisecond)}, infer.Options{})
	one := run(t, e, infer.Request{Tokens: encode(e, "hello"), MaxTokens: 1, Sampling: lively(1)}).Usage
	if one.Rate() != 0 {
		t.Errorf("an answer of one token: %g tokens a second", one.Rate())
	}
	many := run(t, e, infer.Request{Tokens: encode(e, "hello"), MaxTokens: 5, Sampling: lively(1)}).Usage
	if many.Generated > 1 && many.Rate() > 105 {
		t.Errorf("steps of 10 ms: %g tokens a second", many.Rate())
	}
}
