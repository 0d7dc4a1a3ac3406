package kernel

import (
	"fmt"
	"math"
)

// A Type is how a matrix stores its weights.
type Type uint8

// The weight types. Q8 is int8 with one fp16 scale for each BlockSize columns
// of a row.
const (
	F32 Type = iota + 1
	F16
	BF16
	Q8
)

// BlockSize is the number of columns that share a scale in Q8, and of values
// that share one in quantised activations.
const BlockSize = 32

// PanelRows is the number of rows that are stored interleaved. Rows are padded
// to a multiple of it.
const PanelRows = 32

const (
	q8BlockBytes = BlockSize*PanelRows + 2*PanelRows // quants, then fp16 scales
	q8Bias       = 128                               // what is added to a quant to store it unsigned
	maxDim       = 1 << 24
)

// String is the type's name: "fp32", "fp16", "bf16" or "int8".
func (t Type) String() string {
	switch t {
	case F32:
		return "fp32"
	case F16:
		return "fp16"
	case BF16:
		return "bf16"
	case Q8:
		return "int8"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// panelBytes is the size of one panel of a matrix.
func (t Type) panelBytes(cols int) int {
	switch t {
	case F32:
		return 4 * PanelRows * cols
	case Q8:
		return q8BlockBytes * (cols / BlockSize)
	default:
		return 2 * PanelRows * cols
	}
}

// A Matrix is a packed weight matrix [rows, cols]: y = W·x has rows values.
type Matrix struct {
	typ        Type
	rows, cols int
	depth      int // cols, padded with zeros to whole blocks
	panelSize  int // bytes
	data       []byte
}

// NewMatrix makes a matrix of zeros.
func NewMatrix(a *Arena, t Type, rows, cols int) (*Matrix, error) {
	if t < F32 || t > Q8 {
		return nil, fmt.Errorf("weight matrix: unknown type %v", t)
	}
	if rows <= 0 || cols <= 0 || rows > maxDim || cols > maxDim {
		return nil, fmt.Errorf("weight matrix: %d x %d is not a possible size", rows, cols)
	}
	depth := padded(cols, BlockSize)
	size := t.panelBytes(depth)
	m := &Matrix{typ: t, rows: rows, cols: cols, depth: depth, panelSize: size}
	data, err := a.Alloc(size * m.panels())
	if err != nil {
		return nil, fmt.Errorf("weight matrix %d x %d: %w", rows, cols, err)
	}
	m.data = data
	if t == Q8 {
		m.clearPadding()
	}
	return m, nil
}

// Type is how the weights are stored.
func (m *Matrix) Type() Type { return m.typ }

// Rows is the number of outputs.
func (m *Matrix) Rows() int { return m.rows }

// Cols is the number of inputs.
func (m *Matrix) Cols() int { return m.cols }

// Bytes is what one product reads: the packed size with padding.
func (m *Matrix) Bytes() int64 { return int64(len(m.data)) }

func (m *Matrix) panels() int { return (m.rows + PanelRows - 1) / PanelRows }

func (m *Matrix) panel(p int) []byte {
	return m.data[p*m.panelSize : (p+1)*m.panelSize : (p+1)*m.panelSize]
}

// clearPadding makes the padding rows of the last panel zeros: quants of 0 are
// stored as the bias. Their scales are zero anyway; this keeps the integer
// sums small.
func (m *Matrix) clearPadding() {
	for r := m.rows; r < m.panels()*PanelRows; r++ {
		panel, lane := m.panel(r/PanelRows), r%PanelRows
		for k := range m.depth {
			panel[q8Offset(lane, k)] = q8Bias
		}
	}
}

// q8Offset is where a quant lies in a panel.
func q8Offset(lane, k int) int {
	block, k := k/BlockSize, k%BlockSize
	return block*q8BlockBytes + k/4*(4*PanelRows) + lane*4 + k%4
}

// q8Scales is the 32 scales of a block of a panel.
func q8Scales(panel []byte, block int) []uint16 {
	end := (block + 1) * q8BlockBytes
	return halvesOf(panel[end-2*PanelRows : end])
}

// SetRow stores row r from float32: exact for F32, rounded to nearest for F16
// and BF16, quantised for Q8. Different panels of 32 rows may be filled by
// different goroutines. It panics if len(src) is not Cols.
func (m *Matrix) SetRow(r int, src []float32) {
	m.check(r, len(src))
	panel, lane := m.panel(r/PanelRows), r%PanelRows
	switch m.typ {
	case F32:
		w := floatsOf(panel)
		for k, v := range src {
			w[k*PanelRows+lane] = v
		}
	case F16:
		w := halvesOf(panel)
		for k, v := range src {
			w[k*PanelRows+lane] = floatToHalf(v)
		}
	case BF16:
		w := halvesOf(panel)
		for k, v := range src {
			w[k*PanelRows+lane] = floatToBfloat(v)
		}
	case Q8:
		var q [BlockSize]int8
		for b := range m.depth / BlockSize {
			scale := quantiseWeights(&q, src[b*BlockSize:min((b+1)*BlockSize, m.cols)])
			m.setBlock(panel, lane, b, q[:], scale)
		}
	}
}

// SetRowBits stores row r of an F16 or BF16 matrix from raw bits of that same
// type. It panics for other types or if len(src) is not Cols.
func (m *Matrix) SetRowBits(r int, src []uint16) {
	m.check(r, len(src))
	if m.typ != F16 && m.typ != BF16 {
		panic("kernel: SetRowBits of a matrix of " + m.typ.String())
	}
	w, lane := halvesOf(m.panel(r/PanelRows)), r%PanelRows
	for k, v := range src {
		w[k*PanelRows+lane] = v
	}
}

// SetRowBlocks stores row r of a Q8 matrix from ready blocks: Cols quants and
// Cols/BlockSize fp16 scales. Nothing is rounded. It panics for other types or
// wrong lengths, and where cols is no multiple of BlockSize.
func (m *Matrix) SetRowBlocks(r int, quants []int8, scales []uint16) {
	m.check(r, len(quants))
	if m.typ != Q8 || m.cols != m.depth || len(scales) != m.cols/BlockSize {
		panic("kernel: SetRowBlocks of a matrix of " + m.typ.String())
	}
	panel, lane := m.panel(r/PanelRows), r%PanelRows
	for b, s := range scales {
		m.setBlock(panel, lane, b, quants[b*BlockSize:(b+1)*BlockSize], s)
	}
}

func (m *Matrix) setBlock(panel []byte, lane, block int, quants []int8, scale uint16) {
	base := q8Offset(lane, block*BlockSize)
	for i, q := range quants {
		panel[base+i/4*(4*PanelRows)+i%4] = uint8(int(q) + q8Bias)
	}
	q8Scales(panel, block)[lane] = scale
}

// Row reads row r back as float32, dequantised. It panics if len(dst) is not
// Cols.
func (m *Matrix) Row(dst []float32, r int) {
	m.check(r, len(dst))
	panel, lane := m.panel(r/PanelRows), r%PanelRows
	switch m.typ {
	case F32:
		w := floatsOf(panel)
		for k := range dst {
			dst[k] = w[k*PanelRows+lane]
		}
	case F16:
		w := halvesOf(panel)
		for k := range dst {
			dst[k] = halfToFloat(w[k*PanelRows+lane])
		}
	case BF16:
		w := halvesOf(panel)
		for k := range dst {
			dst[k] = bfloatToFloat(w[k*PanelRows+lane])
		}
	case Q8:
		for k := range dst {
			scale := halfToFloat(q8Scales(panel, k/BlockSize)[lane])
			dst[k] = scale * float32(int(panel[q8Offset(lane, k)])-q8Bias)
		}
	}
}

func (m *Matrix) check(r, n int) {
	if r < 0 || r >= m.rows || n != m.cols {
		panic(fmt.Sprintf("kernel: row %d of %d values in a matrix of %d x %d", r, n, m.rows, m.cols))
	}
}

// quantiseWeights makes one block symmetric int8 and returns the fp16 scale.
// The scale is rounded up where rounding to nearest would clip the largest
// value, which matters only where fp16 is subnormal. Values beyond fp16's
// range (scale over 65504) saturate. src may be shorter than a block; the rest is
// zero.
func quantiseWeights(q *[BlockSize]int8, src []float32) (scale uint16) {
	var bits uint32 // of the largest magnitude; those of floats are in order
	for _, v := range src {
		bits = max(bits, math.Float32bits(v)&^(1<<31))
	}
	top := math.Float32frombits(bits)
	h := min(floatToHalf(top/127), 0x7bff)
	if h < 0x7bff && top > 127.5*halfToFloat(h) {
		h++
	}
	*q = [BlockSize]int8{}
	if h == 0 {
		return 0
	}
	inv := 1 / halfToFloat(h)
	for i, v := range src {
		q[i] = int8(max(-127, min(127, roundInt(v*inv))))
	}
	return h
}

// roundInt rounds to the nearest integer, ties to even, by adding 1.5·2^23. It
// clamps to ±2^21, which is beyond every quant.
func roundInt(v float32) int32 {
	const magic = 3 << 22
	v = max(-1<<21, min(1<<21, v))
	return int32(math.Float32bits(v+magic)) - 0x4b400000
}
