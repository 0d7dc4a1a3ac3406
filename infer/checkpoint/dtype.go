package checkpoint

// A DType is how the values of a tensor are stored.
type DType uint8

// The stored types. Q8 is our own block format: int8 values with one fp16
// scale per Q8Block values along a row, see Tensor.Q8.
const (
	F32 DType = iota + 1
	F16
	BF16
	F64
	Q8
	U8
	I64
	I32
)

// Q8Block is the number of values along a row that share a scale.
const Q8Block = 32

var dtypeNames = [...]string{
	F32: "fp32", F16: "fp16", BF16: "bf16", F64: "fp64", Q8: "int8", U8: "uint8", I64: "int64", I32: "int32",
}

// dtypeSizes are bytes per value, without the scales of Q8.
var dtypeSizes = [...]int{F32: 4, F16: 2, BF16: 2, F64: 8, Q8: 1, U8: 1, I64: 8, I32: 4}

// String is the type's name as people write it: "bf16", "int8".
func (d DType) String() string {
	if int(d) >= len(dtypeNames) || d == 0 {
		return "unknown"
	}
	return dtypeNames[d]
}

// size is the number of bytes of one value.
func (d DType) size() int { return dtypeSizes[d] }
