package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"testing"
)

// A pickler writes pickles, well-formed or not, opcode by opcode.
type pickler struct{ bytes.Buffer }

func (p *pickler) op(b ...byte) *pickler { p.Write(b); return p }

func (p *pickler) str(s string) *pickler {
	p.WriteByte(opBinUnicode)
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.WriteString(s)
	return p
}

func (p *pickler) global(module, name string) *pickler {
	p.WriteString("c" + module + "\n" + name + "\n")
	return p
}

// integer writes a LONG1 of 8 bytes.
func (p *pickler) integer(v int64) *pickler {
	p.op(opLong1, 8)
	p.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	return p
}

func (p *pickler) integers(v []int64) *pickler {
	p.op(opMark)
	for _, x := range v {
		p.integer(x)
	}
	return p.op(opTuple)
}

// A testTensor is what _rebuild_tensor_v2 is called with.
type testTensor struct {
	name          string
	class         string // "FloatStorage" if empty
	key           string
	count, offset int64
	shape, stride []int64
}

func (p *pickler) tensor(t testTensor) *pickler {
	class := t.class
	if class == "" {
		class = "FloatStorage"
	}
	p.global("torch._utils", "_rebuild_tensor_v2").op(opMark)
	p.op(opMark).str("storage").global("torch", class).str(t.key).str("cpu").integer(t.count).op(opTuple, opBinPersID)
	p.integer(t.offset).integers(t.shape).integers(t.stride).op(opNewFalse)
	p.global("collections", "OrderedDict").op(opEmptyTuple, opReduce)
	return p.op(opTuple, opReduce)
}

// weightPickle is the data.pkl of a dictionary of tensors.
func weightPickle(tensors ...testTensor) []byte {
	var p pickler
	p.op(opProto, 2, opEmptyDict, opMark)
	for _, t := range tensors {
		p.str(t.name).tensor(t)
	}
	p.op(opSetItems, opStop)
	return p.Bytes()
}

// A testEntry is a file in a zip archive.
type testEntry struct {
	name   string
	data   []byte
	method uint16
}

// zipped writes an archive as torch does: sizes only in the directory.
func zipped(t testing.TB, entries ...testEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = w.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pth is a .pth file with one storage "0" of 64 bytes.
func pth(t testing.TB, pickle []byte) []byte {
	t.Helper()
	return zipped(t,
		testEntry{name: "m/data.pkl", data: pickle},
		testEntry{name: "m/byteorder", data: []byte("little")},
		testEntry{name: "m/data/0", data: make([]byte, 64)},
		testEntry{name: "m/version", data: []byte("3\n")})
}

// zip64ed is a .pth file whose sizes and places are all in zip64 fields, as
// they are beyond 4 GiB.
func zip64ed(entries ...testEntry) []byte {
	le := binary.LittleEndian
	const absent32, absent16 = 0xffffffff, 0xffff
	var out, directory []byte
	for _, e := range entries {
		offset, n := uint64(len(out)), uint64(len(e.data))
		out = le.AppendUint32(out, 0x04034b50)
		out = append(out, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		out = le.AppendUint32(le.AppendUint32(out, absent32), absent32)
		out = le.AppendUint16(le.AppendUint16(out, uint16(len(e.name))), 20)
		out = append(out, e.name...)
		out = le.AppendUint16(le.AppendUint16(out, 1), 16)
		out = append(le.AppendUint64(le.AppendUint64(out, n), n), e.data...)

		directory = le.AppendUint32(directory, 0x02014b50)
		directory = append(directory, 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		directory = le.AppendUint32(le.AppendUint32(directory, absent32), absent32)
		directory = le.AppendUint16(le.AppendUint16(directory, uint16(len(e.name))), 28)
		directory = append(directory, make([]byte, 10)...)
		directory = append(le.AppendUint32(directory, absent32), e.name...)
		directory = le.AppendUint16(le.AppendUint16(directory, 1), 24)
		directory = le.AppendUint64(le.AppendUint64(le.AppendUint64(directory, n), n), offset)
	}
	start, size, count := uint64(len(out)), uint64(len(directory)), uint64(len(entries))
	out = append(out, directory...)
	end := uint64(len(out))
	out = le.AppendUint64(le.AppendUint32(out, 0x06064b50), 44)
	out = append(out, 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, v := range []uint64{count, count, size, start} {
		out = le.AppendUint64(out, v)
	}
	out = le.AppendUint64(le.AppendUint32(le.AppendUint32(out, 0x07064b50), 0), end)
	out = le.AppendUint32(le.AppendUint32(out, 1), 0x06054b50)
	out = le.AppendUint16(le.AppendUint16(out, 0), 0)
	out = le.AppendUint16(le.AppendUint16(out, absent16), absent16)
	out = le.AppendUint32(le.AppendUint32(out, absent32), absent32)
	return le.AppendUint16(out, 0)
}
