package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// A Tensor is a named array in a file. Its data stay in the file until they are read.
type Tensor struct {
	Name  string // canonical: as in the released .pth files
	DType DType
	Shape []int // leading 1s removed

	image  *image
	member *member // nil where the format has no checksums
	offset int64   // of the first value, in bytes
	stride []int   // in values; nil when the values lie in row-major order without gaps
	scales int64   // offset of the fp16 scales of a Q8 tensor, in bytes
	// alter, if not nil, makes the canonical values of those that the file has.
	alter func(values []float32)

	// span holds the bytes of a strided tensor where they are not in memory; those of a
	// packed type as fp32.
	spanOnce sync.Once
	span     []byte
	spanErr  error
}

// Len is the number of values.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// StoredBytes is the size of the values in the file, with the scales of Q8.
func (t *Tensor) StoredBytes() int64 {
	n := t.DType.bytes(int64(t.Len()))
	if t.DType == Q8 {
		n += int64(t.Len()/Q8Block) * 2
	}
	return n
}

// pieceValues is how many values are converted at a time.
const pieceValues = 2048

// Float32 converts values [off, off+len(dst)) in row-major order to dst. Packed
// types are widened. It is safe for concurrent use.
func (t *Tensor) Float32(dst []float32, off int) error {
	if off < 0 || off > t.Len()-len(dst) {
		return fmt.Errorf("tensor %s: values %d to %d asked for, it has %d", t.Name, off, off+len(dst), t.Len())
	}
	err := t.image.guard(func() error { return t.widen(dst, off) })
	if err != nil {
		return fmt.Errorf("reading tensor %s: %w", t.Name, err)
	}
	return nil
}

// widen is Float32 for values that are there.
func (t *Tensor) widen(dst []float32, off int) error {
	if t.alter != nil {
		defer t.alter(dst)
	}
	if t.blocked() && t.stride == nil {
		return t.unpack(dst, off)
	}
	dtype := t.unpacked()
	var buf []byte
	if t.image.data == nil || t.stride != nil {
		buf = make([]byte, min(len(dst), pieceValues)*dtype.size())
	}
	for len(dst) > 0 {
		n := min(len(dst), pieceValues)
		raw, err := t.raw(off, n, buf)
		if err == nil && t.DType == Q8 {
			err = t.dequantize(dst[:n], raw, off)
		} else if err == nil {
			convert(dst[:n], raw, dtype)
		}
		if err != nil {
			return err
		}
		dst, off = dst[n:], off+n
	}
	return nil
}

// Plain says whether the file has just the values in row-major order: the tensor is
// neither packed nor transposed, and its values are as stored.
func (t *Tensor) Plain() bool { return !t.DType.Packed() && t.stride == nil && t.alter == nil }

