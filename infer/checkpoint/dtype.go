package checkpoint

// A DType is how the values of a tensor are stored.
type DType uint8

// The stored types. Q8 is our own block format: int8 values with one fp16
// scale per Q8Block values along a row, see Tensor.Q8. Those from Q8_0 on are the
// packed types of ggml, see packed.go.
const (
	F32 DType = iota + 1
	F16
	BF16
	F64
	Q8
	U8
	I64
	I32
	Q8_0
	Q4_0
	Q4_1
	Q5_0
	Q5_1
	Q2K
	Q3K
	Q4K
	Q5K
	Q6K
	IQ4NL
)

// Q8Block is the number of values along a row that share a scale.
const Q8Block = 32

// A layout says how a type lies in a file: blocks of some values, in some bytes.
type layout struct {
	name          string
	values, bytes int
	// unpack widens one block; nil for types whose values stand alone.
	unpack func(dst []float32, block []byte)
}

// layouts are those of all types; Q8 without its scales.
var layouts = [...]layout{
	F32: {"fp32", 1, 4, nil}, F16: {"fp16", 1, 2, nil}, BF16: {"bf16", 1, 2, nil}, F64: {"fp64", 1, 8, nil},
	Q8: {"int8", 1, 1, nil}, U8: {"uint8", 1, 1, nil}, I64: {"int64", 1, 8, nil}, I32: {"int32", 1, 4, nil},
	Q8_0: {"Q8_0", 32, 34, unpackQ80}, Q4_0: {"Q4_0", 32, 18, unpackQ40}, Q4_1: {"Q4_1", 32, 20, unpackQ41},
	Q5_0: {"Q5_0", 32, 22, unpackQ50}, Q5_1: {"Q5_1", 32, 24, unpackQ51}, IQ4NL: {"IQ4_NL", 32, 18, unpackIQ4NL},
	Q2K: {"Q2_K", 256, 84, unpackQ2K}, Q3K: {"Q3_K", 256, 110, unpackQ3K}, Q4K: {"Q4_K", 256, 144, unpackQ4K},
	Q5K: {"Q5_K", 256, 176, unpackQ5K}, Q6K: {"Q6_K", 256, 210, unpackQ6K},
}

// String is the type's name as people write it: "bf16", "int8", "Q4_K".
func (d DType) String() string {
	if int(d) >= len(layouts) || d == 0 {
		return "unknown"
	}
	return layouts[d].name
}

// Packed says whether values share scales, so that what uses them has to widen
// them or to understand their blocks.
func (d DType) Packed() bool { return d == Q8 || layouts[d].unpack != nil }

// size is the number of bytes of one value of a type whose values stand alone.
func (d DType) size() int { return layouts[d].bytes }

// bytes is how many bytes n values take: whole blocks.
func (d DType) bytes(n int64) int64 {
	l := layouts[d]
	return n / int64(l.values) * int64(l.bytes)
}
