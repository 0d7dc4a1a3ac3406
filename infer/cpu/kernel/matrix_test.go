package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestHalfConversions(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := halfToFloat(h)
		if f != f {
			if back := floatToHalf(f); halfToFloat(back) == halfToFloat(back) {
				t.Fatalf("NaN %#04x becomes %#04x", h, back)
			}
			continue
		}
		if back := floatToHalf(f); back != h {
			t.Fatalf("%#04x is %g and becomes %#04x", h, f, back)
		}
		if h&0x7fff >= 0x7bff {
			continue
		}
		// halfway to the next: ties to even; a little more or less: to the nearer
		next := halfToFloat(h + 1)
		middle := float32((float64(f) + float64(next)) / 2)
		even := h + h&1
		away := math.Float32frombits(math.Float32bits(middle) + 1)
		toward := math.Float32frombits(math.Float32bits(middle) - 1)
		if got := floatToHalf(middle); got != even {
			t.Fatalf("%g is a tie of %#04x: became %#04x", middle, h, got)
		}
		if floatToHalf(away) != h+1 || floatToHalf(toward) != h {
			t.Fatalf("around %g: %#04x and %#04x", middle, floatToHalf(toward), floatToHalf(away))
		}
	}
	if floatToHalf(65520) != 0x7c00 || floatToHalf(-1e30) != 0xfc00 || floatToHalf(65519) != 0x7bff {
		t.Error("overflow does not round to infinity at 65520")
	}
}

func TestBfloatConversions(t *testing.T) {
	for i := range 1 << 16 {
		b := uint16(i)
		f := bfloatToFloat(b)
		if f == f && floatToBfloat(f) != b {
			t.Fatalf("%#04x is %g and becomes %#04x", b, f, floatToBfloat(f))
		}
	}
	for f, want := range map[float32]uint16{1.00390625: 0x3f80, 1.01171875: 0x3f82, 1.004: 0x3f81} {
		if got := floatToBfloat(f); got != want {
			t.Errorf("%g becomes %#04x, want %#04x", f, got, want)
		}
	}
	if f := bfloatToFloat(floatToBfloat(float32(math.NaN()))); f == f {
		t.Errorf("NaN becomes %g", f)
	}
}

func TestRowsReadBackAsStored(t *testing.T) {
	const cols = 96
	rng := rand.New(rand.NewPCG(3, 3))
	a := testArena(t)
	for _, rows := range []int{1, 31, 32, 33, 70} {
		for _, typ := range []Type{F32, F16, BF16} {
			m := randomMatrix(t, a, rng, typ, rows, cols, 1)
			want := make([][]float32, rows)
			for r := range want {
				want[r] = make([]float32, cols)
				bits := make([]uint16, cols)
				for k := range cols {
					bits[k] = uint16(rng.Uint32()) & 0xbfff // finite in both 16-bit types
					switch typ {
					case F32:
						want[r][k] = float32(rng.NormFloat64())
					case F16:
						want[r][k] = halfToFloat(bits[k])
					case BF16:
						want[r][k] = bfloatToFloat(bits[k])
					}
				}
				if typ == F32 {
					m.SetRow(r, want[r])
				} else {
					m.SetRowBits(r, bits)
				}
			}
			checkRows(t, m, want)
		}
	}
}

func checkRows(t *testing.T, m *Matrix, want [][]float32) {
	t.Helper()
	got := make([]float32, m.Cols())
	for r := range want {
		if m.Row(got, r); !slices.Equal(got, want[r]) {
			t.Fatalf("%v: row %d of %d is %v, want %v", m.Type(), r, m.Rows(), got, want[r])
		}
	}
}

func TestReadyBlocksAreKept(t *testing.T) {
	const rows, cols = 37, 64
	rng := rand.New(rand.NewPCG(4, 4))
	m, err := NewMatrix(testArena(t), Q8, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]float32, rows)
	for r := range want {
		quants, scales := make([]int8, cols), []uint16{uint16(rng.Uint32()) & 0x7bff, uint16(rng.Uint32()) & 0x7bff}
		want[r] = make([]float32, cols)
		for k := range quants {
			quants[k] = int8(rng.Uint32())
			want[r][k] = halfToFloat(scales[k/BlockSize]) * float32(quants[k])
		}
		m.SetRowBlocks(r, quants, scales)
	}
	checkRows(t, m, want)
}

