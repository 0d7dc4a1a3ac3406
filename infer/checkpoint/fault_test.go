//go:build unix

package checkpoint

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// shortened is a model file that another program has cut to its header while it was
// open. Touching what is missing kills a program that does not expect it.
func shortened(t *testing.T, quantised bool) *File {
	t.Helper()
	path := written(t, []Entry{floats("emb.weight", make([]float32, 1<<18), 1<<13, Q8Block)}, nil)
	if quantised {
		q := filepath.Join(t.TempDir(), "q.safetensors")
		quantizeForTest(t, opened(t, path), q, Conversion{Tensors: []string{"emb.weight"}})
		path = q
	}
	f := opened(t, path)
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestShortenedFileIsAnError(t *testing.T) {
	plain, quantised := shortened(t, false), shortened(t, true)
	tensor, _ := plain.Tensor("emb.weight")
	q8, _ := quantised.Tensor("emb.weight")
	values := make([]float32, 1<<18)
	written := func(f *File) error {
		p, err := Conversion{}.planSafetensors(f)
		if err != nil {
			return err
		}
		touching := bufio.NewWriterSize(io.Discard, 1<<20) // Discard alone looks at nothing
		return errors.Join(p.write(touching), touching.Flush())
	}
	for name, read := range map[string]func() error{
		"values":           func() error { return tensor.Float32(make([]float32, 1<<18), 0) },
		"last value":       func() error { return tensor.Float32(values[:1], 1<<18-1) },
		"stored":           func() error { return tensor.ReadStored(make([]byte, 1<<20), 0) },
		"quantised values": func() error { return q8.Float32(values, 0) },
		"blocks": func() error {
			sum := int8(0)
			_, err := q8.Blocks(0, q8.Len(), func(v []int8, _ []uint16) { sum += v[len(v)-1] })
			if err == nil {
				t.Errorf("read %d", sum)
			}
			return err
		},
		"copy":   func() error { return written(plain) },
		"copyQ8": func() error { return written(quantised) },
	} {
		if err := read(); err == nil || !strings.Contains(err.Error(), "the file has become shorter") || !strings.Contains(err.Error(), plain.image.path) && !strings.Contains(err.Error(), quantised.image.path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if plain.Fingerprint() != "" || quantised.Fingerprint() != "" {
		t.Error("a fingerprint of weights that are gone")
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			if tensor.Float32(make([]float32, 1<<18), 0) == nil {
				t.Error("a worker has read values that are gone")
			}
		})
	}
	workers.Wait()
}

func TestOpeningAFileThatShrinksIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.pth")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := openImage(path, func(f *os.File, n int64) ([]byte, func() error, error) {
		data, unmap, err := mapFile(f, n)
		if err == nil {
			err = os.Truncate(path, 0)
		}
		return data, unmap, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.close() }()
	err = m.guard(func() error { _, err := read(m); return err })
	if err == nil || !strings.Contains(err.Error(), "become shorter") {
		t.Error(err)
	}
}

// Only faults in the file are its errors; a defect of ours stays a panic.
func TestOtherPanicsPass(t *testing.T) {
	f := shortened(t, false)
	defer func() {
		if recover() == nil {
			t.Error("a defect was taken for a fault of the file")
		}
	}()
	_ = f.image.guard(func() error {
		var p *int
		*p = 1
		return nil
	})
}
