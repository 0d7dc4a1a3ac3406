package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// pthFolder is the top folder inside the zip file.
const pthFolder = "archive/"

// pthClasses are torch's classes of storages.
var pthClasses = map[string]string{
	"F32": "FloatStorage", "F16": "HalfStorage", "BF16": "BFloat16Storage", "F64": "DoubleStorage",
	"U8": "ByteStorage", "I64": "LongStorage", "I32": "IntStorage",
}

// WritePth writes tensors as torch.save does: a zip file, nothing compressed, of a
// pickle that names them and of each one's values, which begin at multiples of 64.
func WritePth(w io.Writer, entries []Entry) error {
	for _, e := range entries {
		if pthClasses[e.Type] == "" {
			return fmt.Errorf("tensor %s: a .pth file has no type %s", e.Name, e.Type)
		}
	}
	counter := &countingWriter{to: w}
	z := zip.NewWriter(counter)
	descriptor := int64(0) // bytes that end the entry before, with its checksum
	add := func(name string, write func(io.Writer) error) error {
		if err := z.Flush(); err != nil {
			return err
		}
		header := &zip.FileHeader{Name: pthFolder + name, Method: zip.Store}
		const local, tag = 30, 4 // bytes of a local header without its name, and of what begins an extra field
		pad := (headerAlignment - (counter.n+descriptor+local+int64(len(header.Name))+tag)%headerAlignment) % headerAlignment
		header.Extra = append([]byte{'F', 'B', byte(pad), 0}, make([]byte, pad)...)
		f, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		values := &countingWriter{to: f}
		if err := write(values); err != nil {
			return err
		}
		if descriptor = 16; values.n >= math.MaxUint32 {
			descriptor = 24
		}
		return nil
	}
	text := func(data []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		}
	}
	if err := add("data.pkl", text(pickled(entries))); err != nil {
		return err
	}
	if err := add("byteorder", text([]byte("little"))); err != nil {
		return err
	}
	for i, e := range entries {
		if err := add("data/"+strconv.Itoa(i), e.Write); err != nil {
			return fmt.Errorf("writing tensor %s: %w", e.Name, err)
		}
	}
	if err := add("version", text([]byte("3\n"))); err != nil {
		return err
	}
	return z.Close()
}

// pickled is a dictionary of tensors, each with a storage of its own.
func pickled(entries []Entry) []byte {
	p := pickle{}
	p.op(opProto, 2, opEmptyDict, opMark)
	for i, e := range entries {
		count := 1
		stride := make([]int, len(e.Shape))
		for d := len(e.Shape) - 1; d >= 0; d-- {
			stride[d] = count
			count *= e.Shape[d]
		}
		p.text(e.Name)
		p.global("torch._utils", "_rebuild_tensor_v2").op(opMark)
		p.op(opMark).text("storage").global("torch", pthClasses[e.Type]).text(strconv.Itoa(i)).text("cpu").integer(count).op(opTuple, opBinPersID)
		p.integer(0).integers(e.Shape).integers(stride).op(opNewFalse)
		p.global("collections", "OrderedDict").op(opEmptyTuple, opReduce)
		p.op(opTuple, opReduce)
	}
	p.op(opSetItems, opStop)
	return p.Bytes()
}

type pickle struct{ bytes.Buffer }

func (p *pickle) op(b ...byte) *pickle {
	p.Write(b)
	return p
}

func (p *pickle) text(s string) *pickle {
	p.WriteByte(opBinUnicode)
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.WriteString(s)
	return p
}

func (p *pickle) global(module, name string) *pickle {
	p.WriteString(string(rune(opGlobal)) + module + "\n" + name + "\n")
	return p
}

func (p *pickle) integer(v int) *pickle {
	p.WriteByte(opBinInt)
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(v)))
	return p
}

func (p *pickle) integers(v []int) *pickle {
	p.op(opMark)
	for _, x := range v {
		p.integer(x)
	}
	return p.op(opTuple)
}
