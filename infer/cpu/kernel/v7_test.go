package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A mixCase is a TimeMix of random parameters and rows.
type mixCase struct {
	TimeMix
	rows, heads int
	states      []float32 // [heads][size][size], canonical
}

func newMixCase(t testing.TB, seed uint64, rows, heads, size int, layer0 bool) *mixCase {
	rng := rand.New(rand.NewPCG(seed, 9))
	a, n := testArena(t), heads*size
	c := &mixCase{rows: rows, heads: heads, states: normals(rng, heads*size*size, 0, 0.3)}
	vec := func(mean, scale float64) []float32 { return normals(rng, n, mean, scale) }
	c.TimeMix = TimeMix{
		Size: size, W0: vec(-2, 1), A0: vec(-1, 1), KK: vec(0.8, 0.1), KA: vec(1, 0.1), RK: vec(0, 0.1),
		NormWeight: vec(1, 0.1), NormBias: vec(0, 0.1),
	}
	for _, b := range []**Batch{&c.R, &c.K, &c.V, &c.W, &c.A, &c.G, &c.B, &c.Y} {
		*b = randomBatch(t, a, rng, rows, n, 1)
	}
	if !layer0 {
		c.V0, c.VGate, c.VFirst = vec(0, 1), randomBatch(t, a, rng, rows, n, 1), randomBatch(t, a, rng, rows, n, 1)
	}
	return c
}

// want is TimeMix in float64, straight from the formulas.
func (c *mixCase) want(head int) (y [][]float64, state []float64) {
	n, lo := c.Size, head*c.Size
	sigma := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	s := make([]float64, n*n) // [value][key]
	for i := range s {
		s[i] = float64(c.states[head*n*n+i])
	}
	for t := range c.rows {
		col := func(b *Batch) []float32 { return b.Row(t)[lo : lo+n] }
		r, k, v, w, a, hat := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		var norm, bonus float64
		for i := range n {
			r[i], v[i] = float64(col(c.R)[i]), float64(col(c.V)[i])
			w[i] = math.Exp(-math.Exp(-0.5) * sigma(float64(c.W0[lo+i])+float64(col(c.W)[i])))
			a[i] = sigma(float64(c.A0[lo+i]) + float64(col(c.A)[i]))
			if c.VGate != nil {
				v[i] += (float64(col(c.VFirst)[i]) - v[i]) * sigma(float64(c.V0[lo+i])+float64(col(c.VGate)[i]))
			}
			raw := float64(col(c.K)[i])
			hat[i] = raw * float64(c.KK[lo+i])
			norm += hat[i] * hat[i]
			k[i] = raw * (1 + (a[i]-1)*float64(c.KA[lo+i]))
			bonus += r[i] * k[i] * float64(c.RK[lo+i])
		}
		out := make([]float64, n)
		var mean, sq float64
		for i := range n {
			var sa float64
			for j := range n {
				sa -= s[i*n+j] * hat[j] / math.Sqrt(norm)
			}
			for j := range n {
				s[i*n+j] = s[i*n+j]*w[j] + sa*hat[j]/math.Sqrt(norm)*a[j] + v[i]*k[j]
				out[i] += s[i*n+j] * r[j]
			}
			mean += out[i] / float64(n)
		}
		for i := range n {
			sq += (out[i] - mean) * (out[i] - mean) / float64(n)
		}
		for i := range n {
			out[i] = (out[i]-mean)/math.Sqrt(sq+GroupNormEps)*float64(c.NormWeight[lo+i]) + float64(c.NormBias[lo+i])
			out[i] = (out[i] + bonus*v[i]) * float64(col(c.G)[i])
		}
		y = append(y, out)
	}
	return y, s
}

func TestTimeMixMatchesTheFormulas(t *testing.T) {
	for _, path := range Available() {
		for _, size := range []int{8, 16, 24, 32, 64, 128} {
			for _, rows := range []int{1, 2, 5, 40} {
				t.Run(fmt.Sprintf("%v/size%d/rows%d", path, size, rows), func(t *testing.T) {
					c := newMixCase(t, uint64(size), rows, 2, size, rows == 2)
					for head := range c.heads {
						want, wantState := c.want(head)
						n := StateLen(size)
						state, back := make([]float32, n), make([]float32, n)
						StoreState(state, c.states[head*n:(head+1)*n], size)
						path.RunHead(&c.TimeMix, head, 0, rows, state)
						LoadState(back, state, size)
						for i := range want {
							for j, w := range want[i] {
								if got := c.Y.Row(i)[head*size+j]; !(math.Abs(float64(got)-w) <= 2e-4*(1+math.Abs(w))) {
									t.Fatalf("head %d token %d value %d: %g, want %g", head, i, j, got, w)
								}
							}
						}
						for i, w := range wantState {
							if !(math.Abs(float64(back[i])-w) <= 2e-5*(1+math.Abs(w))) {
								t.Fatalf("head %d state %d: %g, want %g", head, i, back[i], w)
							}
						}
					}
				})
			}
		}
	}
}

// TestChunksOfAPrompt: a chunk at a time or token by token, to the last bit.
func TestChunksOfAPrompt(t *testing.T) {
	const rows, size = 71, 64
	for _, path := range Available() {
		run := func(cuts []int) (y, state []float32) {
			c := newMixCase(t, 3, rows, 1, size, false)
			state = make([]float32, StateLen(size))
			StoreState(state, c.states, size)
			for i := 1; i < len(cuts); i++ {
				path.RunHead(&c.TimeMix, 0, cuts[i-1], cuts[i], state)
			}
			return slices.Clone(c.Y.data), state
		}
		one := []int{}
		for i := range rows + 1 {
			one = append(one, i)
		}
		y, state := run(one)
		for _, cuts := range [][]int{{0, rows}, {0, 1, 32, 33, rows}, {0, 64, rows}} {
			y2, state2 := run(cuts)
			if !slices.Equal(y, y2) || !slices.Equal(state, state2) {
				t.Errorf("%v: cut at %v differs from token by token", path, cuts)
			}
		}
	}
}

func TestStateLayoutIsExact(t *testing.T) {
	for _, size := range []int{1, 7, 8, 64} {
		src := normals(rand.New(rand.NewPCG(1, 2)), size*size, 0, 1)
		packed, back := make([]float32, len(src)), make([]float32, len(src))
		StoreState(packed, src, size)
		LoadState(back, packed, size)
		if !slices.Equal(src, back) {
			t.Errorf("size %d: not the same after a round trip", size)
		}
		if size > 1 && packed[1] != src[size] {
			t.Errorf("size %d: key 0 value 1 is %g, want %g", size, packed[1], src[size])
		}
	}
}
