//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
	"go.uber.org/goleak"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/native/nativetest"
	"rookery/infer/rwkv"
	"rookery/infer/scripted"
)

// fakes is where the libraries of testdata/fake.c are built.
var fakes string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "rookery-fake-")
	if err != nil {
		panic(err)
	}
	fakes = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

var (
	buildLock sync.Mutex
	built     = map[string]string{}
)

// buildFake compiles the fake library with macros, once, and returns its file.
func buildFake(t testing.TB, macros ...string) string {
	t.Helper()
	buildLock.Lock()
	defer buildLock.Unlock()
	key := strings.Join(macros, " ")
	if path, ok := built[key]; ok {
		return path
	}
	path := filepath.Join(fakes, strconv.Itoa(len(built)), FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	nativetest.Build(t, path, macros...)
	built[key] = path
	return path
}

// function finds a C function for a test.
func function[F any](t testing.TB, lib uintptr, name string) F {
	t.Helper()
	address, err := purego.Dlsym(lib, name)
	if err != nil {
		t.Fatal(err)
	}
	var f F
	purego.RegisterFunc(&f, address)
	return f
}

// fault sets an environment variable where C sees it, until the test ends.
// (os.Setenv does not reach C in a program without cgo.)
func fault(t testing.TB, name, value string) {
	t.Helper()
	setenv := function[func(name, value string, overwrite int32) int32](t, purego.RTLD_DEFAULT, "setenv")
	set := func(v string) {
		if setenv(name, v, 1) != 0 {
			t.Errorf("cannot set %s", name)
		}
	}
	set(value)
	t.Cleanup(func() { set("") })
}

// openFake opens the fake library.
func openFake(t testing.TB) *Library {
	t.Helper()
	t.Setenv(EnvPath, buildFake(t))
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A spy looks into the fake library.
type spy struct {
	countsSent func(e handle) int64
	rowCount   func(e handle) int32
	rows       func(e handle, dst *row)
	token      func(e handle, i int32) int32
	ban        func(e handle, i int32) int32
	options    func(e handle, dst *options)
	tensor     func(e handle, name string, dtype *int32, dims *[8]int64, sum *uint64) int32
}

func newSpy(t testing.TB, l *Library) spy {
	t.Helper()
	lib, err := purego.Dlopen(l.Path(), purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	return spy{
		countsSent: function[func(handle) int64](t, lib, "fake_counts_sent"),
		rowCount:   function[func(handle) int32](t, lib, "fake_row_count"),
		rows:       function[func(handle, *row)](t, lib, "fake_rows"),
		token:      function[func(handle, int32) int32](t, lib, "fake_token"),
		ban:        function[func(handle, int32) int32](t, lib, "fake_ban"),
		options:    function[func(handle, *options)](t, lib, "fake_options"),
		tensor:     function[func(handle, string, *int32, *[8]int64, *uint64) int32](t, lib, "fake_tensor"),
	}
}

// valueAt is value number i of every tensor of writeModel: exact in every type.
func valueAt(i int) float32 { return float32(i%13-6) / 8 }

// encode appends a value in a type of safetensors.
func encode(out []byte, dtype string, v float32) []byte {
	switch dtype {
	case "F32":
		return binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	case "F16":
		half := make([]uint16, 1)
		checkpoint.Halves(half, []float32{v})
		return binary.LittleEndian.AppendUint16(out, half[0])
	case "BF16":
		return binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(v)>>16))
	case "F64":
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(float64(v)))
	}
	panic(dtype)
}

// encoded is a tensor of n values.
func encoded(dtype string, n int) []byte {
	var out []byte
	for i := range n {
		out = encode(out, dtype, valueAt(i))
	}
	return out
}

// writeModel writes a model of a shape in a type of safetensors.
func writeModel(t testing.TB, path string, s rwkv.Shape, dtype string) {
	t.Helper()
	var entries []checkpoint.Entry
	for name, spec := range s.Tensors() {
		n := 1
		for _, d := range spec.Sizes(s) {
			n *= d
		}
		entries = append(entries, checkpoint.Entry{Name: name, Type: dtype, Shape: spec.Sizes(s), Write: func(w io.Writer) error {
			_, err := w.Write(encoded(dtype, n))
			return err
		}})
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checkpoint.WriteSafetensors(f, entries, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func openModel(t testing.TB, path string) *checkpoint.File {
	t.Helper()
	f, err := checkpoint.Open(path)
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

// model is what the fake library runs: the model of infer/scripted.
var model = sync.OnceValue(scripted.Model)

// loadFake loads a model of scripted's shape on the fake library.
func loadFake(t testing.TB, l *Library, o Options) *Backend {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	writeModel(t, path, model().Shape, "BF16")
	if o.TokenLimit == 0 {
		o.TokenLimit = model().Tokenizer.Size()
	}
	if o.Slots == 0 {
		o.Slots = 8
	}
	b, err := l.Load(t.Context(), openModel(t, path), model().Shape, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func step(t testing.TB, b infer.Backend, rows ...infer.Row) []infer.Drawn {
	t.Helper()
	drawn := make([]infer.Drawn, len(rows))
	if err := b.Step(rows, drawn); err != nil {
		t.Fatal(err)
	}
	return drawn
}

// wantError checks that an error is one line with certain words.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want one with %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error of several lines: %q", err)
	}
}
