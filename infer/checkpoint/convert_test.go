package checkpoint

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func quantizeForTest(t *testing.T, f *File, path string, c Conversion) {
	t.Helper()
	c.Weights = Q8
	if err := Convert(context.Background(), f, path, c); err != nil {
		t.Fatal(err)
	}
}

// written writes entries of float32 values to a file.
func written(t *testing.T, entries []Entry, metadata map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.safetensors")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteSafetensors(w, entries, metadata), w.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// floats is an entry of values.
func floats(name string, values []float32, shape ...int) Entry {
	return Entry{Name: name, Type: "F32", Shape: shape, Write: func(w io.Writer) error {
		return binary.Write(w, binary.LittleEndian, values)
	}}
}

func random(n int, scale float64) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64() * scale)
	}
	return out
}

// wideMatrices are the matrices of wideModel but its embedding.
var wideMatrices = []string{"blocks.0.att.key.weight", "blocks.0.ffn.key.weight", "blocks.0.ffn.value.weight", "head.weight"}

// wideModel has matrices whose rows are whole blocks, and others.
func wideModel(t *testing.T) string {
	return written(t, []Entry{
		floats("emb.weight", random(8*64, 0.5), 8, 64),
		floats("blocks.0.att.w0", random(64, 3), 1, 1, 64),
		floats("blocks.0.att.w1", random(64*32, 0.1), 64, 32),
		floats("blocks.0.att.key.weight", random(64*64, 0.1), 64, 64),
		floats("blocks.0.ffn.key.weight", random(96*64, 1e-6), 96, 64),
		floats("blocks.0.ffn.value.weight", random(64*40, 0.1), 64, 40),
		floats("head.weight", random(8*64, 40), 8, 64),
	}, nil)
}

func TestQuantize(t *testing.T) {
	from := opened(t, wideModel(t))
	path := filepath.Join(t.TempDir(), "q.safetensors")
	var done, total int64
	vocab := []byte("1 'a' 1\n")
	quantizeForTest(t, from, path, Conversion{Vocab: vocab, Tensors: wideMatrices, Progress: func(d, n int64) { done, total = d, n }})
	f := opened(t, path)
	if !slices.Equal(f.Names(), from.Names()) {
		t.Errorf("names %v", f.Names())
	}
	if string(f.Vocab()) != string(vocab) {
		t.Errorf("vocabulary %q", f.Vocab())
	}
	if done != total || total == 0 || total > f.Size() {
		t.Errorf("progress ended at %d of %d, the file has %d", done, total, f.Size())
	}
	for _, name := range f.Names() {
		got, want := values(t, f, name), values(t, from, name)
		tensor, _ := f.Tensor(name)
		switch name {
		case "blocks.0.att.key.weight", "blocks.0.ffn.key.weight", "head.weight":
			checkBlocks(t, tensor, got, want)
		default: // the embedding was not asked for, and rows of 40 are not whole blocks
			if tensor.DType != F32 || !slices.Equal(got, want) {
				t.Errorf("%s is %s and changed", name, tensor.DType)
			}
		}
	}
}

// checkBlocks checks that every value is within half a step of the original.
func checkBlocks(t *testing.T, tensor *Tensor, got, want []float32) {
	t.Helper()
	ints, scales, ok := blocks(t, tensor)
	if tensor.DType != Q8 || !ok || len(ints) != len(want) || len(scales) != len(want)/Q8Block {
		t.Fatalf("%s is %s with %d values and %d scales", tensor.Name, tensor.DType, len(ints), len(scales))
	}
	for i := range want {
		step := fromHalf(scales[i/Q8Block])
		if float32(ints[i])*step != got[i] || ints[i] == -128 {
			t.Fatalf("%s: value %d is %v, the blocks say %d * %v", tensor.Name, i, got[i], ints[i], step)
		}
		if d := math.Abs(float64(got[i] - want[i])); d > 0.501*float64(step) {
			t.Fatalf("%s: value %d changed by %v, a step is %v", tensor.Name, i, d, step)
		}
	}
	for off := range 3 * Q8Block { // from and to the middle of blocks
		part := make([]float32, min(off+1, len(got)-off))
		if err := tensor.Float32(part, off); err != nil || !slices.Equal(part, got[off:off+len(part)]) {
			t.Fatalf("%s: %d values at %d differ, %v", tensor.Name, len(part), off, err)
		}
	}
}

