package checkpoint

import (
	"encoding/binary"
	"math"
)

// blocked says whether the values lie in blocks of ggml.
func (t *Tensor) blocked() bool { return layouts[t.DType].unpack != nil }

// unpacked is the type of what raw returns: that of the file, and fp32 for strided
// tensors of a type with blocks.
func (t *Tensor) unpacked() DType {
	if t.blocked() {
		return F32
	}
	return t.DType
}

// unpack is Float32 for types with blocks whose tensors are not strided.
func (t *Tensor) unpack(dst []float32, off int) error {
	l := layouts[t.DType]
	var one [256]float32
	for len(dst) > 0 {
		in := off % l.values // where in its block the first value is
		n := min(len(dst), pieceValues)
		whole := in == 0 && n >= l.values
		if whole {
			n -= n % l.values
		} else {
			n = min(n, l.values-in)
		}
		at := t.offset + t.DType.bytes(int64(off-in))
		raw, err := t.image.slice(at, int64((n+l.values-1)/l.values*l.bytes), nil)
		if err != nil {
			return err
		}
		if whole {
			for i := 0; i < n; i += l.values {
				l.unpack(dst[i:i+l.values], raw[i/l.values*l.bytes:])
			}
		} else {
			l.unpack(one[:], raw)
			copy(dst[:n], one[in:])
		}
		dst, off = dst[n:], off+n
	}
	return nil
}

// unpackSpan widens a strided tensor of a type with blocks to the bytes of fp32
// values. Such tensors are low-rank matrices, which are small.
func (t *Tensor) unpackSpan(n int64) ([]byte, error) {
	plain := Tensor{DType: t.DType, Shape: []int{int(n)}, image: t.image, offset: t.offset}
	out := make([]byte, 0, 4*n)
	piece := make([]float32, min(n, pieceValues))
	for off := 0; off < int(n); off += len(piece) {
		piece = piece[:min(len(piece), int(n)-off)]
		if err := plain.unpack(piece, off); err != nil {
			return nil, err
		}
		for _, v := range piece {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out, nil
}
