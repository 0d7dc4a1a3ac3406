package infer

import (
	"math"
	"testing"
)

func TestHasNaN(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for n := range 20 {
		v := make([]float32, n)
		if hasNaN(v) {
			t.Errorf("%d zeros have a NaN", n)
		}
		for i := range v {
			clear(v)
			v[i], v[n-1-i] = inf, -inf
			if hasNaN(v) {
				t.Errorf("%v has a NaN", v)
			}
			v[i] = nan
			if !hasNaN(v) {
				t.Errorf("%v has no NaN", v)
			}
		}
	}
}
