package checkpoint

import (
	"archive/zip"
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// counted are the values that testdata/make.py gives to tensor number i.
func counted(i, n int) []float32 {
	out := make([]float32, n)
	for k := range out {
		out[k] = float32(100*i + k)
	}
	return out
}

func TestPthTypes(t *testing.T) {
	f := opened(t, "testdata/types.pth")
	want := []DType{U8, F16, BF16, F64, F32, I64, I32}
	names := []string{"t.0", "t.1", "t.2", "t.3", "t.4", "t.5", "t.6"}
	if got := f.Names(); !slices.Equal(got, names) {
		t.Fatalf("names %v", got)
	}
	for i, name := range names {
		tensor, _ := f.Tensor(name)
		if tensor.DType != want[i] || !slices.Equal(tensor.Shape, []int{3, 5}) {
			t.Errorf("%s is %s %v", name, tensor.DType, tensor.Shape)
		}
		if got := values(t, f, name); !slices.Equal(got, counted(i, 15)) {
			t.Errorf("%s = %v", name, got)
		}
	}
	if f.Format() != "pth" || f.Path() != "testdata/types.pth" || f.Vocab() != nil {
		t.Errorf("format %q, path %q, vocabulary %q", f.Format(), f.Path(), f.Vocab())
	}
}

func TestPthViews(t *testing.T) {
	f := opened(t, "testdata/views.pth")
	base := counted(1, 24) // [6, 4]
	pick := func(index ...int) []float32 {
		out := make([]float32, len(index))
		for i, x := range index {
			out[i] = base[x]
		}
		return out
	}
	var permuted []float32 // [4, 2, 3] of [2, 3, 4]
	for i := range 4 {
		for j := range 6 {
			permuted = append(permuted, float32(200+4*j+i))
		}
	}
	for _, c := range []struct {
		name  string
		shape []int
		want  []float32
	}{
		{"whole", []int{6, 4}, base},
		{"rows", []int{3, 4}, base[8:20]},
		{"transposed", []int{4, 6}, pick(0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23)},
		{"columns", []int{6, 2}, pick(1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22)},
		{"every.second", []int{3, 4}, pick(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19)},
		{"permuted", []int{4, 2, 3}, permuted},
		{"squeezed", []int{5}, counted(3, 5)},
		{"scalar", []int{}, []float32{7}},
		{"parameter", []int{2, 2}, counted(4, 4)},
	} {
		dims, _ := f.Dims(c.name)
		if got := values(t, f, c.name); !slices.Equal(got, c.want) || !slices.Equal(dims, c.shape) {
			t.Errorf("%s = %v %v, want %v %v", c.name, dims, got, c.shape, c.want)
		}
		tensor, _ := f.Tensor(c.name)
		for off := range c.want {
			part := make([]float32, min(2, len(c.want)-off))
			if err := tensor.Float32(part, off); err != nil || !slices.Equal(part, c.want[off:off+len(part)]) {
				t.Errorf("%s at %d: %v, %v", c.name, off, part, err)
			}
		}
	}
}

func TestPthWrappings(t *testing.T) {
	for path, name := range map[string]string{"nested.pth": "a", "protocol4.pth": "a", "ordered.pth": "weight"} {
		if got := values(t, opened(t, "testdata/"+path), name); !slices.Equal(got, counted(1, 6)) {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestFloat32OutOfRange(t *testing.T) {
	tensor, _ := opened(t, "testdata/types.pth").Tensor("t.4")
	for _, c := range []struct{ off, n int }{{-1, 1}, {15, 1}, {0, 16}, {math.MaxInt, 1}, {math.MinInt, 1}} {
		if err := tensor.Float32(make([]float32, c.n), c.off); err == nil {
			t.Errorf("no error for %d values at %d of 15", c.n, c.off)
		}
	}
	if err := tensor.Float32(nil, 15); err != nil {
		t.Error(err)
	}
}

func TestPthZip64(t *testing.T) {
	storage := make([]byte, 64)
	storage[2], storage[3] = 0x80, 0x3f // 1.0
	data := zip64ed(
		testEntry{name: "m/data.pkl", data: weightPickle(testTensor{name: "a", key: "0", count: 16, shape: []int64{16}, stride: []int64{1}})},
		testEntry{name: "m/data/0", data: storage})
	f, err := FromBytes("zip64", data)
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, f, "a"); got[0] != 1 || got[1] != 0 {
		t.Errorf("values %v", got)
	}
}

func TestPthKeepsNaN(t *testing.T) {
	storage := bytes.Repeat([]byte{0, 0, 0xc0, 0x7f}, 4)
	f, err := FromBytes("nan", zipped(t,
		testEntry{name: "m/data.pkl", data: weightPickle(testTensor{name: "a", key: "0", count: 4, shape: []int64{4}, stride: []int64{1}})},
		testEntry{name: "m/data/0", data: storage}))
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, f, "a"); !math.IsNaN(float64(got[3])) {
		t.Errorf("values %v", got)
	}
}

// refused checks that a file is refused with one line that contains every part.
func refused(t *testing.T, name string, data []byte, parts ...string) {
	t.Helper()
	_, err := FromBytes("the-file", data)
	if err == nil {
		t.Errorf("%s: accepted", name)
		return
	}
	for _, part := range append(parts, "the-file: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not say %q", name, err, part)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 400 {
		t.Errorf("%s: not one plain line: %q", name, err)
	}
}

func TestPthTensorsRefused(t *testing.T) {
	const huge = math.MaxInt64
	for name, c := range map[string]struct {
		tensor testTensor
		part   string
	}{
		"missing storage":    {testTensor{key: "1", count: 16, shape: []int64{16}, stride: []int64{1}}, `"data/1" is missing`},
		"storage elsewhere":  {testTensor{key: "../data.pkl", count: 1, shape: []int64{1}, stride: []int64{1}}, "is missing"},
		"storage too small":  {testTensor{key: "0", count: 17, shape: []int64{16}, stride: []int64{1}}, "should have 17 values"},
		"negative count":     {testTensor{key: "0", count: -1, shape: []int64{16}, stride: []int64{1}}, "storage with unusable"},
		"huge count":         {testTensor{key: "0", count: huge, shape: []int64{16}, stride: []int64{1}}, "should have"},
		"shape too large":    {testTensor{key: "0", count: 16, shape: []int64{17}, stride: []int64{1}}, "17 values, its storage has 16"},
		"offset too large":   {testTensor{key: "0", count: 16, offset: 1, shape: []int64{16}, stride: []int64{1}}, "outside its storage"},
		"offset huge":        {testTensor{key: "0", count: 16, offset: huge, shape: []int64{16}, stride: []int64{1}}, "outside its storage"},
		"offset negative":    {testTensor{key: "0", count: 16, offset: -1, shape: []int64{4}, stride: []int64{1}}, "outside its storage"},
		"stride too large":   {testTensor{key: "0", count: 16, shape: []int64{4, 4}, stride: []int64{5, 1}}, "outside its storage"},
		"stride huge":        {testTensor{key: "0", count: 16, shape: []int64{2, 2, 2}, stride: []int64{huge, huge, huge}}, "outside its storage"},
		"stride negative":    {testTensor{key: "0", count: 16, offset: 15, shape: []int64{4}, stride: []int64{-1}}, "outside its storage"},
		"strides missing":    {testTensor{key: "0", count: 16, shape: []int64{4, 4}, stride: []int64{4}}, "2 dimensions but 1 strides"},
		"expanded by 0":      {testTensor{key: "0", count: 16, shape: []int64{1 << 20, 1 << 19}, stride: []int64{0, 0}}, "its storage has 16"},
		"shape negative":     {testTensor{key: "0", count: 16, shape: []int64{-4, -4}, stride: []int64{4, 1}}, "impossible shape"},
		"shape overflows":    {testTensor{key: "0", count: 16, shape: []int64{1 << 30, 1 << 30, 16}, stride: []int64{0, 0, 0}}, "impossible shape"},
		"shape overflows 64": {testTensor{key: "0", count: 16, shape: []int64{1 << 16, 1 << 16, 1 << 16, 1 << 16}, stride: []int64{0, 0, 0, 0}}, "impossible shape"},
		"too many dims":      {testTensor{key: "0", count: 16, shape: make([]int64, 9), stride: make([]int64, 9)}, "unusable arguments"},
		"other type":         {testTensor{class: "BoolStorage", key: "0", count: 16, shape: []int64{16}, stride: []int64{1}}, `"torch BoolStorage"`},
	} {
		c.tensor.name = "blocks.0.att.w0"
		refused(t, name, pth(t, weightPickle(c.tensor)), c.part)
	}
}

func TestPthSharingIsBounded(t *testing.T) {
	var tensors []testTensor
	for i := range 500 {
		tensors = append(tensors, testTensor{name: strings.Repeat("n", i+1), key: "0", count: 1 << 16, shape: []int64{1 << 16}, stride: []int64{1}})
	}
	refused(t, "one storage, many tensors", zipped(t,
		testEntry{name: "m/data.pkl", data: weightPickle(tensors...)},
		testEntry{name: "m/data/0", data: make([]byte, 4<<16)}), "claim many times")
}

func TestPthArchivesRefused(t *testing.T) {
	good := weightPickle(testTensor{name: "a", key: "0", count: 16, shape: []int64{16}, stride: []int64{1}})
	storage := testEntry{name: "m/data/0", data: make([]byte, 64)}
	pickle := testEntry{name: "m/data.pkl", data: good}
	whole := pth(t, good)
	for name, c := range map[string]struct {
		data []byte
		part string
	}{
		"compressed pickle":  {zipped(t, testEntry{name: "m/data.pkl", data: good, method: zip.Deflate}, storage), "compressed or encrypted"},
		"compressed storage": {zipped(t, pickle, testEntry{name: "m/data/0", data: make([]byte, 1<<20), method: zip.Deflate}), "compressed or encrypted"},
		"no pickle":          {zipped(t, storage), "without data.pkl"},
		"two pickles":        {zipped(t, pickle, testEntry{name: "n/data.pkl", data: good}), "more than one data.pkl"},
		"storage twice":      {zipped(t, pickle, storage, storage), "twice"},
		"big-endian":         {zipped(t, pickle, storage, testEntry{name: "m/byteorder", data: []byte("big")}), `"big" byte order`},
		"endless pickle":     {zipped(t, testEntry{name: "m/data.pkl", data: make([]byte, maxPickle+1)}), "at most"},
		"same name twice":    {pth(t, weightPickle(testTensor{name: "a", key: "0", count: 16, shape: []int64{8}, stride: []int64{1}}, testTensor{name: "a", key: "0", count: 16, shape: []int64{8}, stride: []int64{1}})), "occurs twice"},
		"control characters": {pth(t, weightPickle(testTensor{name: "\x1b[2J", key: "0", count: 16, shape: []int64{8}, stride: []int64{1}})), `"\x1b[2J"`},
		"no tensors":         {pth(t, weightPickle()), "no tensors"},
		"empty archive":      {zipped(t), "empty or split zip"},
		"only the head":      {whole[:40], "zip directory"},
	} {
		refused(t, name, c.data, c.part)
	}
	for n := range whole {
		if f, err := FromBytes("cut", whole[:n]); err == nil {
			t.Fatalf("accepted when cut to %d of %d bytes: %v", n, len(whole), f.Names())
		}
	}
}

func TestPthDirectoryIsBounded(t *testing.T) {
	entries := make([]testEntry, 1<<16)
	for i := range entries {
		entries[i].name = strings.Repeat("x", 40)
	}
	refused(t, "endless directory", zipped(t, entries...), "larger than weights need")
}
