package checkpoint

import (
	"encoding/binary"
	"io"
)

// writeGGUF writes the values in a type of GGUF.
func (t *Tensor) writeGGUF(w io.Writer, dtype DType) error {
	if dtype == t.DType && t.blocked() {
		return t.copyBlocks(w)
	}
	if dtype == Q8_0 {
		return t.writeQ80(w)
	}
	return t.writeAs(w, dtype)
}

// copyBlocks copies the blocks of a type of ggml.
func (t *Tensor) copyBlocks(w io.Writer) error {
	const piece = 1 << 20
	total := t.StoredBytes()
	return t.image.guard(func() error {
		for off := int64(0); off < total; off += piece {
			raw, err := t.image.slice(t.offset+off, min(piece, total-off), nil)
			if err != nil {
				return err
			}
			if _, err := w.Write(raw); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeQ80 writes int8 blocks, those of an int8 file as they are.
func (t *Tensor) writeQ80(w io.Writer) error {
	const step = 64 * Q8Block
	var err error
	emit := func(values []int8, scales []uint16) {
		out := make([]byte, 0, len(scales)*layouts[Q8_0].bytes)
		for i, s := range scales {
			out = binary.LittleEndian.AppendUint16(out, s)
			for _, q := range values[i*Q8Block : (i+1)*Q8Block] {
				out = append(out, byte(q))
			}
		}
		_, err = w.Write(out)
	}
	floats := make([]float32, step)
	ints, scales := make([]int8, step), make([]uint16, step/Q8Block)
	for off := 0; off < t.Len() && err == nil; off += step {
		n := min(step, t.Len()-off)
		ok, failed := t.Blocks(off, n, emit)
		if failed != nil {
			return failed
		}
		if ok {
			continue
		}
		if err := t.Float32(floats[:n], off); err != nil {
			return err
		}
		for i := 0; i < n; i += Q8Block {
			s, err := quantizeBlock(ints[i:i+Q8Block], floats[i:i+Q8Block])
			if err != nil {
				return err
			}
			scales[i/Q8Block] = s
		}
		emit(ints[:n], scales[:n/Q8Block])
	}
	return err
}
