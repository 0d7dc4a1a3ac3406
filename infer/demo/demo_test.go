package demo_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"

	"rookery/infer/checkpoint"
	"rookery/infer/demo"
	"rookery/infer/rwkv"
)

func open(t *testing.T) *checkpoint.File {
	t.Helper()
	f, err := demo.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestModel(t *testing.T) {
	got, err := rwkv.Detect(open(t))
	if err != nil {
		t.Fatal(err)
	}
	want := rwkv.Shape{
		Version: rwkv.V7, Layers: 11, Embed: 256, Heads: 4, HeadSize: 64, FFN: 1024, Vocab: 4096,
		Ranks: rwkv.Ranks{32, 32, 32, 64},
	}
	if got != want {
		t.Errorf("shape %+v, want %+v", got, want)
	}
	if n := got.Params(); n != 11_686_912 {
		t.Errorf("%d parameters, want 11,686,912", n)
	}
}

func TestCarriesVocabulary(t *testing.T) {
	vocab := open(t).Vocab()
	if !bytes.HasPrefix(vocab, []byte("1 '\\x00' 1\n")) {
		t.Errorf("vocabulary begins %.20q", vocab)
	}
	if n := bytes.Count(vocab, []byte("\n")); n != 4095 {
		t.Errorf("%d vocabulary lines, want 4095", n)
	}
}

func TestWeightsAreFinite(t *testing.T) {
	f := open(t)
	for _, name := range f.Names() {
		tensor, _ := f.Tensor(name)
		values := make([]float32, min(tensor.Len(), 4096))
		if err := tensor.Float32(values, tensor.Len()-len(values)); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 1000 {
				t.Fatalf("%s: value %d is %v", name, i, v)
			}
		}
	}
}

// The goldens are of no use for other weights than they were made from.
func TestGoldensFitWeights(t *testing.T) {
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ SHA256 string }
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile("rookery-demo.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(model); hex.EncodeToString(sum[:]) != golden.SHA256 {
		t.Error("golden.json was made from other weights: see testdata/README.md")
	}
}
