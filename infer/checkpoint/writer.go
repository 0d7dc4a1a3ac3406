package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// An Entry is a tensor to be written to a .safetensors file.
type Entry struct {
	Name  string
	Type  string // as safetensors names it: "F32", "BF16", "I8"
	Shape []int
	// Write writes the values, little-endian and in row-major order. It is
	// called once, after the Write of every earlier entry.
	Write func(w io.Writer) error
}

// safetensorsSizes are bytes per value of the types that can be written.
var safetensorsSizes = map[string]int64{"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1}

// headerAlignment is where the data begin: at a multiple of it.
const headerAlignment = 64

// WriteSafetensors writes entries in their order. The same arguments give the same
// bytes.
func WriteSafetensors(w io.Writer, entries []Entry, metadata map[string]string) error {
	header, sizes, err := encodeHeader(entries, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for i, e := range entries {
		counter := countingWriter{to: w}
		if err := e.Write(&counter); err != nil {
			return fmt.Errorf("writing tensor %s: %w", e.Name, err)
		}
		if counter.n != sizes[i] {
			return fmt.Errorf("writing tensor %s: %d bytes instead of %d", e.Name, counter.n, sizes[i])
		}
	}
	return nil
}

// encodeHeader makes the length and the JSON, and gives every entry's size in bytes.
func encodeHeader(entries []Entry, metadata map[string]string) (header []byte, sizes []int64, err error) {
	b := bytes.NewBuffer(make([]byte, 8))
	b.WriteByte('{')
	if err := appendField(b, "__metadata__", metadata); err != nil {
		return nil, nil, err
	}
	sizes = make([]int64, len(entries))
	offset := int64(0)
	seen := map[string]bool{}
	for i, e := range entries {
		if seen[e.Name] {
			return nil, nil, fmt.Errorf("tensor %s: to be written twice", e.Name)
		}
		seen[e.Name] = true
		if sizes[i], err = e.size(); err != nil {
			return nil, nil, err
		}
		b.WriteByte(',')
		place := []int64{offset, offset + sizes[i]}
		offset += sizes[i]
		if err := appendField(b, e.Name, entry{DType: e.Type, Shape: toInt64s(e.Shape), Offsets: place}); err != nil {
			return nil, nil, err
		}
	}
	b.WriteByte('}')
	for b.Len()%headerAlignment != 0 {
		b.WriteByte(' ')
	}
	if b.Len()-8 > maxHeader {
		return nil, nil, fmt.Errorf("a header of %d bytes, at most %d can be read", b.Len()-8, maxHeader)
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(b.Len()-8))
	return b.Bytes(), sizes, nil
}

// size is the number of bytes that the entry's type and shape need.
func (e Entry) size() (int64, error) {
	n, known := safetensorsSizes[e.Type]
	if !known {
		return 0, fmt.Errorf("tensor %s: type %q cannot be written", e.Name, e.Type)
	}
	for _, d := range e.Shape {
		if d < 0 || d > 0 && n > math.MaxInt64/int64(d) {
			return 0, fmt.Errorf("tensor %s: impossible shape %v", e.Name, e.Shape)
		}
		n *= int64(d)
	}
	return n, nil
}

// appendField writes "name":value. Maps are written in the order of their keys.
func appendField(b *bytes.Buffer, name string, value any) error {
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	b.Write(key)
	b.WriteByte(':')
	b.Write(text)
	return nil
}

func toInt64s(v []int) []int64 {
	out := make([]int64, 0, len(v))
	for _, x := range v {
		out = append(out, int64(x))
	}
	return slices.Clip(out)
}

// A countingWriter counts what passes through.
type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}
