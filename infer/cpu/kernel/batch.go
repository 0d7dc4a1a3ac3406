package kernel

import "fmt"

// A Batch is up to a fixed number of rows of activations, all of one width,
// and optionally their quantised form. Buffers stay put: a Batch is made once
// and used for every step.
type Batch struct {
	rows, cap, cols int
	stride          int // float32 between rows
	data            []float32
	qstride         int       // int8 between rows; 0 if there is no quantised form
	sstride         int       // scales between rows
	quants          []int8    // [cap][qstride]
	scales          []float32 // [cap][sstride], one for a block of 32
	offsets         []int32   // [cap][sstride], -128 times the sum of the block's quants
}

// NewBatch makes a batch of rows rows and cols columns. quantised asks for
// room for the int8 form. Used as the result of a product, cols is the matrix's
// Rows. What lies between cols and the next multiple of BlockSize stays zero:
// products read it.
func NewBatch(a *Arena, rows, cols int, quantised bool) (*Batch, error) {
	if rows <= 0 || cols <= 0 || rows > maxDim || cols > maxDim {
		return nil, fmt.Errorf("activations: %d x %d is not a possible size", rows, cols)
	}
	b := &Batch{rows: rows, cap: rows, cols: cols}
	b.stride = padded(cols, PanelRows) + cacheLine/4
	var err error
	if b.data, err = a.Floats(rows * b.stride); err != nil {
		return nil, fmt.Errorf("activations %d x %d: %w", rows, cols, err)
	}
	if !quantised {
		return b, nil
	}
	b.qstride = padded(cols, cacheLine) + cacheLine
	b.sstride = padded(padded(cols, BlockSize)/BlockSize, cacheLine/4) + cacheLine/4
	raw, err := a.Alloc(rows * (b.qstride + 8*b.sstride))
	if err != nil {
		return nil, fmt.Errorf("quantised activations %d x %d: %w", rows, cols, err)
	}
	q, s := rows*b.qstride, 4*rows*b.sstride
	b.quants = int8sOf(raw[:q])
	b.scales = floatsOf(raw[q : q+s])
	b.offsets = int32sOf(raw[q+s:])
	return b, nil
}

func padded(n, unit int) int { return (n + unit - 1) / unit * unit }

// Resize sets the number of rows in use, at most Cap. Contents stay.
func (b *Batch) Resize(rows int) {
	if rows < 0 || rows > b.cap {
		panic(fmt.Sprintf("kernel: %d rows in a batch for %d", rows, b.cap))
	}
	b.rows = rows
}

// Window makes w rows first to last of b and its first cols columns. They
// share memory; w belongs to the caller and may be used again and again.
func (b *Batch) Window(w *Batch, first, last, cols int) *Batch {
	if first < 0 || last < first || last > b.cap || cols < 1 || cols > b.cols {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d columns in a batch of %d x %d", first, last, cols, b.cap, b.cols))
	}
	*w = Batch{rows: last - first, cap: last - first, cols: cols, stride: b.stride, data: b.data[first*b.stride : last*b.stride]}
	if b.qstride > 0 {
		w.qstride, w.sstride = b.qstride, b.sstride
		w.quants = b.quants[first*b.qstride : last*b.qstride]
		w.scales = b.scales[first*b.sstride : last*b.sstride]
		w.offsets = b.offsets[first*b.sstride : last*b.sstride]
	}
	return w
}

// Rows is the number of rows in use.
func (b *Batch) Rows() int { return b.rows }

// Cap is the number of rows there is room for.
func (b *Batch) Cap() int { return b.cap }

// Cols is the width of a row.
func (b *Batch) Cols() int { return b.cols }

// Quantised says whether the batch has room for the int8 form.
func (b *Batch) Quantised() bool { return b.qstride > 0 }

// Row is row i, of Cols values; i may be any below Cap.
func (b *Batch) Row(i int) []float32 {
	return b.data[i*b.stride : i*b.stride+b.cols : i*b.stride+b.cols]
}

// row is row i with its padding.
func (b *Batch) row(i int) []float32 { return b.data[i*b.stride : (i+1)*b.stride] }

// Quantise makes the int8 form of columns lo to hi of row i: what products
// with Q8 matrices read. lo and hi must be multiples of BlockSize, but for the
// end of the row. Different ranges may be done by different goroutines.
func (p Path) Quantise(b *Batch, i, lo, hi int) {
	if hi == b.cols {
		hi = padded(hi, BlockSize)
	}
	if lo%BlockSize != 0 || hi%BlockSize != 0 || lo < 0 || hi > padded(b.cols, BlockSize) || b.qstride == 0 {
		panic(fmt.Sprintf("kernel: quantise columns %d to %d of %d", lo, hi, b.cols))
	}
	if lo >= hi {
		return
	}
	s := i*b.sstride + lo/BlockSize
	n := (hi - lo) / BlockSize
	tables[p].quantise(b.quants[i*b.qstride+lo:i*b.qstride+hi], b.scales[s:s+n], b.offsets[s:s+n], b.data[i*b.stride+lo:i*b.stride+hi])
}
