//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"context"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// small is a shape of two layers, so that there is a value residual.
var small = rwkv.Shape{
	Version: rwkv.V7, Layers: 2, Embed: 64, Heads: 1, HeadSize: 64, FFN: 96, Vocab: 2048,
	Ranks: rwkv.Ranks{8, 16, 24, 32},
}

// checkTensors checks that the device was sent every tensor, as these types.
func checkTensors(t *testing.T, l *Library, b *Backend, s rwkv.Shape, types func(name string, kind rwkv.Kind) string) {
	t.Helper()
	look := newSpy(t, l)
	for name, spec := range s.Tensors() {
		var dtype int32
		var dims [8]int64
		var sum uint64
		n := look.tensor(b.handle, name, &dtype, &dims, &sum)
		got, values := make([]int, n), 1
		for i := range got {
			got[i] = int(dims[i])
			values *= got[i]
		}
		if want := spec.Sizes(s); !slices.Equal(squeezed(got), squeezed(want)) {
			t.Errorf("%s: sizes %v, want %v", name, got, want)
			continue
		}
		hash := fnv.New64a()
		hash.Write(encoded(types(name, spec.Kind), values))
		if sum != hash.Sum64() || strings.ToLower(types(name, spec.Kind)) != strings.Replace(typeNames[dtype], "fp", "f", 1) {
			t.Errorf("%s: its values as %s are not what was sent as %s", name, types(name, spec.Kind), typeNames[dtype])
		}
	}
}

// squeezed leaves out leading sizes of 1, which mean nothing.
func squeezed(dims []int) []int {
	for len(dims) > 1 && dims[0] == 1 {
		dims = dims[1:]
	}
	return dims
}

