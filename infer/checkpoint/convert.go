package checkpoint

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// A Conversion says how Quantize writes a model.
type Conversion struct {
	// Vocab is a vocabulary file to put into the file; nil keeps the model's.
	Vocab []byte
	// Tensors are the names of the tensors to quantise, as rwkv.Shape.Matrices
	// lists them. The others keep their stored type, exactly; so do those whose
	// rows are not whole blocks.
	Tensors []string
	// Progress, if not nil, is called from time to time with the bytes written and
	// the bytes to write.
	Progress func(done, total int64)
}

// Quantize writes a model in our own int8 form: a .safetensors file that holds
// each large matrix as int8 values and fp16 scales, one for each Q8Block values
// along a row. The file appears at path when it is complete. Quantize does not
// replace an existing file.
func Quantize(ctx context.Context, f *File, path string, c Conversion) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: already exists; remove it or choose another name", path)
	}
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return fmt.Errorf("converting %s: %w", f.Path(), err)
	}
	err = c.write(ctx, f, part)
	if err == nil {
		err = part.Chmod(0o644)
	}
	if err == nil {
		err = part.Sync()
	}
	err = errors.Join(err, part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("converting %s to %s: %w", f.Path(), path, errors.Join(err, os.Remove(part.Name())))
	}
	return nil
}

// write streams the converted model.
func (c Conversion) write(ctx context.Context, f *File, to io.Writer) error {
	if c.Vocab == nil {
		c.Vocab = f.Vocab()
	}
	if len(c.Vocab) > maxVocab {
		return fmt.Errorf("a vocabulary of %d bytes, at most %d can be read", len(c.Vocab), maxVocab)
	}
	entries := c.entries(f)
	total := int64(0)
	for _, e := range entries {
		n, err := e.size()
		if err != nil {
			return err
		}
		total += n
	}
	buffered := bufio.NewWriterSize(&progressWriter{ctx: ctx, to: to, total: total, report: c.Progress}, 1<<20)
	metadata := map[string]string{metadataFormat: ownFormat, metadataVersion: ownVersion}
	if err := WriteSafetensors(buffered, entries, metadata); err != nil {
		return err
	}
	return buffered.Flush()
}

// entries are the tensors of the converted file. The vocabulary is the last one,
// because its odd length would leave the next tensor unaligned.
func (c Conversion) entries(f *File) []Entry {
	var out []Entry
	for _, t := range f.order {
		switch {
		case t.DType == Q8:
			out = append(out, pair(t, t.copyRaw, t.copyScales)...)
		case c.quantizes(t):
			q := &quantizer{tensor: t}
			out = append(out, pair(t, q.writeValues, q.writeScales)...)
		default:
			out = append(out, Entry{Name: t.Name, Type: safetensorsName(t.plain()), Shape: t.Shape, Write: t.writePlain})
		}
	}
	if len(c.Vocab) > 0 {
		out = append(out, Entry{Name: vocabName, Type: "U8", Shape: []int{len(c.Vocab)}, Write: func(w io.Writer) error {
			_, err := w.Write(c.Vocab)
			return err
		}})
	}
	return out
}

// quantizes says whether a tensor becomes int8.
func (c Conversion) quantizes(t *Tensor) bool {
	return len(t.Shape) == 2 && t.Shape[1] > 0 && t.Shape[1]%Q8Block == 0 && slices.Contains(c.Tensors, t.Name)
}

// pair makes the two entries of a Q8 tensor.
func pair(t *Tensor, values, scales func(io.Writer) error) []Entry {
	perRow := append([]int{}, t.Shape...)
	perRow[len(perRow)-1] /= Q8Block
	return []Entry{
		{Name: t.Name, Type: "I8", Shape: t.Shape, Write: values},
		{Name: t.Name + scalesSuffix, Type: "F16", Shape: perRow, Write: scales},
	}
}

// safetensorsName is the type's name in a .safetensors file.
func safetensorsName(d DType) string {
	for name, dtype := range safetensorsTypes {
		if dtype == d {
			return name
		}
	}
	return d.String()
}

// plain is the type that a tensor is written in where packed types cannot be: its own,
// and fp16 for packed ones.
func (t *Tensor) plain() DType {
	if t.DType.Packed() {
		return F16
	}
	return t.DType
}

// writePlain writes the values in the type plain, in row-major order.
func (t *Tensor) writePlain(w io.Writer) error {
	dtype := t.plain()
	if dtype == t.DType && t.alter == nil {
		return t.copyRaw(w)
	}
	values, raw := make([]float32, pieceValues), []byte(nil)
	for off := 0; off < t.Len(); off += len(values) {
		values = values[:min(len(values), t.Len()-off)]
		if err := t.Float32(values, off); err != nil {
			return err
		}
		raw = appendValues(raw[:0], values, dtype)
		if _, err := w.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

// appendValues appends values in one of the types of weights, little-endian.
func appendValues(dst []byte, values []float32, dtype DType) []byte {
	for _, v := range values {
		switch dtype {
		case F16:
			dst = binary.LittleEndian.AppendUint16(dst, toHalf(v))
		case BF16:
			dst = binary.LittleEndian.AppendUint16(dst, toBF16(v))
		case F64:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(float64(v)))
		default:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
	}
	return dst
}

// copyRaw writes the stored values in row-major order.
func (t *Tensor) copyRaw(w io.Writer) error {
	n := t.Len()
	for off := 0; off < n; off += pieceValues {
		err := t.image.guard(func() error {
			raw, err := t.raw(off, min(pieceValues, n-off), nil)
			if err == nil {
				_, err = w.Write(raw)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyScales writes the scales of a Q8 tensor.
func (t *Tensor) copyScales(w io.Writer) error {
	return t.image.guard(func() error {
		raw, err := t.image.slice(t.scales, int64(t.Len()/Q8Block)*2, nil)
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	})
}

// A progressWriter reports progress and fails when its context is done.
type progressWriter struct {
	ctx         context.Context
	to          io.Writer
	done, total int64
	report      func(done, total int64)
}

func (p *progressWriter) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.to.Write(b)
	p.done += int64(n)
	if p.report != nil {
		p.report(min(p.done, p.total), p.total)
	}
	return n, err
}
