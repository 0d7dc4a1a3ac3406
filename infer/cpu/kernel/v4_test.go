package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The recurrence against its definition, a quotient of two sums of exponentials, in
// numbers of any size: keys of 200 would overflow floats without the exponent.
func TestChannelsMatchTheDefinition(t *testing.T) {
	for _, path := range Available() {
		for _, scale := range []float64{1, 60} {
			t.Run(fmt.Sprintf("%v/scale%g", path, scale), func(t *testing.T) {
				const rows, n = 12, 70
				rng := rand.New(rand.NewPCG(4, 4))
				a := testArena(t)
				c := ChannelWKV{
					First: normals(rng, n, 0, 1), Fade: normals(rng, n, -1, 0.2), Work: make([]float32, 4*n),
					R: randomBatch(t, a, rng, rows, n, 1), K: randomBatch(t, a, rng, rows, n, scale), V: randomBatch(t, a, rng, rows, n, 1), Y: newBatch(t, a, rows, n),
					Sum: make([]float32, n), Weight: make([]float32, n), Exponent: make([]float32, n),
				}
				for lo := 0; lo < n; lo += 64 { // in two parts, and cut in time
					path.RunChannels(&c, lo, min(lo+64, n), 0, 5)
					path.RunChannels(&c, lo, min(lo+64, n), 5, rows)
				}
				for i := range n {
					for row := range rows {
						want := float64(c.R.Row(row)[i]) * definition(&c, i, row)
						if got := float64(c.Y.Row(row)[i]); !(math.Abs(got-want) <= 3e-5*(1+math.Abs(want))) {
							t.Fatalf("channel %d token %d: %g, want %g", i, row, got, want)
						}
					}
				}
			})
		}
	}
}

// definition is Σ e^weight v / Σ e^weight over the tokens up to row: the newest has the
// weight First+k, one that is d tokens older k + (d-1)·Fade.
func definition(c *ChannelWKV, i, row int) float64 {
	top, bottom := new(big.Float), new(big.Float)
	for t := range row + 1 {
		k := float64(c.K.Row(t)[i])
		if t == row {
			k += float64(c.First[i])
		} else {
			k += float64(row-t-1) * float64(c.Fade[i])
		}
		whole := math.Round(k / math.Ln2)
		e := new(big.Float).SetMantExp(big.NewFloat(math.Exp(k-whole*math.Ln2)), int(whole))
		bottom.Add(bottom, e)
		top.Add(top, e.Mul(e, big.NewFloat(float64(c.V.Row(t)[i]))))
	}
	out, _ := top.Quo(top, bottom).Float64()
	return out
}