func TestQuantisedWeightsAreWithinHalfAStep(t *testing.T) {
	const cols = 64
	rng := rand.New(rand.NewPCG(5, 5))
	m, err := NewMatrix(testArena(t), Q8, 1, cols)
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{1, 0.02, 1e-4, 1e-6, 1e-8, 1e4, 0} {
		src, got := normals(rng, cols, 0, scale), make([]float32, cols)
		m.SetRow(0, src)
		m.Row(got, 0)
		for k, v := range src {
			step := halfToFloat(q8Scales(m.panel(0), k/BlockSize)[0])
			if d := math.Abs(float64(got[k]) - float64(v)); d > 0.502*float64(step)+0x1p-25*127 {
				t.Errorf("scale %g: weight %g became %g with steps of %g", scale, v, got[k], step)
			}
		}
	}
	huge := slices.Repeat([]float32{3e38, -3e38}, cols/2)
	m.SetRow(0, huge)
	m.Row(huge, 0)
	if huge[0] != 127*65504 || huge[1] != -127*65504 {
		t.Errorf("weights beyond the range became %g and %g, want them saturated", huge[0], huge[1])
	}
}

func TestImpossibleSizesAreRefused(t *testing.T) {
	a := testArena(t)
	for _, c := range []struct {
		typ        Type
		rows, cols int
		want       string
	}{
		{F16, 0, 32, "not a possible size"},
		{F16, 32, -32, "not a possible size"},
		{Q8, 1 << 30, 32, "not a possible size"},
		{0, 32, 32, "unknown type"},
		{9, 32, 32, "unknown type"},
	} {
		if _, err := NewMatrix(a, c.typ, c.rows, c.cols); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("matrix %v %d x %d: %v, want %q", c.typ, c.rows, c.cols, err, c.want)
		}
	}
	if _, err := NewBatch(a, 0, 32, false); err == nil {
		t.Error("a batch of no rows was made")
	}
}

func TestMisuseOfProductsPanics(t *testing.T) {
	a := testArena(t)
	rng := rand.New(rand.NewPCG(1, 1))
	m := randomMatrix(t, a, rng, Q8, 32, 64, 1)
	x, y := newBatch(t, a, 2, 64), newBatch(t, a, 2, 32)
	plain, err := NewBatch(a, 2, 64, false)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(Go, 1)
	defer p.Close()
	for name, q := range map[string]Product{
		"wrong width": {W: m, X: y, Y: y}, "wrong result": {W: m, X: x, Y: x},
		"no int8 form": {W: m, X: plain, Y: y}, "too few rows": {W: m, X: x, Y: newBatch(t, a, 1, 32)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			p.Multiply(q)
		}()
	}
}

func TestArena(t *testing.T) {
	a := testArena(t)
	var sum int64
	for _, n := range []int{0, 1, 63, 64, 65, 4096, arenaRegion - 64, arenaRegion + 1, 100} {
		b, err := a.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != n || cap(b)%cacheLine != 0 {
			t.Fatalf("%d bytes: got %d of %d", n, len(b), cap(b))
		}
		if n > 0 && addressOf(b)%cacheLine != 0 {
			t.Errorf("%d bytes lie at %#x", n, addressOf(b))
		}
		for i := 0; i < n; i += 4096 {
			if b[i] != 0 {
				t.Fatalf("%d bytes: not zeroed", n)
			}
			b[i] = 1
		}
		sum += int64(cap(b))
	}
	if a.Used() != sum {
		t.Errorf("%d bytes used, want %d", a.Used(), sum)
	}
	if _, err := a.Alloc(-1); err == nil {
		t.Error("allocated -1 bytes")
	}
}

func TestPathNames(t *testing.T) {
	for _, p := range Available() {
		if got, err := ParsePath(p.String()); err != nil || got != p {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
	if _, err := ParsePath("mmx"); err == nil || !strings.Contains(err.Error(), Available()[0].String()) {
		t.Errorf("unknown path: %v", err)
	}
	if Best() != Available()[len(Available())-1] || Available()[0] != Go {
		t.Errorf("best is %v of %v", Best(), Available())
	}
}
