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
	"strings"
)

// A Conversion says how Convert writes a model.
type Conversion struct {
	// Weights is the type of the large matrices: F32, F16, BF16, or Q8 for int8. 0 keeps
	// the types of the file where the format has them; packed types that it has not
	// become fp16.
	Weights DType
	// Tensors are the names of the large matrices, as rwkv.Shape.Matrices lists them.
	// The others keep their stored type, exactly; for int8 also those whose rows are not
	// whole blocks.
	Tensors []string
	// Vocab is a vocabulary file to put into the file; nil keeps the model's. A GGUF
	// file has Tokens in its place: the bytes of the tokens by their ids.
	Vocab  []byte
	Tokens [][]byte
	// Name is what the model is called, in a GGUF file.
	Name string
	// Progress, if not nil, is called from time to time with the bytes written and
	// the bytes to write.
	Progress func(done, total int64)
}

// writers are the formats that can be written, by the ending of the name.
var writers = map[string]func(c Conversion, f *File) (plan, error){
	".safetensors": Conversion.planSafetensors, ".pth": Conversion.planPth, ".gguf": Conversion.planGGUF,
}

// A plan is a file to be written: how many bytes its tensors have, and how.
type plan struct {
	total int64
	write func(w io.Writer) error
}

// Convert writes a model in the format that the ending of the path names. It holds a
// small part of the model in memory at a time. The file appears at path when it is
// complete. Convert does not replace an existing file.
func Convert(ctx context.Context, f *File, path string, c Conversion) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: already exists; remove it or choose another name", path)
	}
	begin, ok := writers[strings.ToLower(filepath.Ext(path))]
	if !ok {
		return fmt.Errorf("%s: end the name in .safetensors, .pth or .gguf, which says the format", path)
	}
	if c.Vocab == nil {
		c.Vocab = f.Vocab()
	}
	if len(c.Vocab) > maxVocab {
		return fmt.Errorf("a vocabulary of %d bytes, at most %d can be read", len(c.Vocab), maxVocab)
	}
	p, err := begin(c, f)
	if err != nil {
		return fmt.Errorf("converting %s to %s: %w", f.Path(), path, err)
	}
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return fmt.Errorf("converting %s: %w", f.Path(), err)
	}
	buffered := bufio.NewWriterSize(&progressWriter{ctx: ctx, to: part, total: p.total, report: c.Progress}, 1<<20)
	if err = p.write(buffered); err == nil {
		err = buffered.Flush()
	}
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

// planSafetensors writes int8 as our own pairs of values and scales.
func (c Conversion) planSafetensors(f *File) (plan, error) {
	entries := c.entries(f, true)
	total, err := sizes(entries)
	return plan{total, func(w io.Writer) error {
		return WriteSafetensors(w, entries, map[string]string{metadataFormat: ownFormat, metadataVersion: ownVersion})
	}}, err
}

// planPth writes what torch.load reads, which has no int8.
func (c Conversion) planPth(f *File) (plan, error) {
	if c.Weights == Q8 {
		return plan{}, errors.New("a .pth file has no int8; use fp16, bf16 or fp32, or write .safetensors or .gguf")
	}
	entries := c.entries(f, false)
	total, err := sizes(entries)
	return plan{total, func(w io.Writer) error { return WritePth(w, entries) }}, err
}

func sizes(entries []Entry) (total int64, err error) {
	for _, e := range entries {
		n, err := e.size()
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// entries are the tensors of the converted file. The vocabulary is the last one,
// because its odd length would leave the next tensor unaligned.
func (c Conversion) entries(f *File, packs bool) []Entry {
	var out []Entry
	for _, t := range f.order {
		switch dtype := c.typeOf(t); {
		case packs && t.DType == Q8 && dtype == Q8:
			out = append(out, pair(t, t.copyRaw, t.copyScales)...)
		case packs && dtype == Q8:
			q := &quantizer{tensor: t}
			out = append(out, pair(t, q.writeValues, q.writeScales)...)
		default:
			dtype = dtype.plain()
			write := func(w io.Writer) error { return t.writeAs(w, dtype) }
			out = append(out, Entry{Name: t.Name, Type: safetensorsName(dtype), Shape: t.Shape, Write: write})
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

// typeOf is the type that a tensor is to have. Q8_0 is Q8 in other files than GGUF.
func (c Conversion) typeOf(t *Tensor) DType {
	switch {
	case c.Weights == Q8 && c.quantizes(t), c.Weights == 0 && t.DType == Q8_0 && c.quantizes(t):
		return Q8
	case c.Weights == 0 || c.Weights == Q8 || !slices.Contains(c.Tensors, t.Name):
		return t.DType
	}
	return c.Weights
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

// plain is the type that values of a type are written in where packed types cannot be:
// the same, and fp16 for packed ones.
func (d DType) plain() DType {
	if d.Packed() {
		return F16
	}
	return d
}

// writeAs writes the values in a type that is not packed, in row-major order.
func (t *Tensor) writeAs(w io.Writer, dtype DType) error {
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