func TestLoadSendsEveryTensor(t *testing.T) {
	l := openFake(t)
	dir := t.TempDir()
	for _, c := range []struct{ dtype, sent string }{{"BF16", "BF16"}, {"F16", "F16"}, {"F32", "F32"}, {"F64", "F32"}} {
		t.Run(c.dtype, func(t *testing.T) {
			path := filepath.Join(dir, c.dtype+".safetensors")
			writeModel(t, path, small, c.dtype)
			last, calls := int64(0), 0
			b, err := l.Load(t.Context(), openModel(t, path), small, Options{Slots: 4, Progress: func(done, total int64) {
				if calls++; done <= last || done > total || total != small.Params() {
					t.Errorf("progress %d of %d after %d", done, total, last)
				}
				last = done
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}()
			if last != small.Params() || calls < 10 {
				t.Errorf("progress ended at %d of %d after %d calls", last, small.Params(), calls)
			}
			checkTensors(t, l, b, small, func(string, rwkv.Kind) string { return c.sent })
		})
	}
}

// int8 blocks are sent as fp16: their scales here are such that this is exact.
func TestLoadInt8(t *testing.T) {
	l := openFake(t)
	dir := t.TempDir()
	plain, path := filepath.Join(dir, "plain.safetensors"), filepath.Join(dir, "int8.safetensors")
	writeModel(t, plain, small, "F32")
	if err := checkpoint.Convert(t.Context(), openModel(t, plain), path, checkpoint.Conversion{Weights: checkpoint.Q8, Tensors: small.Matrices(false)}); err != nil {
		t.Fatal(err)
	}
	f := openModel(t, path)
	b, err := l.Load(t.Context(), f, small, Options{Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	look := newSpy(t, l)
	for _, name := range []string{"head.weight", "blocks.1.ffn.value.weight", "blocks.0.ln0.bias"} {
		tensor, _ := f.Tensor(name)
		values := make([]float32, tensor.Len())
		if err := tensor.Float32(values, 0); err != nil {
			t.Fatal(err)
		}
		as := "F32"
		if tensor.DType == checkpoint.Q8 {
			as = "F16"
		}
		var raw []byte
		for _, v := range values {
			raw = encode(raw, as, v)
		}
		var dtype int32
		var dims [8]int64
		var sum uint64
		look.tensor(b.handle, name, &dtype, &dims, &sum)
		hash := fnv.New64a()
		hash.Write(raw)
		if sum != hash.Sum64() {
			t.Errorf("%s was sent as something else than its values in %s", name, as)
		}
	}
}

func TestGenerate(t *testing.T) {
	l := openFake(t)
	values := func(_ string, dst []float32, off int) error {
		for i := range dst {
			dst[i] = valueAt(off + i)
		}
		return nil
	}
	b, err := l.Generate(t.Context(), small, values, Options{Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	checkTensors(t, l, b, small, func(_ string, kind rwkv.Kind) string {
		if kind == rwkv.Vector {
			return "F32"
		}
		return "F16"
	})
	broken := errors.New("on purpose")
	_, err = l.Generate(t.Context(), small, func(name string, _ []float32, _ int) error {
		if name == "head.weight" {
			return broken
		}
		return nil
	}, Options{})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	wantError(t, err, "head.weight")
}

func TestLoadOptions(t *testing.T) {
	l := openFake(t)
	tuning := filepath.Join(t.TempDir(), "not", "there yet")
	b := loadFake(t, l, Options{Weights: "bf16", State: "fp16", Slots: 5, TokenLimit: 300, Tuning: tuning})
	var got options
	newSpy(t, l).options(b.handle, &got)
	got.tuning = nil
	want := options{weights: typeBF16, state: typeF16, slots: 5, maxRows: 5, maxTokens: defaultTokens, tokenLimit: 300}
	if got != want {
		t.Errorf("options %+v, want %+v", got, want)
	}
	if b.Slots() != 5 || b.MaxTokens() != defaultTokens || b.Name() != "cuda, Fake G0, bf16, fp16 states" || b.Device().Name != "Fake G0" || b.Precision() != "bf16-fp16state" {
		t.Errorf("%d slots, %d tokens, %q on %+v", b.Slots(), b.MaxTokens(), b.Name(), b.Device())
	}
	if m := b.Memory(); m.Weights == 0 || m.States == 0 || m.Scratch == 0 {
		t.Errorf("memory %+v", m)
	}
	if b.Tuned() {
		t.Error("tuned before anything was measured")
	}
	if err := b.Tune(0.5); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(tuning)
	if err != nil || len(files) != 1 || !strings.HasPrefix(files[0].Name(), "fake_g0-x070-1x32x128x320-") {
		t.Errorf("tuned to %v, %v", files, err)
	}
	if !b.Tuned() {
		t.Error("what tuning found is not found again")
	}
	wantError(t, b.Tune(-1), "tuning", "-1 seconds")
	for _, o := range []Options{{Weights: "int8"}, {Weights: "fp32"}, {State: "int4"}} {
		_, err := l.Load(t.Context(), openModel(t, smallModel(t)), small, o)
		wantError(t, err, "use", o.Weights+o.State)
	}
}

// smallModel is the path of a model of shape small.
func smallModel(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.safetensors")
	writeModel(t, path, small, "BF16")
	return path
}

// Where the memory does not suffice for all slots, there are fewer of them.
func TestLoadWithLittleMemory(t *testing.T) {
	l := openFake(t)
	f := openModel(t, smallModel(t))
	for _, c := range []struct {
		memory string
		slots  int // 0: it fails
	}{{"100000000", 256}, {"20000000", 128}, {"5000000", 32}, {"1000000", 0}} {
		fault(t, "FAKE_MEMORY", c.memory)
		b, err := l.Load(t.Context(), f, small, Options{})
		if c.slots == 0 {
			wantError(t, err, "Fake G0", f.Path(), c.memory+" are free", "bytes are needed")
			var e *Error
			if !errors.As(err, &e) || !e.Memory {
				t.Errorf("%v does not count as a want of memory", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Slots() != c.slots || b.MaxTokens() < b.Slots() {
			t.Errorf("%s bytes: %d slots and %d tokens, want %d slots", c.memory, b.Slots(), b.MaxTokens(), c.slots)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	l := openFake(t)
	path := smallModel(t)
	f := openModel(t, path)
	other := small
	other.Version = rwkv.V7A
	odd := small
	odd.Heads = 3
	larger := small
	larger.Layers = 3
	for _, c := range []struct {
		name  string
		shape rwkv.Shape
		fault []string
		want  []string
	}{
		{"another version", other, nil, []string{path, "a GPU runs plain"}},
		{"no such shape", odd, nil, []string{path, "3 heads"}},
		{"a missing tensor", larger, nil, []string{path, "blocks.2.", "missing"}},
		{"a value too large", small, []string{"FAKE_OVERFLOW", "blocks.1.ffn.key.weight"}, []string{path, "blocks.1.ffn.key.weight", "bf16"}},
		{"no driver", small, []string{"FAKE_DRIVER", "no driver"}, []string{path, "no driver"}},
		{"no device", small, []string{"FAKE_DEVICES", "0"}, []string{path, "no usable GPU"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.fault != nil {
				fault(t, c.fault[0], c.fault[1])
			}
			_, err := l.Load(t.Context(), f, c.shape, Options{Slots: 2})
			wantError(t, err, c.want...)
		})
	}
}

// Another program shortens the file while it is copied to the device.
func TestLoadOfAShrinkingFile(t *testing.T) {
	l := openFake(t)
	path := smallModel(t)
	calls := 0
	_, err := l.Load(t.Context(), openModel(t, path), small, Options{Slots: 2, Progress: func(_, _ int64) {
		if calls++; calls == 1 {
			if err := os.Truncate(path, 4096); err != nil {
				t.Error(err)
			}
		}
	}})
	wantError(t, err, path, "become shorter")
}

func TestLoadCancelled(t *testing.T) {
	l := openFake(t)
	f := openModel(t, smallModel(t))
	why := errors.New("changed my mind")
	for _, after := range []int{0, 1, 20} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var once sync.Once
		calls := 0
		stop := func() { once.Do(func() { cancel(why) }) }
		if after == 0 {
			stop()
		}
		_, err := l.Load(ctx, f, small, Options{Slots: 2, Progress: func(_, _ int64) {
			if calls++; calls >= after {
				stop()
			}
		}})
		if !errors.Is(err, why) || calls != after {
			t.Errorf("cancelled after %d tensors: error %v after %d", after, err, calls)
		}
	}
}
