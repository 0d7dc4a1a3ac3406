package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A linearCase is a LinearMix of random parameters and rows.
type linearCase struct {
	LinearMix
	rows   int
	states []float32 // [2 heads][size][size], canonical
}

// newLinearCase makes one of two heads; without a gate and with static decays, if
// asked for.
func newLinearCase(t testing.TB, seed uint64, rows, size int, static, ungated bool) *linearCase {
	rng := rand.New(rand.NewPCG(seed, 6))
	a, n := testArena(t), 2*size
	c := &linearCase{rows: rows, states: normals(rng, n*size, 0, 0.3)}
	vec := func(mean, scale float64) []float32 { return normals(rng, n, mean, scale) }
	batch := func() *Batch { return randomBatch(t, a, rng, rows, n, 1) }
	c.LinearMix = LinearMix{Size: size, U: vec(0.5, 0.5), NormWeight: vec(1, 0.1), NormBias: vec(0, 0.1), R: batch(), K: batch(), V: batch(), Y: batch()}
	if static {
		c.Decay = vec(0.9, 0.03)
	} else {
		c.W0, c.W = vec(-3, 2), batch()
	}
	if !ungated {
		c.G = batch()
	}
	return c
}

// want is LinearMix in float64, straight from the formulas.
func (c *linearCase) want(head int) (y [][]float64, s []float64) {
	n, lo := c.Size, head*c.Size
	s = make([]float64, n*n) // [value][key]
	for i := range s {
		s[i] = float64(c.states[head*n*n+i])
	}
	for t := range c.rows {
		col := func(b *Batch, i int) float64 { return float64(b.Row(t)[lo+i]) }
		out := make([]float64, n)
		var mean, sq float64
		for i := range n {
			for j := range n {
				var w float64
				if c.Decay != nil {
					w = float64(c.Decay[lo+j])
				} else {
					w = math.Exp(-math.Exp(float64(c.W0[lo+j]) + col(c.W, j)))
				}
				kv := col(c.K, j) * col(c.V, i)
				out[i] += col(c.R, j) * (float64(c.U[lo+j])*kv + s[i*n+j])
				s[i*n+j] = s[i*n+j]*w + kv
			}
			mean += out[i] / float64(n)
		}
		for i := range n {
			sq += (out[i] - mean) * (out[i] - mean) / float64(n)
		}
		for i := range n {
			out[i] = (out[i]-mean)/math.Sqrt(sq+GroupNormEps)*float64(c.NormWeight[lo+i]) + float64(c.NormBias[lo+i])
			if c.G != nil {
				out[i] *= col(c.G, i)
			}
		}
		y = append(y, out)
	}
	return y, s
}

func TestLinearMixMatchesTheFormulas(t *testing.T) {
	for _, path := range Available() {
		for _, size := range []int{8, 16, 24, 32, 64, 96, 128} {
			for _, rows := range []int{1, 2, 40} {
				t.Run(fmt.Sprintf("%v/size%d/rows%d", path, size, rows), func(t *testing.T) {
					c := newLinearCase(t, uint64(size), rows, size, rows == 2, size == 32)
					n := StateLen(size)
					for head := range 2 {
						want, wantState := c.want(head)
						state, back := make([]float32, n), make([]float32, n)
						StoreState(state, c.states[head*n:(head+1)*n], size)
						path.RunLinear(&c.LinearMix, head, 0, rows, state)
						LoadState(back, state, size)
						for i := range want {
							for j, w := range want[i] {
								if got := c.Y.Row(i)[head*size+j]; !(math.Abs(float64(got)-w) <= 1e-4*(1+math.Abs(w))) {
									t.Fatalf("head %d token %d value %d: %g, want %g", head, i, j, got, w)
								}
							}
						}
						for i, w := range wantState {
							if !(math.Abs(float64(back[i])-w) <= 1e-5*(1+math.Abs(w))) {
								t.Fatalf("head %d state %d: %g, want %g", head, i, back[i], w)
							}
						}
					}
				})
			}
		}
	}
}

// A chunk at a time or token by token, to the last bit.
func TestLinearChunks(t *testing.T) {
	const rows = 71
	for _, path := range Available() {
		for _, size := range []int{8, 32, 64} {
			run := func(step int) (y, state []float32) {
				c := newLinearCase(t, 3, rows, size, false, false)
				state = make([]float32, StateLen(size))
				StoreState(state, c.states[:len(state)], size)
				for at := 0; at < rows; at += step {
					path.RunLinear(&c.LinearMix, 0, at, min(at+step, rows), state)
				}
				return slices.Clone(c.Y.data), state
			}
			y, state := run(1)
			for _, step := range []int{2, 33, rows} {
				y2, state2 := run(step)
				if !slices.Equal(y, y2) || !slices.Equal(state, state2) {
					t.Errorf("%v, size %d: %d at a time differs from token by token", path, size, step)
				}
			}
		}
	}
}
