package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// thin makes all but a share of the values of a batch zero, as relu² does.
func thin(b *Batch, rng *rand.Rand, density float64) {
	for i := range b.rows {
		for k := range b.Row(i) {
			if rng.Float64() >= density {
				b.Row(i)[k] = 0
			}
		}
	}
}

// Leaving out zeros changes no bit of the result.
func TestSparseIsMultiply(t *testing.T) {
	for _, path := range Available() {
		for _, typ := range allTypes {
			for _, n := range []int{1, 3, 9, 30} {
				for _, density := range []float64{0, 0.01, 0.1, 0.4, 1} {
					t.Run(fmt.Sprintf("%v/%v/n%d/density%g", path, typ, n, density), func(t *testing.T) {
						rng := rand.New(rand.NewPCG(uint64(n), 7))
						a := testArena(t)
						const rows = 107             // an odd number of panels
						cols := []int{352, 349}[n%2] // in more than a piece
						m := randomMatrix(t, a, rng, typ, rows, cols, 0.1)
						x := randomBatch(t, a, rng, n, cols, 1)
						thin(x, rng, density)
						for i := range n {
							path.Quantise(x, i, 0, cols)
						}
						pool := NewPool(path, 2)
						defer pool.Close()
						want, got := newBatch(t, a, n, rows), newBatch(t, a, n, rows)
						pool.Multiply(Product{W: m, X: x, Y: want})
						seen := make([]bool, rows)
						NewSparse(pool, n, cols).Multiply(Product{W: m, X: x, Y: got, Then: func(lo, hi int) {
							for r := lo; r < hi; r++ {
								seen[r] = true
							}
						}})
						for i := range n {
							if !slices.Equal(got.Row(i), want.Row(i)) {
								t.Errorf("row %d differs", i)
							}
						}
						if slices.Contains(seen, false) {
							t.Error("Then was not called for every output")
						}
					})
				}
			}
		}
	}
}

func TestSparseIsUsed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a := testArena(t)
	x := randomBatch(t, a, rng, 1, 3072, 1)
	thin(x, rng, 0.1)
	Best().Quantise(x, 0, 0, 3072)
	pool := NewPool(Best(), 1)
	defer pool.Close()
	s := NewSparse(pool, 1, 3072)
	m := randomMatrix(t, a, rng, F16, 32, 3072, 1)
	s.product = Product{W: m, X: x}
	if !s.list() {
		t.Error("the dense product is preferred where a tenth is not zero")
	}
	if n := s.rows[0].count; n < 3072/20 || n > 3072/6 {
		t.Errorf("%d columns of 3072 listed where a tenth is not zero", n)
	}
	y := newBatch(t, a, 1, 32)
	if read := s.Multiply(Product{W: m, X: x, Y: y}); read < m.Bytes()/20 || read > m.Bytes()/6 {
		t.Errorf("read %d bytes of %d where a tenth is not zero", read, m.Bytes())
	}
	q8 := randomMatrix(t, a, rng, Q8, 32, 3072, 1)
	if read := s.Multiply(Product{W: q8, X: x, Y: y}); read < q8.Bytes()/5 || read > q8.Bytes()/2 {
		t.Errorf("read %d bytes of %d in groups of which a third is not zero", read, q8.Bytes())
	}
	if !s.listGroups(x) || len(s.groups)/2 < 768/5 || len(s.groups)/2 > 768/2 {
		t.Errorf("%d groups of 768 listed where a tenth of the columns is not zero", len(s.groups)/2)
	}
}

// The product that Sparse is for: an FFN's second matrix at 0.1B.
func BenchmarkSparse(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, typ := range []Type{F16, Q8} {
		a := testArena(b)
		var ms []*Matrix // as many as layers, so that each comes from memory
		for range 12 {
			ms = append(ms, randomMatrix(b, a, rng, typ, 768, 3072, 0.1))
		}
		for _, n := range []int{1, 4, 8, 16, 24, 64, 512} {
			for _, density := range []float64{0.05, 0.1, 0.2, 1} {
				b.Run(fmt.Sprintf("%v/n%d/density%g", typ, n, density), func(b *testing.B) {
					x, y := randomBatch(b, a, rng, n, 3072, 1), newBatch(b, a, n, 768)
					thin(x, rng, density)
					for i := range n {
						Best().Quantise(x, i, 0, 3072)
					}
					pool := NewPool(Best(), 1)
					defer pool.Close()
					s := NewSparse(pool, n, 3072)
					i := 0
					for b.Loop() {
						s.Multiply(Product{W: ms[i%len(ms)], X: x, Y: y})
						i++
					}
				})
			}
		}
	}
}
