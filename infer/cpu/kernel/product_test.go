package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// reference is y = W·x for every row of x in float64, from the weights as
// stored and, for Q8, the activations as quantised. size is Σ|w·x|, which
// rounding errors are relative to.
func reference(m *Matrix, x *Batch) (y, size [][]float64) {
	var in [][]float64
	for i := range x.rows {
		y, size = append(y, make([]float64, m.rows)), append(size, make([]float64, m.rows))
		in = append(in, make([]float64, m.cols))
		for k, v := range x.Row(i) {
			in[i][k] = float64(v)
			if m.typ == Q8 {
				in[i][k] = float64(x.quants[i*x.qstride+k]) * float64(x.scales[i*x.sstride+k/BlockSize])
			}
		}
	}
	row := make([]float32, m.cols)
	for r := range m.rows {
		m.Row(row, r)
		for i, v := range in {
			var sum, magnitudes float64
			for k, w := range row {
				p := float64(w) * v[k]
				sum += p
				magnitudes += math.Abs(p)
			}
			y[i][r], size[i][r] = sum, magnitudes
		}
	}
	return y, size
}

var allTypes = []Type{F32, F16, BF16, Q8}

func randomMatrix(t testing.TB, a *Arena, rng *rand.Rand, typ Type, rows, cols int, scale float64) *Matrix {
	t.Helper()
	m, err := NewMatrix(a, typ, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, cols)
	for r := range rows {
		for k := range row {
			row[k] = float32(rng.NormFloat64() * scale)
		}
		m.SetRow(r, row)
	}
	return m
}

func randomBatch(t testing.TB, a *Arena, rng *rand.Rand, rows, cols int, scale float64) *Batch {
	t.Helper()
	b := newBatch(t, a, rows, cols)
	for i := range rows {
		for k := range b.Row(i) {
			b.Row(i)[k] = float32(rng.NormFloat64() * scale)
		}
	}
	return b
}

func newBatch(t testing.TB, a *Arena, rows, cols int) *Batch {
	t.Helper()
	b, err := NewBatch(a, rows, cols, true)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testArena(t testing.TB) *Arena {
	t.Helper()
	a := NewArena()
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestProductsMatchFloat64(t *testing.T) {
	shapes := []struct {
		rows, cols, n int
		scale         float64
	}{
		{1, 32, 1, 1},
		{31, 64, 2, 1},
		{32, 96, 3, 1},
		{33, 32, 5, 1},
		{100, 768, 1, 0.02},
		{65, 320, 7, 1},
		{64, 288, 15, 1},
		{64, 544, 16, 1},
		{97, 384, 40, 1},
		{40, 8192, 1, 0.01},
		{40, 800, 33, 1},
		{32, 64, 4, 1e-6},
		{32, 64, 4, 1e3},
		{70, 1056, 6, 0.05},
		{33, 1, 2, 1},
		{40, 33, 3, 1},
		{70, 300, 40, 0.05},
	}
	for _, typ := range allTypes {
		for _, s := range shapes {
			t.Run(fmt.Sprintf("%v/%dx%d/n%d/scale%g", typ, s.rows, s.cols, s.n, s.scale), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(s.rows), uint64(s.cols)))
				a := testArena(t)
				m := randomMatrix(t, a, rng, typ, s.rows, s.cols, s.scale)
				x := randomBatch(t, a, rng, s.n, s.cols, 1)
				y := newBatch(t, a, s.n, s.rows)
				for i := range s.n {
					Go.Quantise(x, i, 0, s.cols)
				}
				want, size := reference(m, x)
				for _, path := range Available() {
					clear(y.data)
					pool := NewPool(path, 1)
					pool.Multiply(Product{W: m, X: x, Y: y})
					pool.Close()
					for i := range s.n {
						for r, got := range y.Row(i) {
							if d := math.Abs(float64(got) - want[i][r]); !(d <= 2e-6*size[i][r]+1e-30) {
								t.Fatalf("%v, row %d output %d: %g, want %g (%.2g of the sum of magnitudes)", path, i, r, got, want[i][r], d/size[i][r])
							}
						}
					}
				}
			})
		}
	}
}

// TestPathsAgree: random shapes and extreme values. The assembly paths differ
// from plain Go by rounding only, and among themselves, which all use fused
// multiply-adds in the same order, not at all.
func TestPathsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	scales := []float64{1, 1, 1e-3, 1e-7, 1e-12, 1e-39, 1e4, 1e15}
	for i := range 60 {
		rows, cols, n := 1+rng.IntN(70), 1+rng.IntN(12*BlockSize), 1+rng.IntN(40)
		if i%10 == 0 {
			rows, cols, n = 1+rng.IntN(40), 8192, 1+rng.IntN(3)
		}
		typ := allTypes[i%len(allTypes)]
		a := testArena(t)
		ws, xs := scales[rng.IntN(len(scales)-1)], scales[rng.IntN(len(scales))]
		m, x := randomMatrix(t, a, rng, typ, rows, cols, ws), randomBatch(t, a, rng, n, cols, xs)
		var results []*Batch
		for _, path := range Available() {
			for i := range n {
				path.Quantise(x, i, 0, cols)
			}
			p := NewPool(path, 1)
			y := newBatch(t, a, n, rows)
			p.Multiply(Product{W: m, X: x, Y: y})
			p.Close()
			results = append(results, y)
		}
		_, size := reference(m, x)
		for at, y := range results[1:] {
			for i := range n {
				for r, v := range y.Row(i) {
					plain, first := results[0].Row(i)[r], results[1].Row(i)[r]
					if d := math.Abs(float64(v) - float64(plain)); !(d <= 2e-6*size[i][r]+1e-37) {
						t.Fatalf("%v %v %dx%d, row %d output %d: %g, plain Go has %g", Available()[at+1], typ, rows, cols, i, r, v, plain)
					}
					if v != first {
						t.Fatalf("%v %v %dx%d, row %d output %d: %g, %v has %g", Available()[at+1], typ, rows, cols, i, r, v, Available()[1], first)
					}
				}
			}
		}
	}
}

// TestRowsDoNotDependOnCompany: the same row alone, in batches of many
// widths, and with several threads, to the last bit.
func TestRowsDoNotDependOnCompany(t *testing.T) {
	const rows, cols, most = 75, 800, 40
	for _, path := range Available() {
		for _, typ := range allTypes {
			t.Run(fmt.Sprintf("%v/%v", path, typ), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(7, uint64(typ)))
				a := testArena(t)
				m := randomMatrix(t, a, rng, typ, rows, cols, 0.05)
				x := randomBatch(t, a, rng, most, cols, 1)
				for i := range most {
					path.Quantise(x, i, 0, cols)
				}
				alone := NewPool(path, 1)
				defer alone.Close()
				three := NewPool(path, 3)
				defer three.Close()

				single, one := newBatch(t, a, 1, cols), newBatch(t, a, 1, rows)
				want := make([][]float32, most)
				for i := range most {
					copy(single.Row(0), x.Row(i))
					path.Quantise(single, 0, 0, cols)
					alone.Multiply(Product{W: m, X: single, Y: one})
					want[i] = slices.Clone(one.Row(0))
				}
				y := newBatch(t, a, most, rows)
				for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 29, 38, most} {
					x.Resize(n)
					for _, pool := range []*Pool{alone, three} {
						clear(y.data)
						pool.Multiply(Product{W: m, X: x, Y: y})
						for i := range n {
							if !slices.Equal(y.Row(i), want[i]) {
								t.Fatalf("row %d of %d, %d threads: differs from the row alone", i, n, pool.Threads())
							}
						}
					}
				}
			})
		}
	}
}