// ReadStored copies bytes [off, off+len(dst)) of a plain tensor, as they are stored,
// little-endian. It is safe for concurrent use.
func (t *Tensor) ReadStored(dst []byte, off int64) error {
	if !t.Plain() || off < 0 || off > t.StoredBytes()-int64(len(dst)) {
		return fmt.Errorf("tensor %s: stored bytes %d to %d asked for", t.Name, off, off+int64(len(dst)))
	}
	err := t.image.guard(func() error {
		stored, err := t.image.slice(t.offset+off, int64(len(dst)), dst)
		copy(dst, stored)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading tensor %s: %w", t.Name, err)
	}
	return nil
}

// Prefetch reads the tensor's part of a mapped file into memory and returns when
// that is done. It is safe for concurrent use.
func (t *Tensor) Prefetch() {
	n := int64(t.Len())
	if t.stride != nil {
		n = spanLen(t.Shape, t.stride)
	}
	t.image.prefetch(t.offset, t.DType.bytes(n))
}

// raw returns the bytes of n values in row-major order, of type unpacked; buf is used
// where they are not in memory in that order. A tensor with blocks must be strided.
func (t *Tensor) raw(off, n int, buf []byte) ([]byte, error) {
	size := t.unpacked().size()
	if n == 0 {
		return nil, nil
	}
	if t.stride == nil {
		return t.image.slice(t.offset+int64(off)*int64(size), int64(n)*int64(size), buf)
	}
	src, err := t.spanned()
	if err != nil {
		return nil, err
	}
	if len(buf) < n*size {
		buf = make([]byte, n*size)
	}
	t.gather(buf[:n*size], src, off)
	return buf[:n*size], nil
}

// spanned returns the bytes from the first to the last value of a strided tensor.
func (t *Tensor) spanned() ([]byte, error) {
	values := spanLen(t.Shape, t.stride)
	n := t.DType.bytes(values)
	if t.blocked() {
		t.spanOnce.Do(func() { t.span, t.spanErr = t.unpackSpan(values) })
		return t.span, t.spanErr
	}
	if t.image.data != nil {
		return t.image.slice(t.offset, n, nil)
	}
	t.spanOnce.Do(func() { t.span, t.spanErr = t.image.slice(t.offset, n, nil) })
	return t.span, t.spanErr
}

// spanLen is the number of values from the first to the last of a strided array.
func spanLen(shape, stride []int) int64 {
	last := int64(0)
	for i, d := range shape {
		if d == 0 {
			return 0
		}
		last += int64(d-1) * int64(stride[i])
	}
	return last + 1
}

// gather copies values off, off+1, ... of the row-major order from a strided span.
func (t *Tensor) gather(dst, span []byte, off int) {
	size := t.unpacked().size()
	index := make([]int, len(t.Shape))
	at := 0
	for i := len(index) - 1; i >= 0; i-- {
		index[i] = off % t.Shape[i]
		off /= t.Shape[i]
		at += index[i] * t.stride[i]
	}
	for ; len(dst) > 0; dst = dst[size:] {
		copy(dst[:size], span[at*size:])
		for i := len(index) - 1; i >= 0; i-- {
			index[i]++
			at += t.stride[i]
			if index[i] < t.Shape[i] {
				break
			}
			at -= index[i] * t.stride[i]
			index[i] = 0
		}
	}
}

// convert widens little-endian values.
func convert(dst []float32, raw []byte, dtype DType) {
	switch dtype {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case BF16:
		for i, v := range uint16s(raw)[:len(dst)] {
			dst[i] = fromBF16(v)
		}
	case F16:
		for i, v := range uint16s(raw)[:len(dst)] {
			dst[i] = fromHalf(v)
		}
	case F64:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	case U8:
		for i := range dst {
			dst[i] = float32(raw[i])
		}
	case I32:
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case I64:
		for i := range dst {
			dst[i] = float32(int64(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
}

// dequantize multiplies Q8 values, of which the first is number off, by their scales.
func (t *Tensor) dequantize(dst []float32, raw []byte, off int) error {
	first := off / Q8Block
	count := (off+len(dst)-1)/Q8Block - first + 1
	scales, err := t.image.slice(t.scales+2*int64(first), 2*int64(count), nil)
	if err != nil {
		return err
	}
	in := off % Q8Block // where in its block the first value is
	for _, half := range uint16s(scales) {
		n := min(Q8Block-in, len(dst))
		scale := fromHalf(half)
		for i, v := range raw[:n] {
			dst[i] = float32(int8(v)) * scale
		}
		dst, raw, in = dst[n:], raw[n:], 0
	}
	return nil
}

// Blocks calls use with the blocks of n values from number off on, both multiples of
// Q8Block, of a tensor of int8 blocks, Q8 or Q8_0: the values and the fp16 scales, one
// for each Q8Block values. They may be views of the file; use must not write to them or
// keep them. ok is false for other types.
func (t *Tensor) Blocks(off, n int, use func(values []int8, scales []uint16)) (ok bool, err error) {
	read := t.joinedBlocks
	switch {
	case t.DType == Q8_0 && t.stride == nil && t.alter == nil:
		read = t.mixedBlocks
	case t.DType != Q8:
		return false, nil
	}
	if err = t.image.guard(func() error { return read(off, n, use) }); err != nil {
		err = fmt.Errorf("reading tensor %s: %w", t.Name, err)
	}
	return true, err
}

// joinedBlocks is Blocks for Q8, where values and scales lie apart.
func (t *Tensor) joinedBlocks(off, n int, use func(values []int8, scales []uint16)) error {
	raw, err := t.image.slice(t.offset+int64(off), int64(n), nil)
	if err != nil {
		return err
	}
	scales, err := t.image.slice(t.scales+int64(off/Q8Block)*2, int64(n/Q8Block)*2, nil)
	if err != nil {
		return err
	}
	use(int8s(raw), uint16s(scales))
	return nil
}

// mixedBlocks is Blocks for Q8_0, where the scale of a block is before its values.
func (t *Tensor) mixedBlocks(off, n int, use func(values []int8, scales []uint16)) error {
	raw, err := t.image.slice(t.offset+t.DType.bytes(int64(off)), t.DType.bytes(int64(n)), nil)
	if err != nil {
		return err
	}
	values, scales := make([]int8, n), make([]uint16, n/Q8Block)
	size := layouts[Q8_0].bytes
	for i := range scales {
		scales[i] = binary.LittleEndian.Uint16(raw[i*size:])
		copy(values[i*Q8Block:], int8s(raw[i*size+2:(i+1)*size]))
	}
	use(values, scales)
	return nil
}

func int8s(raw []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw))
}

// uint16s views little-endian bytes as values where alignment and byte order
// allow it, and copies them otherwise.
func uint16s(raw []byte) []uint16 {
	first := unsafe.Pointer(unsafe.SliceData(raw))
	if littleEndian && uintptr(first)%2 == 0 {
		return unsafe.Slice((*uint16)(first), len(raw)/2)
	}
	out := make([]uint16, len(raw)/2)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return out
}

// littleEndian says how this machine stores integers.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