func TestQuantizeBlock(t *testing.T) {
	block := func(v ...float32) []float32 { return append(v, make([]float32, Q8Block-len(v))...) }
	for _, c := range []struct {
		src   []float32
		scale float32
		first []int8
	}{
		{block(), 0, []int8{0, 0}},
		{block(127, -127, 0.5, 1.5, -2.5), 1, []int8{127, -127, 0, 2, -2}},
		{block(254, 1, 3), 2, []int8{127, 0, 2}},
		// The scale of subnormal fp16 is coarse: 1.4 units become 2, not 1.
		{block(127*1.4*0x1p-24, 0x1p-24), 0x1p-23, []int8{89, 0}},
		// The smallest scale serves what is smaller still.
		{block(0x1p-24, 0x1p-30), 0x1p-24, []int8{1, 0}},
	} {
		var got [Q8Block]int8
		scale, err := quantizeBlock(got[:], c.src)
		if err != nil || fromHalf(scale) != c.scale || !slices.Equal(got[:len(c.first)], c.first) {
			t.Errorf("%v...: scale %v, values %v, %v", c.src[:3], fromHalf(scale), got[:len(c.first)], err)
		}
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e7} {
		for i := range Q8Block {
			src := make([]float32, Q8Block)
			src[i] = bad
			if _, err := quantizeBlock(make([]int8, Q8Block), src); err == nil {
				t.Fatalf("%v at %d was quantised", bad, i)
			}
		}
	}
}

// A converted file converts to itself.
func TestQuantizeTwice(t *testing.T) {
	dir := t.TempDir()
	once, twice := filepath.Join(dir, "1.safetensors"), filepath.Join(dir, "2.safetensors")
	quantizeForTest(t, opened(t, wideModel(t)), once, Conversion{Tensors: append(wideMatrices, "emb.weight"), Vocab: []byte("odd")})
	quantizeForTest(t, opened(t, once), twice, Conversion{Tensors: wideMatrices})
	a, errA := os.ReadFile(once)
	b, errB := os.ReadFile(twice)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error("converting a converted file changed it")
	}
}

// Strided tensors are written in row-major order.
func TestQuantizeFromWebRWKV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.safetensors")
	from := opened(t, "testdata/web-rwkv.safetensors")
	quantizeForTest(t, from, path, Conversion{Tensors: wideMatrices})
	f := opened(t, path)
	for _, name := range from.Names() {
		if got, want := values(t, f, name), values(t, from, name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got, want := f.Fingerprint(), from.Fingerprint(); got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
}

func TestQuantizeLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	f := opened(t, wideModel(t))
	path := filepath.Join(dir, "q.safetensors")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Convert(ctx, f, path, Conversion{Weights: Q8, Tensors: wideMatrices}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	nan := opened(t, written(t, []Entry{floats("head.weight", slices.Repeat([]float32{float32(math.NaN())}, 64), 2, 32)}, nil))
	err := Convert(context.Background(), nan, path, Conversion{Weights: Q8, Tensors: wideMatrices})
	if err == nil || !strings.Contains(err.Error(), "head.weight") || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("NaN: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	quantizeForTest(t, f, path, Conversion{Weights: Q8, Tensors: wideMatrices})
	if err := Convert(context.Background(), f, path, Conversion{Weights: Q8, Tensors: wideMatrices}); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("over an existing file: %v", err)
	}
}
