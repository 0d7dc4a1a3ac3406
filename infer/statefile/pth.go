package statefile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"strconv"

	"rookery/infer/checkpoint"
)

// Opcodes of the pickle protocol, as torch.save writes them.
const (
	opProto      = 0x80
	opEmptyDict  = '}'
	opEmptyTuple = ')'
	opMark       = '('
	opTuple      = 't'
	opUnicode    = 'X'
	opGlobal     = 'c'
	opInt        = 'J'
	opFalse      = 0x89
	opPersID     = 'Q'
	opReduce     = 'R'
	opSetItems   = 'u'
	opStop       = '.'
)

// pthFolder is the top folder inside the zip file.
const pthFolder = "state/"

// writePth writes fp32 tensors as torch.save does: a zip file, nothing
// compressed, of a pickle that names them and of each one's values.
func writePth(w io.Writer, entries []checkpoint.Entry) error {
	z := zip.NewWriter(w)
	add := func(name string, write func(io.Writer) error) error {
		f, err := z.CreateHeader(&zip.FileHeader{Name: pthFolder + name, Method: zip.Store})
		if err != nil {
			return err
		}
		return write(f)
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
			return err
		}
	}
	if err := add("version", text([]byte("3\n"))); err != nil {
		return err
	}
	return z.Close()
}

// pickled is a dictionary of tensors, each with a storage of its own.
func pickled(entries []checkpoint.Entry) []byte {
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
		p.op(opMark).text("storage").global("torch", "FloatStorage").text(strconv.Itoa(i)).text("cpu").integer(count).op(opTuple, opPersID)
		p.integer(0).integers(e.Shape).integers(stride).op(opFalse)
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
	p.WriteByte(opUnicode)
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.WriteString(s)
	return p
}

func (p *pickle) global(module, name string) *pickle {
	p.WriteString(string(rune(opGlobal)) + module + "\n" + name + "\n")
	return p
}

func (p *pickle) integer(v int) *pickle {
	p.WriteByte(opInt)
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
