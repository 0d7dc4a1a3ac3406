package sampler

import (
	"math"
	"testing"
)

// A token that would go on with a repetition loses what its length says, and
// others nothing.
func TestRepetitionsAreCharged(t *testing.T) {
	const a, b, c, d, stop = 1, 2, 3, 4, 5
	charged := func(p Params, answer ...int32) map[int32]float64 {
		p.Temperature, p.TopP, p.DRY = 1, 1, 0.5
		s := New(6, p)
		s.Breaks = func(token int32) bool { return token == stop }
		for _, token := range answer {
			s.Observe(token)
		}
		out := map[int32]float64{}
		top := s.Top(make([]float32, 6), 6)
		for _, e := range top {
			if loss := math.Log(float64(top[0].Prob)) - math.Log(float64(e.Prob)); loss > 1e-6 { // token 0 never loses anything
				out[e.Token] = math.Round(loss*1e4) / 1e4
			}
		}
		return out
	}
	for name, test := range map[string]struct {
		got, want map[int32]float64
	}{
		"a sequence of two":       {charged(Params{}, a, b, c, a, b), map[int32]float64{c: 0.5}},
		"one of three costs more": {charged(Params{}, a, b, c, d, a, b, c), map[int32]float64{d: 0.875}},
		"one token is free":       {charged(Params{}, a, b, c, a), map[int32]float64{}},
		"unless it is not":        {charged(Params{DRYLength: 1, DRYBase: 3}, a, b, c, a), map[int32]float64{b: 0.5}},
		"two ways to go on":       {charged(Params{}, a, b, c, a, b, d, a, b), map[int32]float64{c: 0.5, d: 0.5}},
		"a loop":                  {charged(Params{DRYBase: 2}, a, a, a, a), map[int32]float64{a: 1}},
		"a break ends it":         {charged(Params{DRYLength: 1}, a, stop, b, c, a, stop, b), map[int32]float64{c: 0.5}},
		"a break is free":         {charged(Params{}, a, b, stop, a, b), map[int32]float64{}},
	} {
		if len(test.got) != len(test.want) {
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
		for token, loss := range test.want {
			if test.got[token] != loss {
				t.Errorf("%s: %v, want %v", name, test.got, test.want)
			}
		}
	}
}
