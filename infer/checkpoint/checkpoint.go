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

// A Tensor is a named array in a file. Its data stays in the file (mapped)
// until asked for.
type Tensor struct {
	Name  string // canonical: as in the released .pth files
	DType DType
	Shape []int // leading 1s removed
}

// A File is an open checkpoint.
type File struct{}

// Open opens a .pth or .safetensors file, told apart by their first bytes.
// The error is one line: file, tensor, what is wrong, what to do.
func Open(path string) (*File, error) { return nil, nil }

// FromBytes reads a .safetensors image in memory; name is for messages.
func FromBytes(name string, data []byte) (*File, error) { return nil, nil }

// Path is what Open was given.
func (f *File) Path() string { return "" }

// Format is "pth", "safetensors" or "safetensors (web-rwkv)".
func (f *File) Format() string { return "" }

// Size is the file's size in bytes.
func (f *File) Size() int64 { return 0 }

// Names are the canonical tensor names in the file's order.
func (f *File) Names() []string { return nil }

// Tensor finds a tensor by canonical name.
func (f *File) Tensor(name string) (*Tensor, bool) { return nil, false }

// Dims is the shape of a tensor; it makes *File an rwkv.Source.
func (f *File) Dims(name string) ([]int, bool) { return nil, false }

// Vocab is the vocabulary file (World text format) that a model carries, or nil.
func (f *File) Vocab() []byte { return nil }

// Fingerprint identifies the weights: a hash over names, types, shapes and samples of every tensor's data.
func (f *File) Fingerprint() string { return "" }

// Close unmaps the file. Tensors must not be read afterwards.
func (f *File) Close() error { return nil }

// Len is the number of values.
func (t *Tensor) Len() int { return 0 }

// Float32 converts values [off, off+len(dst)) in row-major order to dst. Q8 is dequantised.
func (t *Tensor) Float32(dst []float32, off int) error { return nil }

// Q8 gives the raw blocks of a Q8 tensor: values in row-major order and fp16
// scales, one for each Q8Block values. ok is false for other types.
func (t *Tensor) Q8() (values []int8, scales []uint16, ok bool) { return nil, nil, false }
