package load

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/demo"
	"rookery/infer/rwkv"
)

// tiny is the shape of the test models; vocabularies of 300 are nobody's.
var tiny = rwkv.Shape{
	Version: rwkv.V7, Layers: 2, Embed: 64, Heads: 1, HeadSize: 64, FFN: 64, Vocab: 300,
	Ranks: rwkv.Ranks{32, 32, 32, 32},
}

// writeModel writes a model of zeros.
func writeModel(t *testing.T, path string, shape rwkv.Shape) {
	t.Helper()
	var entries []checkpoint.Entry
	for name, spec := range shape.Tensors() {
		n := 2
		for _, d := range spec.Sizes(shape) {
			n *= d
		}
		entries = append(entries, checkpoint.Entry{Name: name, Type: "BF16", Shape: spec.Sizes(shape), Write: func(w io.Writer) error {
			_, err := w.Write(make([]byte, n))
			return err
		}})
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.WriteSafetensors(f, entries, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// vocabText is a vocabulary file: all bytes, and n tokens of two letters.
func vocabText(n int) string {
	var b strings.Builder
	for i := range 256 {
		writeEntry(&b, i+1, []byte{byte(i)})
	}
	for i := range n {
		writeEntry(&b, 257+i, []byte{byte('a' + i/26), byte('a' + i%26)})
	}
	return b.String()
}

func writeEntry(b *strings.Builder, id int, token []byte) {
	const hex = "0123456789abcdef"
	b.WriteString(strconv.Itoa(id) + " b'")
	for _, c := range token {
		b.WriteString(`\x` + string(hex[c>>4]) + string(hex[c&15]))
	}
	b.WriteString("' " + strconv.Itoa(len(token)) + "\n")
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, spec Spec) *infer.Model {
	t.Helper()
	m, b, err := Open(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestOpenEmbedded(t *testing.T) {
	var last Progress
	m, b, err := Open(context.Background(), Spec{Slots: 3}, func(p Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	if m.Name != demo.Name || m.Path != "" || m.Shape.Vocab != 4096 {
		t.Errorf("model %q at %q with a vocabulary of %d", m.Name, m.Path, m.Shape.Vocab)
	}
	if last.Done != last.Total || last.Total == 0 {
		t.Errorf("progress ended at %+v", last)
	}
	if b.Slots() != 3 {
		t.Errorf("%d slots, want 3", b.Slots())
	}
	text := "User: Hello!\n\nAssistant:"
	if got := string(m.Tokenizer.Decode(nil, m.Tokenizer.Encode(nil, text))); got != text {
		t.Errorf("the tokenizer makes %q of %q", got, text)
	}
	if m.Tokenizer.Size() != m.Shape.Vocab {
		t.Errorf("a tokenizer of %d for a vocabulary of %d: the model's own was not used", m.Tokenizer.Size(), m.Shape.Vocab)
	}
}

// Snapshots of other weights, or of the same rounded otherwise, must not fit.
func TestFingerprint(t *testing.T) {
	a := open(t, Spec{})
	same := open(t, Spec{Weights: "int8"})
	other := open(t, Spec{Weights: "fp16"})
	if a.Fingerprint != same.Fingerprint {
		t.Error("the embedded model is int8, and int8 of it has another fingerprint")
	}
	if a.Fingerprint == other.Fingerprint {
		t.Error("int8 and fp16 have the same fingerprint")
	}
}

// Another program shortens the file while it is loaded.
func TestShrinkingModelIsRefused(t *testing.T) {
	dir := t.TempDir()
	model, vocab := filepath.Join(dir, "tiny.safetensors"), filepath.Join(dir, "vocab.txt")
	if err := os.WriteFile(vocab, []byte(vocabText(40)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, weights := range []string{"fp32", "int8"} {
		writeModel(t, model, tiny)
		var once sync.Once
		_, b, err := Open(t.Context(), Spec{Model: model, Backend: "cpu", Weights: weights, Vocab: vocab}, func(Progress) {
			once.Do(func() {
				if err := os.Truncate(model, 16<<10); err != nil {
					t.Error(err)
				}
			})
		})
		if b != nil || err == nil || !strings.Contains(err.Error(), "become shorter") || !strings.Contains(err.Error(), model) {
			t.Errorf("%s: %v", weights, err)
		}
	}
}

func TestChooseTokenizer(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "tiny.safetensors")
	writeModel(t, model, tiny)

	if _, _, err := Open(context.Background(), Spec{Model: model}, nil); err == nil || !strings.Contains(err.Error(), "vocabulary of 300") {
		t.Errorf("error %v, want one about the vocabulary of 300", err)
	}

	writeText(t, filepath.Join(dir, "readme.txt"), "This is a model.\n")
	writeText(t, filepath.Join(dir, "a-vocab-of-another.txt"), vocabText(200))
	writeText(t, filepath.Join(dir, "vocab.txt"), vocabText(40))
	m := open(t, Spec{Model: model})
	if m.Tokenizer.Name() != "vocab.txt" || m.Name != "tiny" || m.Path != model {
		t.Errorf("%s at %s with the tokenizer %s, want tiny at %s with vocab.txt", m.Name, m.Path, m.Tokenizer.Name(), model)
	}

	asked := filepath.Join(t.TempDir(), "mine.txt")
	writeText(t, asked, vocabText(10))
	m = open(t, Spec{Model: model, Vocab: asked})
	if m.Tokenizer.Name() != "mine.txt" {
		t.Errorf("tokenizer %s, want the one asked for", m.Tokenizer.Name())
	}

	bytes := filepath.Join(t.TempDir(), "bytes.safetensors")
	shape := tiny
	shape.Vocab = 256
	writeModel(t, bytes, shape)
	m = open(t, Spec{Model: bytes})
	if m.Tokenizer.Name() != "bytes" {
		t.Errorf("tokenizer %s for a vocabulary of 256, want bytes", m.Tokenizer.Name())
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "tiny.safetensors")
	writeModel(t, model, tiny)
	large, few := filepath.Join(dir, "large.txt"), filepath.Join(dir, "few.txt")
	writeText(t, large, vocabText(100))
	writeText(t, few, vocabText(0))
	broken := filepath.Join(dir, "broken.pth")
	writeText(t, broken, "not a model")
	for _, c := range []struct {
		name string
		spec Spec
		want []string
	}{
		{"no such file", Spec{Model: filepath.Join(dir, "none.pth")}, []string{"none.pth"}},
		{"not a model", Spec{Model: broken}, []string{"broken.pth"}},
		{"unknown backend", Spec{Backend: "abacus"}, []string{"abacus", "use auto, cpu or cuda"}},
		{"unknown width", Spec{Weights: "int1"}, []string{"int1", "int8"}},
		{"vocabulary too large", Spec{Model: model, Vocab: large}, []string{"large.txt", "300 rows"}},
		{"vocabulary too small", Spec{Vocab: few}, []string{"few.txt", "4096 rows"}},
		{"no such vocabulary", Spec{Vocab: filepath.Join(dir, "none.txt")}, []string{"none.txt"}},
		{"broken vocabulary", Spec{Vocab: broken}, []string{"broken.pth"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, b, err := Open(context.Background(), c.spec, nil)
			if err == nil {
				t.Fatal(b.Close(), "no error")
			}
			for _, want := range append(c.want, "") {
				if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q, want one line with %q", err, want)
				}
			}
		})
	}
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Open(ctx, Spec{}, nil); err == nil {
		t.Error("loaded in spite of a cancelled context")
	}
}

func TestSynthetic(t *testing.T) {
	b, err := Synthetic(context.Background(), tiny, Spec{Backend: "cpu", Threads: 1, Slots: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "cpu, 1 thread, "; !strings.HasPrefix(b.Name(), want) || !strings.HasSuffix(b.Name(), "fp16") {
		t.Errorf("%s, want %s and fp16", b.Name(), want)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
