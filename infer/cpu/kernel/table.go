package kernel

// A table is the implementation of one path. Slices passed to its functions
// have been checked.
type table struct {
	layerNorm func(dst, x, weight, bias []float32, eps float32)
	shift     func(dst, x, prev, mix []float32)
	shiftBy   func(dst, x, prev, mix, more []float32)
	unary     [unaries]func(dst, x []float32)
	add       func(dst, x []float32)
	addGated  func(dst, x, gate []float32)
	quantise  func(quants []int8, scales []float32, offsets []int32, x []float32)
	product   func(m *Matrix, x, y *Batch, first, last int, scratch []float32)
	read      func(b []byte) // a multiple of 512 bytes
}

// the elementwise functions of a table
const (
	sigmoid = iota
	tanh
	exp
	squaredReLU
	silu
	unaries
)

// tables has the paths this processor can run; the others are nil.
var tables = detect()

func plainTable() *table {
	return &table{
		layerNorm: layerNormGo,
		shift:     shiftGo,
		shiftBy:   shiftByGo,
		unary:     [unaries]func(dst, x []float32){sigmoidGo, tanhGo, expGo, squaredReLUGo, siluGo},
		add:       addGo,
		addGated:  addGatedGo,
		quantise:  quantiseGo,
		product:   productGo,
		read:      readGo,
	}
}
