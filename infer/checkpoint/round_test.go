package checkpoint

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A model comes through every format and back with the same values and vocabulary.
func TestConvertRound(t *testing.T) {
	from := opened(t, "testdata/model.pth")
	vocab, tokens := []byte("1 'a' 1\n2 b'\\x27\\xe4' 2\n3 '\\n' 1\n"), [][]byte{nil, []byte("a"), []byte("'\xe4"), []byte("\n")}
	dir := t.TempDir()
	last := from
	for i, ending := range []string{"gguf", "safetensors", "pth", "gguf", "pth", "safetensors", "gguf"} {
		path := filepath.Join(dir, string(rune('a'+i))+"."+ending)
		if err := Convert(t.Context(), last, path, Conversion{Vocab: vocab, Tokens: tokens, Name: "tiny"}); err != nil {
			t.Fatal(err)
		}
		f := opened(t, path)
		if f.Format() != ending || len(f.Names()) != len(from.Names()) {
			t.Fatalf("%s has %d tensors, want %d", path, len(f.Names()), len(from.Names()))
		}
		for _, name := range from.Names() {
			dimsA, _ := from.Dims(name)
			dimsB, _ := f.Dims(name)
			if !slices.Equal(dimsA, dimsB) || !slices.Equal(values(t, from, name), values(t, f, name)) {
				t.Fatalf("%s: %s changed", path, name)
			}
		}
		if ending == "gguf" {
			if want := "1 b'a' 1\n2 b'\\x27\\xe4' 2\n3 b'\\x0a' 1\n"; string(f.Vocab()) != want || f.Metadata()["general.name"] != "tiny" {
				t.Errorf("%s: vocabulary %q, metadata %v", path, f.Vocab(), f.Metadata())
			}
		} else if string(f.Vocab()) != string(vocab) {
			t.Errorf("%s: vocabulary %q", path, f.Vocab())
		}
		if ending == "pth" {
			if err := f.Verify(t.Context(), nil); err != nil || !f.HasChecksums() {
				t.Errorf("%s: %v", path, err)
			}
			if tensor, _ := f.Tensor("emb.weight"); tensor.offset%headerAlignment != 0 {
				t.Errorf("%s: values at byte %d", path, tensor.offset)
			}
		}
		last = f
	}
}

// The types of the matrices are those that were asked for.
func TestConvertTypes(t *testing.T) {
	from := opened(t, wideModel(t))
	const name = "blocks.0.att.key.weight"
	want := values(t, from, name)
	for _, c := range []struct {
		file    string
		weights DType
		stored  DType
		step    float64
	}{
		{"a.safetensors", F16, F16, 1.0 / 2048}, {"b.pth", BF16, BF16, 1.0 / 256}, {"c.safetensors", Q8, Q8, 1.0 / 100}, {"d.pth", F32, F32, 0},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := Convert(t.Context(), from, path, Conversion{Weights: c.weights, Tensors: wideMatrices}); err != nil {
			t.Fatal(err)
		}
		f := opened(t, path)
		tensor, _ := f.Tensor(name)
		vector, _ := f.Tensor("blocks.0.att.w0")
		if tensor.DType != c.stored || vector.DType != F32 {
			t.Errorf("%s: the matrix is %s and the vector %s", c.file, tensor.DType, vector.DType)
		}
		for i, v := range values(t, f, name) {
			if math.Abs(float64(v-want[i])) > c.step*0.5 {
				t.Fatalf("%s: %v became %v", c.file, want[i], v)
			}
		}
	}
}

// Blocks of a GGUF file go as they are into another one, and int8 blocks into int8.
func TestConvertKeepsBlocks(t *testing.T) {
	from := opened(t, "testdata/types.gguf")
	w := &ggufWriter{file: from, names: ggufArchs["rwkv7"]}
	if err := w.collect(); err != nil {
		t.Fatal(err)
	}
	for i, tensor := range from.order {
		if w.tensors[i].dtype != tensor.DType {
			t.Errorf("%s would be %s, it is %s", tensor.Name, w.tensors[i].dtype, tensor.DType)
		}
		var got strings.Builder
		if err := w.tensors[i].write(&got); err != nil {
			t.Fatal(err)
		}
		raw, err := from.image.slice(tensor.offset, tensor.StoredBytes(), nil)
		if err != nil || got.String() != string(raw) {
			t.Errorf("%s: the blocks changed, %v", tensor.Name, err)
		}
	}
	eight, _ := from.Tensor("blocks.0.ffn.key.weight")
	path := filepath.Join(t.TempDir(), "q.safetensors")
	one := &File{path: "one", image: from.image, length: from.length, order: []*Tensor{eight}, byName: map[string]*Tensor{eight.Name: eight}}
	if err := Convert(t.Context(), one, path, Conversion{Tensors: []string{eight.Name}}); err != nil {
		t.Fatal(err)
	}
	f := opened(t, path)
	if tensor, _ := f.Tensor(eight.Name); tensor.DType != Q8 || len(values(t, f, eight.Name)) != 512 {
		t.Errorf("Q8_0 became %s", tensor.DType)
	}
}

func TestConvertRefuses(t *testing.T) {
	from, old := opened(t, "testdata/model.pth"), opened(t, "testdata/old-5.pth")
	dir := t.TempDir()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		f    *File
		name string
		c    Conversion
		want string
	}{
		{t.Context(), from, "x.bin", Conversion{}, "end the name"},
		{t.Context(), from, "x.pth", Conversion{Weights: Q8}, "no int8"},
		{t.Context(), old, "x.gguf", Conversion{}, "RWKV-6 and RWKV-7 alone"},
		{cancelled, from, "x.gguf", Conversion{}, "canceled"},
		{t.Context(), from, "none/x.gguf", Conversion{}, "none"},
	} {
		err := Convert(c.ctx, c.f, filepath.Join(dir, c.name), c.c)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "there.pth"), nil, 0o600)); err != nil || len(entries) > 0 {
		t.Fatalf("left are %v, %v", entries, err)
	}
	if err := Convert(t.Context(), from, filepath.Join(dir, "there.pth"), Conversion{}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Error(err)
	}
}
