package kernel

import "unsafe"

// A floatTile multiplies lanes of a panel with rows rows of x; see the
// generator for its contract.
type floatTile struct {
	rows, lanes int
	run         func(w *byte, x, y *float32, xstride, ystride, k, more int)
}

// A q8Tile is the same for int8 weights and activations.
type q8Tile struct {
	rows, lanes int
	run         func(w, ws *byte, xq *int8, xs *float32, xo *int32, y *float32, qstride, sstride, ystride, blocks int)
}

// tiles are the product kernels of a path, those for most rows first; the last
// takes one.
type tiles struct {
	f32, f16, bf16      []floatTile
	widenF16, widenBF16 func(dst *float32, src *byte, n int)
	q8                  []q8Tile
}

var tilesAVX512 = tiles{
	f32: []floatTile{
		{12, 32, tileF32x12AVX512},
		{8, 32, tileF32x8AVX512},
		{6, 32, tileF32x6AVX512},
		{4, 32, tileF32x4AVX512},
		{3, 32, tileF32x3AVX512},
		{2, 32, tileF32x2AVX512},
		{1, 32, tileF32x1AVX512},
	},
	f16: []floatTile{
		{12, 32, tileF16x12AVX512},
		{8, 32, tileF16x8AVX512},
		{6, 32, tileF16x6AVX512},
		{4, 32, tileF16x4AVX512},
		{3, 32, tileF16x3AVX512},
		{2, 32, tileF16x2AVX512},
		{1, 32, tileF16x1AVX512},
	},
	bf16: []floatTile{
		{12, 32, tileBF16x12AVX512},
		{8, 32, tileBF16x8AVX512},
		{6, 32, tileBF16x6AVX512},
		{4, 32, tileBF16x4AVX512},
		{3, 32, tileBF16x3AVX512},
		{2, 32, tileBF16x2AVX512},
		{1, 32, tileBF16x1AVX512},
	},
	widenF16: widenF16AVX512, widenBF16: widenBF16AVX512,
	q8: tilesAVX2.q8,
}

var tilesVNNI = tiles{
	f32: tilesAVX512.f32, f16: tilesAVX512.f16, bf16: tilesAVX512.bf16,
	widenF16: widenF16AVX512, widenBF16: widenBF16AVX512,
	q8: []q8Tile{
		{8, 32, tileQ8x8VNNI},
		{6, 32, tileQ8x6VNNI},
		{4, 32, tileQ8x4VNNI},
		{3, 32, tileQ8x3VNNI},
		{2, 32, tileQ8x2VNNI},
		{1, 32, tileQ8x1VNNI},
	},
}

var tilesAVX2 = tiles{
	f32: []floatTile{
		{6, 16, tileF32Halfx6AVX2},
		{4, 16, tileF32Halfx4AVX2},
		{3, 32, tileF32x3AVX2},
		{2, 32, tileF32x2AVX2},
		{1, 32, tileF32x1AVX2},
	},
	f16: []floatTile{
		{6, 16, tileF16Halfx6AVX2},
		{4, 16, tileF16Halfx4AVX2},
		{3, 32, tileF16x3AVX2},
		{2, 32, tileF16x2AVX2},
		{1, 32, tileF16x1AVX2},
	},
	bf16: []floatTile{
		{6, 16, tileBF16Halfx6AVX2},
		{4, 16, tileBF16Halfx4AVX2},
		{3, 32, tileBF16x3AVX2},
		{2, 32, tileBF16x2AVX2},
		{1, 32, tileBF16x1AVX2},
	},
	widenF16: widenF16AVX2, widenBF16: widenBF16AVX2,
	q8: []q8Tile{{4, 8, tileQ8x4AVX2}, {2, 16, tileQ8x2AVX2}, {1, 32, tileQ8x1AVX2}},
}

// product is the table entry.
func (t *tiles) product(m *Matrix, x, y *Batch, first, last int, scratch []float32) {
	if m.typ == Q8 {
		for p := first; p < last; p++ {
			t.panelQ8(m, x, y, p)
		}
		return
	}
	list, widen := t.float(m.typ)
	if x.rows >= blockedRows {
		t.blocked(m, x, y, first, last, widen, scratch)
		return
	}
	for p := first; p < last; p++ {
		tilePanel(list, &m.panel(p)[0], m.typ.laneBytes(), x, y, p, 0, m.depth)
	}
}

func (t *tiles) float(typ Type) (list []floatTile, widen func(dst *float32, src *byte, n int)) {
	switch typ {
	case F16:
		return t.f16, t.widenF16
	case BF16:
		return t.bf16, t.widenBF16
	default:
		return t.f32, nil
	}
}

// laneBytes is the size of a weight of a type that is not in blocks.
func (t Type) laneBytes() int {
	if t == F32 {
		return 4
	}
	return 2
}

// blocked takes a block of columns at a time through all panels: its weights
// are widened once, and its part of the activations stays in the L2 cache.
func (t *tiles) blocked(m *Matrix, x, y *Batch, first, last int, widen func(dst *float32, src *byte, n int), scratch []float32) {
	for k := 0; k < m.depth; k += blockCols {
		n := min(blockCols, m.depth-k)
		for p := first; p < last; p++ {
			w := &m.panel(p)[k*PanelRows*m.typ.laneBytes()]
			if widen != nil {
				widen(&scratch[0], w, n*PanelRows)
				w = (*byte)(unsafe.Pointer(&scratch[0]))
			}
			tilePanel(t.f32, w, 4, x, y, p, k, n)
		}
	}
}

// tilePanel applies n columns of panel p, from column k on, to all rows. w is
// their first weight.
func tilePanel(list []floatTile, w *byte, laneBytes int, x, y *Batch, p, k, n int) {
	for i := 0; i < x.rows; {
		for x.rows-i < list[0].rows {
			list = list[1:]
		}
		t := &list[0]
		for lane := 0; lane < PanelRows; lane += t.lanes {
			t.run((*byte)(unsafe.Add(unsafe.Pointer(w), lane*laneBytes)), &x.data[i*x.stride+k],
				&y.data[i*y.stride+p*PanelRows+lane], 4*x.stride, 4*y.stride, n, k)
		}
		i += t.rows
	}
}

// panelQ8 is one panel of int8 weights for all rows.
func (t *tiles) panelQ8(m *Matrix, x, y *Batch, p int) {
	panel, list := m.panel(p), t.q8
	for i := 0; i < x.rows; {
		for x.rows-i < list[0].rows {
			list = list[1:]
		}
		t := &list[0]
		for lane := 0; lane < PanelRows; lane += t.lanes {
			t.run(&panel[4*lane], &panel[BlockSize*PanelRows+2*lane], &x.quants[i*x.qstride], &x.scales[i*x.sstride], &x.offsets[i*x.sstride],
				&y.data[i*y.stride+p*PanelRows+lane], x.qstride, 4*x.sstride, 4*y.stride, m.depth/BlockSize)
		}
		i += t.rows
	}
}
