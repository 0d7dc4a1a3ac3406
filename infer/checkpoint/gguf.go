package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits of a GGUF file's header. World's vocabulary takes 1.5 MB of it.
const (
	maxGGUFHeader    = 64 << 20
	maxGGUFEntries   = 4096
	maxGGUFText      = 1 << 20 // bytes of a text in the metadata
	maxGGUFAlign     = 1 << 16
	defaultAlign     = 32
	ggufArchitecture = "general.architecture"
)

// ggufTypes are the numbers of the stored types.
var ggufTypes = map[uint32]DType{
	0: F32, 1: F16, 2: Q4_0, 3: Q4_1, 6: Q5_0, 7: Q5_1, 8: Q8_0, 10: Q2K, 11: Q3K, 12: Q4K, 13: Q5K, 14: Q6K,
	20: IQ4NL, 28: F64, 30: BF16,
}

// ggufRefused names types that are known and not read.
var ggufRefused = map[uint32]string{
	9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS",
	24: "I8", 25: "I16", 26: "I32", 27: "I64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4",
}

func isGGUF(head []byte) bool { return strings.HasPrefix(string(head), "GGUF") }

// A ggufHeader is read from the beginning of the file, field after field.
type ggufHeader struct {
	data []byte // at most maxGGUFHeader bytes
	pos  int
	text map[string]string // scalars and texts of the metadata
	vocabulary
}

// A vocabulary is where the metadata have a tokenizer.
type vocabulary struct {
	tokens, merges ggufArray
	types          ggufArray
}

// A ggufArray is a place in the header: n values of a kind.
type ggufArray struct {
	kind  uint32
	n, at int
}

// openGGUF reads a GGUF file of version 2 or 3: metadata, the places of the tensors,
// and of the architectures rwkv6 and rwkv7 the released names.
func openGGUF(m *image) (*File, error) {
	data, err := m.slice(0, min(m.length, maxGGUFHeader), nil)
	if err != nil {
		return nil, err
	}
	h := &ggufHeader{data: data, pos: 4, text: map[string]string{}}
	f := newFile(m, formatGGUF)
	if err := h.read(f); err != nil {
		return nil, err
	}
	f.metadata = h.text
	if err := f.fromGGUF(h.text[ggufArchitecture]); err != nil {
		return nil, err
	}
	if f.vocab, err = h.vocab(); err != nil {
		return nil, err
	}
	return f, nil
}

// read reads the header and adds the tensors, by the names that the file has.
func (h *ggufHeader) read(f *File) error {
	version, err := h.uint32()
	if err != nil {
		return err
	}
	switch {
	case version == 1 || version > 3 && version < 1<<16:
		return refuse("convert the model again", "GGUF version %d, versions 2 and 3 are read", version)
	case version>>16 != 0:
		return refuse("use a little-endian file", "the values of this GGUF file are stored in big byte order")
	}
	tensors, err := h.count(maxTensors, "tensors")
	if err != nil {
		return err
	}
	entries, err := h.count(maxGGUFEntries, "entries of metadata")
	if err != nil {
		return err
	}
	for range entries {
		if err := h.entry(); err != nil {
			return err
		}
	}
	places := make([]entry, 0, min(tensors, 1024))
	for range tensors {
		t, place, err := h.tensor(f)
		if err != nil {
			return err
		}
		if err := f.add(t); err != nil {
			return err
		}
		places = append(places, place)
	}
	align, err := h.alignment()
	if err != nil {
		return err
	}
	data := (int64(h.pos) + align - 1) / align * align
	if err := checkPlaces(places, max(f.length-data, 0)); err != nil {
		return err
	}
	for i, t := range f.order {
		if t.offset%align != 0 {
			return refuseTensor(t.Name, downloadAgain, "it begins at byte %d of the data, which is no multiple of %d", t.offset, align)
		}
		f.order[i].offset += data
	}
	return nil
}

// tensor reads the description of one tensor. Its offset is from where the data begin.
func (h *ggufHeader) tensor(f *File) (*Tensor, entry, error) {
	name, err := h.string(maxName)
	if err != nil {
		return nil, entry{}, err
	}
	n, err := h.uint32()
	if err != nil {
		return nil, entry{}, err
	}
	if n > maxDims {
		return nil, entry{}, refuseTensor(name, useRelease, "%d dimensions, at most %d are read", n, maxDims)
	}
	dims := make([]int64, n) // ggml counts dimensions from the innermost
	for i := range dims {
		d, err := h.uint64()
		if err != nil {
			return nil, entry{}, err
		}
		dims[len(dims)-1-i] = int64(min(d, math.MaxInt64))
	}
	kind, err := h.uint32()
	if err != nil {
		return nil, entry{}, err
	}
	offset, err := h.uint64()
	if err != nil {
		return nil, entry{}, err
	}
	dtype, known := ggufTypes[kind]
	if !known {
		what := ggufRefused[kind]
		if what == "" {
			what = "number " + strconv.Itoa(int(kind))
		}
		return nil, entry{}, refuseTensor(name, "use a file in F16, Q8_0, Q4_K or another of the usual types", "its type %s is not read", what)
	}
	t, err := blockTensor(f.image, name, dtype, dims)
	if err != nil {
		return nil, entry{}, err
	}
	if offset > uint64(f.length) {
		return nil, entry{}, refuseTensor(name, downloadAgain, "it begins at byte %d of the data, the file has %d bytes", offset, f.length)
	}
	t.offset = int64(offset)
	return t, entry{name: name, Offsets: []int64{t.offset, t.offset + t.StoredBytes()}}, nil
}

