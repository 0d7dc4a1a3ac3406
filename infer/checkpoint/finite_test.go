package checkpoint

import (
	"math"
	"strings"
	"testing"
)

func TestCheckFinite(t *testing.T) {
	v := make([]float32, 1<<17)
	if err := opened(t, written(t, []Entry{floats("a", v, len(v))}, nil)).CheckFinite(); err != nil {
		t.Error(err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		v[1<<16+5] = float32(bad)
		err := opened(t, written(t, []Entry{floats("a", make([]float32, 3), 3), floats("b", v, len(v))}, nil)).CheckFinite()
		if err == nil || !strings.Contains(err.Error(), `tensor "b": value 65541 is `) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
