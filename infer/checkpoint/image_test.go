package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// opened opens a file and closes it after the test.
func opened(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, f)
	return f
}

func closed(t testing.TB, f *File) {
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// values reads a whole tensor.
func values(t testing.TB, f *File, name string) []float32 {
	t.Helper()
	tensor, ok := f.Tensor(name)
	if !ok {
		t.Fatalf("%s: no tensor %s", f.Path(), name)
	}
	out := make([]float32, tensor.Len())
	if err := tensor.Float32(out, 0); err != nil {
		t.Fatal(err)
	}
	return out
}

// unmapped opens a file as on a system where files cannot be mapped.
func unmapped(t *testing.T, path string) *File {
	t.Helper()
	m, err := openImage(path, func(*os.File, int64) ([]byte, func() error, error) { return nil, nil, errNoMapping })
	if err != nil {
		t.Fatal(err)
	}
	f, err := read(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.settle(); err != nil {
		t.Fatal(err)
	}
	closed(t, f)
	return f
}

func TestReadingOnDemandEqualsMapping(t *testing.T) {
	quantised := filepath.Join(t.TempDir(), "q.safetensors")
	quantizeForTest(t, opened(t, wideModel(t)), quantised, Conversion{Tensors: append(wideMatrices, "emb.weight")})
	for _, path := range []string{"testdata/views.pth", "testdata/types.safetensors", "testdata/web-rwkv.safetensors", "testdata/model.gguf", "testdata/types.gguf", quantised} {
		mapped, demand := opened(t, path), unmapped(t, path)
		for _, name := range mapped.Names() {
			if got, want := values(t, demand, name), values(t, mapped, name); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %v on demand, %v mapped", path, name, got, want)
			}
			a, _ := mapped.Tensor(name)
			b, _ := demand.Tensor(name)
			va, sa, oka := blocks(t, a)
			vb, sb, okb := blocks(t, b)
			if oka != okb || !slices.Equal(va, vb) || !slices.Equal(sa, sb) {
				t.Errorf("%s: %s: int8 blocks differ on demand", path, name)
			}
		}
		if got, want := demand.Fingerprint(), mapped.Fingerprint(); got != want || got == "" {
			t.Errorf("%s: fingerprint %q on demand, %q mapped", path, got, want)
		}
	}
}

// blocks copies the raw blocks of a Q8 tensor.
func blocks(t *testing.T, tensor *Tensor) (ints []int8, scales []uint16, ok bool) {
	t.Helper()
	ok, err := tensor.Blocks(0, tensor.Len(), func(v []int8, s []uint16) { ints, scales = slices.Clone(v), slices.Clone(s) })
	if err != nil {
		t.Error(err)
	}
	return ints, scales, ok
}

// stored copies the stored bytes of a plain tensor, in two pieces.
func stored(t *testing.T, tensor *Tensor) []byte {
	t.Helper()
	raw := make([]byte, tensor.StoredBytes())
	half := len(raw) / 2
	if err := errors.Join(tensor.ReadStored(raw[:half], 0), tensor.ReadStored(raw[half:], int64(half))); err != nil {
		t.Error(err)
	}
	if tensor.ReadStored(raw, 1) == nil || tensor.ReadStored(raw[:half], -1) == nil {
		t.Errorf("%s: bytes that it has not were read", tensor.Name)
	}
	return raw
}

// What is stored must be what Float32 converts, and Prefetch must change nothing.
func TestStored(t *testing.T) {
	for _, c := range []struct {
		path  string
		plain bool // of blocks.0.att.w1
	}{
		{"testdata/model.pth", true},
		{"testdata/model.safetensors", true},
		{"testdata/web-rwkv.safetensors", false}, // transposed
	} {
		f := opened(t, c.path)
		for _, name := range f.Names() {
			tensor, _ := f.Tensor(name)
			tensor.Prefetch()
			if name == "blocks.0.att.w1" && tensor.Plain() != c.plain {
				t.Errorf("%s: %s is plain: %v, want %v", c.path, name, tensor.Plain(), c.plain)
			}
			if !tensor.Plain() {
				continue
			}
			raw := stored(t, tensor)
			other, _ := unmapped(t, c.path).Tensor(name)
			if !slices.Equal(stored(t, other), raw) {
				t.Errorf("%s: the stored bytes of %s differ on demand", c.path, name)
			}
			got := make([]float32, tensor.Len())
			convert(got, raw, tensor.DType)
			if !slices.Equal(got, values(t, f, name)) {
				t.Errorf("%s: the stored values of %s differ", c.path, name)
			}
		}
	}
	unplain, _ := opened(t, "testdata/web-rwkv.safetensors").Tensor("blocks.0.att.w1")
	if err := unplain.ReadStored(make([]byte, 1), 0); err == nil {
		t.Error("stored bytes of a transposed tensor")
	}
}

func TestStoredIsNotForQuantized(t *testing.T) {
	tensor := &Tensor{DType: Q8, Shape: []int{Q8Block}, image: memoryImage(make([]byte, 2*Q8Block))}
	tensor.Prefetch()
	if tensor.Plain() {
		t.Error("int8 values without their scales")
	}
}

func TestFileCutShortWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.safetensors")
	data, err := os.ReadFile("testdata/types.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f := unmapped(t, path)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	tensor, _ := f.Tensor("t.4")
	if err := tensor.Float32(make([]float32, 1), 0); err == nil {
		t.Error("no error from a file that was cut short")
	}
	if got := f.Fingerprint(); got != "" {
		t.Errorf("fingerprint %q of a file that was cut short", got)
	}
}

// A checkpoint as large as the largest models must not cost heap.
func TestLargeFileCostsNoHeap(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("skipped: the file does not fit the address space")
	}
	path := filepath.Join(t.TempDir(), "large.safetensors")
	rows, columns := 7<<10, 1<<20
	count := rows * columns
	entries := []Entry{{Name: "emb.weight", Type: "BF16", Shape: []int{rows, columns}}}
	header, sizes, err := encodeHeader(entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, header, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(header))+sizes[0]); err != nil {
		t.Skipf("skipped: no room for a sparse file of 14 GB: %v", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := opened(t, path)
	tensor, _ := f.Tensor("emb.weight")
	if err := tensor.Float32(make([]float32, 16), count-16); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("opening and reading %d bytes took %d bytes of heap", f.Size(), used)
	}
}

func TestOpenNeedsRegularFile(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing.pth")} {
		if f, err := Open(path); err == nil {
			t.Errorf("Open(%s) = %v", path, f)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	f, err := Open("testdata/types.pth")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
