package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// modelFile is a synthetic model as a .safetensors file in memory, but for one
// tensor that is left out. typ is "F32" or "BF16".
func modelFile(t *testing.T, shape rwkv.Shape, typ, without string) *checkpoint.File {
	t.Helper()
	f, err := checkpoint.FromBytes("test.safetensors", modelBytes(t, shape, typ, without))
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

func modelBytes(t *testing.T, shape rwkv.Shape, typ, without string) []byte {
	t.Helper()
	src := syntheticSource(shape, 5)
	var entries []checkpoint.Entry
	for name, spec := range shape.Tensors() {
		if name == without {
			continue
		}
		sizes := spec.Sizes(shape)
		entries = append(entries, checkpoint.Entry{Name: name, Type: typ, Shape: sizes, Write: func(w io.Writer) error {
			values, err := src.vector(name, tensor{shape: sizes}.len())
			if err != nil {
				return err
			}
			if typ == "F32" {
				return binary.Write(w, binary.LittleEndian, values)
			}
			return binary.Write(w, binary.LittleEndian, upperHalves(values))
		}})
	}
	var out bytes.Buffer
	if err := checkpoint.WriteSafetensors(&out, entries, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// upperHalves is bf16 by truncation.
func upperHalves(v []float32) []uint16 {
	out := make([]uint16, len(v))
	for i, x := range v {
		out[i] = uint16(math.Float32bits(x) >> 16)
	}
	return out
}

// loaded is a backend that is closed at the end.
func loaded(t *testing.T, f *checkpoint.File, shape rwkv.Shape, o Options) *Backend {
	t.Helper()
	b, err := Load(context.Background(), f, shape, o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b)
	return b
}

func closeAtEnd(t testing.TB, b *Backend) {
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// "auto" keeps every weight exactly as it is in the file.
func TestAutoIsExact(t *testing.T) {
	for _, c := range []struct {
		file, want string
	}{{"F32", "fp32"}, {"BF16", "bf16"}} {
		t.Run(c.file, func(t *testing.T) {
			f := modelFile(t, small, c.file, "")
			b := loaded(t, f, small, Options{})
			if got := b.model.typ.String(); got != c.want {
				t.Fatalf("weights are %s, want %s", got, c.want)
			}
			sameWeights(t, f, "head.weight", b.model.head)
			sameWeights(t, f, "emb.weight", b.model.emb)
			sameWeights(t, f, "blocks.1.ffn.value.weight", v7Of(b.model.layers[1]).ffn.value)
			if w := v7Of(b.model.layers[1]).att.decay.up.Type().String(); w != c.want {
				t.Errorf("low-rank weights are %s, want %s", w, c.want)
			}
		})
	}
	t.Run("Q8", func(t *testing.T) { // the embedded model has int8 blocks
		b := loadDemo(t, Options{})
		if b.model.typ != kernel.Q8 {
			t.Fatalf("weights are %v", b.model.typ)
		}
		exact := loadDemo(t, Options{Weights: "fp32"})
		for _, pair := range [][2]*kernel.Matrix{
			{b.model.head, exact.model.head},
			{v7Of(b.model.layers[3]).att.key, v7Of(exact.model.layers[3]).att.key},
		} {
			got, want := make([]float32, pair[0].Cols()), make([]float32, pair[0].Cols())
			for r := range pair[0].Rows() {
				pair[0].Row(got, r)
				pair[1].Row(want, r)
				if !slices.Equal(got, want) {
					t.Fatalf("row %d: the blocks are not the file's", r)
				}
			}
		}
		if w := v7Of(b.model.layers[0]).att.gate.down.Type(); w == kernel.Q8 {
			t.Error("low-rank weights are int8")
		}
	})
}

func sameWeights(t *testing.T, f *checkpoint.File, name string, m *kernel.Matrix) {
	t.Helper()
	stored, ok := f.Tensor(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	want, got := make([]float32, m.Cols()), make([]float32, m.Cols())
	for r := range m.Rows() {
		if err := stored.Float32(want, r*m.Cols()); err != nil {
			t.Fatal(err)
		}
		m.Row(got, r)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: row %d is not the file's", name, r)
		}
	}
}

func TestLoadProgress(t *testing.T) {
	var last, total int64
	o := Options{Threads: 2, Progress: func(done, of int64) {
		if done <= last || done > of {
			t.Errorf("progress from %d to %d of %d", last, done, of)
		}
		last, total = done, of
	}}
	synthetic(t, small, 1, o)
	if last != total || total < small.Params()*9/10 {
		t.Errorf("loaded %d of %d, and the model has %d parameters", last, total, small.Params())
	}
}

func TestLoadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{Progress: func(done, total int64) { cancel() }}
	b, err := Synthetic(ctx, small, 1, o)
	if !errors.Is(err, context.Canceled) || b != nil {
		t.Errorf("backend %v, error %v, want a cancelled context", b, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	whole := func(t *testing.T) *checkpoint.File { return modelFile(t, small, "F32", "") }
	for _, c := range []struct {
		name  string
		file  func(t *testing.T) *checkpoint.File
		shape func(s *rwkv.Shape)
		o     Options
		want  string
	}{
		{"missing matrix", func(t *testing.T) *checkpoint.File {
			return modelFile(t, small, "F32", "blocks.1.ffn.key.weight")
		}, nil, Options{}, "tensor blocks.1.ffn.key.weight: missing"},
		{"missing vector", func(t *testing.T) *checkpoint.File {
			return modelFile(t, small, "F32", "blocks.1.att.k_a")
		}, nil, Options{}, "tensor blocks.1.att.k_a: missing"},
		{"other size", whole, func(s *rwkv.Shape) { s.Vocab = 300 }, Options{}, "tensor emb.weight: 38528 values"},
		{"other version", whole, func(s *rwkv.Shape) { s.Version = rwkv.Unknown }, Options{}, "the CPU runs plain RWKV-4 (x040), "},
		{"impossible heads", whole, func(s *rwkv.Shape) { s.Heads = 3 }, Options{}, "not a possible model"},
		{"unknown width", whole, nil, Options{Weights: "int3"}, "use auto, fp32, fp16, bf16 or int8"},
		{"unknown instruction set", whole, nil, Options{ISA: "mmx"}, "mmx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := small
			if c.shape != nil {
				c.shape(&shape)
			}
			b, err := Load(context.Background(), c.file(t), shape, c.o)
			if err == nil {
				t.Fatal(b.Close(), "no error")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, c.want)
			}
		})
	}
}

// The estimate is what loading takes, within padding.
func TestEstimate(t *testing.T) {
	f := modelFile(t, small, "BF16", "")
	for _, weights := range []string{"auto", "fp32", "fp16", "bf16", "int8"} {
		e, err := EstimateLoad(f, small, weights)
		if err != nil {
			t.Fatal(err)
		}
		b := loaded(t, f, small, Options{Weights: weights})
		if e.Weights != b.model.typ.String() {
			t.Errorf("%s: estimated as %s, loaded as %v", weights, e.Weights, b.model.typ)
		}
		if got := b.Memory().Weights; math.Abs(float64(e.Bytes-got)) > 0.1*float64(got) {
			t.Errorf("%s: estimated %d bytes, loading took %d", weights, e.Bytes, got)
		}
	}
	if _, err := EstimateLoad(f, small, "int5"); err == nil {
		t.Error("int5: no error")
	}
}

func TestName(t *testing.T) {
	b := synthetic(t, small, 1, Options{Threads: 1, ISA: "go", Weights: "fp16"})
	if got, want := b.Name(), "cpu, 1 thread, plain Go, fp16"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
}