// blockTensor makes a tensor of a type that may have blocks; its place is not known.
func blockTensor(m *image, name string, dtype DType, dims []int64) (*Tensor, error) {
	count, err := countValues(name, dims)
	if err != nil {
		return nil, err
	}
	if per := int64(layouts[dtype].values); per > 1 && (len(dims) == 0 || dims[len(dims)-1]%per != 0) {
		return nil, refuseTensor(name, downloadAgain, "rows of %v are not whole blocks of %s", dims, dtype)
	}
	if count == 0 {
		return nil, refuseTensor(name, downloadAgain, "impossible shape %v", dims)
	}
	shape, _ := squeezed(dims, nil)
	return &Tensor{Name: name, DType: dtype, Shape: shape, image: m}, nil
}

// alignment is what the places of tensors are multiples of.
func (h *ggufHeader) alignment() (int64, error) {
	text, ok := h.text["general.alignment"]
	if !ok {
		return defaultAlign, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxGGUFAlign || n&(n-1) != 0 {
		return 0, refuse(downloadAgain, "an alignment of %s bytes", quoted(text))
	}
	return int64(n), nil
}

// The kinds of values in the metadata.
const (
	ggufUint8 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArrayKind
	ggufUint64
	ggufInt64
	ggufFloat64
)

var ggufSizes = [...]int{
	ggufUint8: 1, ggufInt8: 1, ggufUint16: 2, ggufInt16: 2, ggufUint32: 4, ggufInt32: 4,
	ggufFloat32: 4, ggufBool: 1, ggufUint64: 8, ggufInt64: 8, ggufFloat64: 8,
}

// entry reads one entry of the metadata. It keeps scalars and texts as texts, and the
// places of the tokenizer's arrays.
func (h *ggufHeader) entry() error {
	key, err := h.string(maxName)
	if err != nil {
		return err
	}
	kind, err := h.uint32()
	if err != nil {
		return err
	}
	if _, twice := h.text[key]; twice {
		return refuse(useRelease, "its metadata have %s twice", quoted(key))
	}
	switch {
	case kind == ggufString:
		h.text[key], err = h.string(maxGGUFText)
	case kind == ggufArrayKind:
		var a ggufArray
		a, err = h.array(key)
		switch key {
		case "tokenizer.ggml.tokens":
			h.tokens = a
		case "tokenizer.ggml.merges":
			h.merges = a
		case "tokenizer.ggml.token_type":
			h.types = a
		}
	case int(kind) < len(ggufSizes):
		h.text[key], err = h.scalar(kind)
	default:
		err = refuse(downloadAgain, "its metadata %s are of the unknown kind %d", quoted(key), kind)
	}
	return err
}

// scalar reads a number or a truth value, as text.
func (h *ggufHeader) scalar(kind uint32) (string, error) {
	b, err := h.take(int64(ggufSizes[kind]))
	if err != nil {
		return "", err
	}
	var wide [8]byte
	copy(wide[:], b)
	u := binary.LittleEndian.Uint64(wide[:])
	switch kind {
	case ggufInt8:
		return fmt.Sprint(int8(u)), nil
	case ggufInt16:
		return fmt.Sprint(int16(u)), nil
	case ggufInt32:
		return fmt.Sprint(int32(u)), nil
	case ggufInt64:
		return fmt.Sprint(int64(u)), nil
	case ggufFloat32:
		return fmt.Sprint(math.Float32frombits(uint32(u))), nil
	case ggufFloat64:
		return fmt.Sprint(math.Float64frombits(u)), nil
	case ggufBool:
		return fmt.Sprint(u != 0), nil
	}
	return fmt.Sprint(u), nil
}

// array finds where an array lies and passes it.
func (h *ggufHeader) array(key string) (ggufArray, error) {
	kind, err := h.uint32()
	if err != nil {
		return ggufArray{}, err
	}
	n, err := h.count(maxGGUFHeader, "values in "+quoted(key))
	if err != nil {
		return ggufArray{}, err
	}
	a := ggufArray{kind: kind, n: n, at: h.pos}
	switch {
	case kind == ggufString:
		for range n {
			if _, err := h.string(maxGGUFText); err != nil {
				return a, err
			}
		}
	case int(kind) < len(ggufSizes) && ggufSizes[kind] > 0:
		_, err = h.take(int64(n) * int64(ggufSizes[kind]))
	default:
		err = refuse(useRelease, "its metadata %s are an array of kind %d", quoted(key), kind)
	}
	return a, err
}

func (h *ggufHeader) uint32() (uint32, error) {
	b, err := h.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (h *ggufHeader) uint64() (uint64, error) {
	b, err := h.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// count reads a number of things that are at least one byte each.
func (h *ggufHeader) count(most int, what string) (int, error) {
	n, err := h.uint64()
	if err != nil {
		return 0, err
	}
	if n > uint64(most) {
		return 0, refuse(useRelease, "%d %s, at most %d are read", n, what, most)
	}
	return int(n), nil
}

func (h *ggufHeader) string(most int) (string, error) {
	n, err := h.uint64()
	if err != nil {
		return "", err
	}
	if n > uint64(most) {
		return "", refuse(downloadAgain, "a text of %d bytes in the header, at most %d are read", n, most)
	}
	b, err := h.take(int64(n))
	return string(b), err
}

func (h *ggufHeader) take(n int64) ([]byte, error) {
	if n > int64(len(h.data)-h.pos) {
		return nil, refuse(downloadAgain, "the file ends inside its header")
	}
	b := h.data[h.pos : h.pos+int(n)]
	h.pos += int(n)
	return b, nil
}
