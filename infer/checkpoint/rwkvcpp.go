package checkpoint

import (
	"encoding/binary"
	"math"
	"strings"
)

// rwkvCppTypes are the numbers of the types in files of rwkv.cpp.
var rwkvCppTypes = map[uint32]DType{0: F32, 1: F16, 2: Q4_0, 3: Q4_1, 7: Q5_0, 8: Q5_1, 9: Q8_0}

// The versions of the format: 100 has fp32 and fp16 only.
const (
	rwkvCppPlain     = 100
	rwkvCppQuantised = 101
)

func isRWKVCpp(head []byte) bool { return strings.HasPrefix(string(head), "fmgg") }

// openRWKVCpp reads a .bin file of rwkv.cpp: a header of six numbers, then tensors to
// the end of the file, each with its description before its values.
func openRWKVCpp(m *image) (*File, error) {
	f := newFile(m, formatRWKVCpp)
	head, err := m.slice(0, min(24, m.length), nil)
	if err != nil {
		return nil, err
	}
	if len(head) < 24 {
		return nil, refuse(downloadAgain, "the file ends inside its header")
	}
	version := binary.LittleEndian.Uint32(head[4:])
	if version != rwkvCppPlain && version != rwkvCppQuantised {
		return nil, refuse("convert the model again", "version %d of rwkv.cpp's format, versions %d and %d are read", version, rwkvCppPlain, rwkvCppQuantised)
	}
	for at := int64(24); at < m.length; {
		t, next, err := readRWKVCppTensor(m, at)
		if err != nil {
			return nil, err
		}
		if err := f.add(t); err != nil {
			return nil, err
		}
		at = next
	}
	return f, f.fromRWKVCpp()
}

// readRWKVCppTensor reads the description of the tensor at a place, and says where the
// next one is.
func readRWKVCppTensor(m *image, at int64) (*Tensor, int64, error) {
	fixed, err := m.slice(at, min(12, m.length-at), nil)
	if err != nil {
		return nil, 0, err
	}
	if len(fixed) < 12 {
		return nil, 0, refuse(downloadAgain, "the file ends inside a tensor's description")
	}
	rank, keyLen, kind := binary.LittleEndian.Uint32(fixed), binary.LittleEndian.Uint32(fixed[4:]), binary.LittleEndian.Uint32(fixed[8:])
	if rank < 1 || rank > 3 || keyLen > maxName {
		return nil, 0, refuse(downloadAgain, "a tensor of %d dimensions with a name of %d bytes", rank, keyLen)
	}
	rest, err := m.slice(at+12, min(int64(4*rank+keyLen), m.length-at-12), nil)
	if err != nil {
		return nil, 0, err
	}
	if len(rest) < int(4*rank+keyLen) {
		return nil, 0, refuse(downloadAgain, "the file ends inside a tensor's description")
	}
	dims := make([]int64, rank) // ggml counts dimensions from the innermost
	for i := range dims {
		dims[len(dims)-1-i] = int64(binary.LittleEndian.Uint32(rest[4*i:]))
	}
	name := string(rest[4*rank:])
	dtype, known := rwkvCppTypes[kind]
	if !known {
		return nil, 0, refuseTensor(name, "convert the model again", "its type %d is not read", kind)
	}
	t, err := blockTensor(m, name, dtype, dims)
	if err != nil {
		return nil, 0, err
	}
	t.offset = at + 12 + int64(len(rest))
	if t.StoredBytes() > m.length-t.offset {
		return nil, 0, refuseTensor(name, downloadAgain, "it ends after the end of the file")
	}
	return t, t.offset + t.StoredBytes(), nil
}

// fromRWKVCpp undoes what rwkv.cpp's converter did to the tensors: it stores some
// functions of the decay and the bonus, and low-rank matrices transposed.
func (f *File) fromRWKVCpp() error {
	v7 := slicesContainSuffix(f.order, ".att.r_k")
	v6 := slicesContainSuffix(f.order, ".att.time_maa_x")
	v5 := !v7 && !v6 && slicesContainSuffix(f.order, ".att.ln_x.weight")
	return f.rename(func(t *Tensor) error {
		prefix, last, _ := strings.Cut(t.Name, ".att.")
		for len(t.Shape) > 1 && t.Shape[len(t.Shape)-1] == 1 && last != "" && !strings.HasSuffix(last, ".weight") {
			t.Shape = t.Shape[:len(t.Shape)-1]
		}
		switch {
		case last == "x_rwkvag":
			return f.addParts(t, prefix+".", flaFused)
		case v7 && len(t.Shape) >= 2 && len(last) == 2 && strings.ContainsAny(last[:1], "wavg"),
			v6 && len(t.Shape) >= 2 && (strings.HasSuffix(last, "_w1") || strings.HasSuffix(last, "_w2")):
			t.transposeLast()
		case last == "time_decay" && v6:
			t.Shape = []int{t.Len()}
		case last == "time_decay" && v5:
			t.alter = each(func(x float64) float64 { return math.Log(-math.Log(x)) }) // of exp(-exp(w))
		case last == "time_decay":
			t.alter = each(func(x float64) float64 { return math.Log(-x) }) // of -exp(w)
		case last == "time_first" && v5:
			t.Name = prefix + ".att.time_faaaa" // exp(time_first)
		}
		t.Shape = squeezedInts(t.Shape)
		return f.add(t)
	})
}

// each applies a function to values.
func each(of func(float64) float64) func([]float32) {
	return func(values []float32) {
		for i, v := range values {
			values[i] = float32(of(float64(v)))
		}
	}
}
