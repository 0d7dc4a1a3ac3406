package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// shapes of all versions, with a width, heads and ranks that fill no blocks.
var allVersions = []rwkv.Shape{
	{Version: rwkv.V4, Layers: 2, Embed: 100, Heads: 100, HeadSize: 1, FFN: 412, Vocab: 256},
	{Version: rwkv.V50, Layers: 2, Embed: 40, Heads: 5, HeadSize: 8, FFN: 140, Vocab: 256},
	{Version: rwkv.V51, Layers: 1, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 256},
	{Version: rwkv.V52, Layers: 2, Embed: 128, Heads: 1, HeadSize: 128, FFN: 448, Vocab: 256},
	{Version: rwkv.V6, Layers: 2, Embed: 40, Heads: 5, HeadSize: 8, FFN: 140, Vocab: 256, Ranks: rwkv.Ranks{5, 7}},
	{Version: rwkv.V6, Layers: 1, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 256, Ranks: rwkv.Ranks{32, 64}},
	{Version: rwkv.V7A, Layers: 2, Embed: 40, Heads: 5, HeadSize: 8, FFN: 140, Vocab: 256, Ranks: rwkv.Ranks{5, 6, 7, 9, 6}},
	{Version: rwkv.V7, Layers: 2, Embed: 40, Heads: 5, HeadSize: 8, FFN: 140, Vocab: 256, Ranks: rwkv.Ranks{5, 6, 7, 9}},
}

// eachVersion runs a test on every version, in fp32 and int8 on the best path and in
// plain Go.
func eachVersion(t *testing.T, test func(t *testing.T, b *Backend)) {
	for _, s := range allVersions {
		for _, path := range []kernel.Path{kernel.Go, kernel.Best()} {
			for _, weights := range []string{"fp32", "int8"} {
				t.Run(fmt.Sprintf("%s of %d/%v/%s", s.Version.ID(), s.Embed, path, weights), func(t *testing.T) {
					test(t, synthetic(t, s, 7, Options{Threads: 2, Weights: weights, ISA: path.String()}))
				})
			}
		}
	}
}

// In every version a row gives, bit for bit, what it gives alone, however its prompt
// is cut; and a state that was read and written goes on as if it had never left.
func TestVersionsKeepTheBits(t *testing.T) {
	eachVersion(t, func(t *testing.T, b *Backend) {
		vocab := b.model.shape.Vocab
		tokens := goldenTokens(66, vocab)
		want := logits(t, b, 0, tokens)
		for i, size := range []int{1, 64} {
			slot := infer.Slot(i + 1)
			var got []float32
			for chunk := range slices.Chunk(tokens, size) {
				row := infer.Row{Slot: slot, Tokens: chunk, Logits: make([]float32, vocab)}
				step(t, b, infer.Row{Slot: 20, Tokens: tokens[:3]}, row, infer.Row{Slot: 21, Tokens: tokens[5:6]})
				got = row.Logits
			}
			if !slices.Equal(got, want) {
				t.Errorf("chunks of %d tokens beside other rows give another result", size)
			}
		}
		state := make([]float32, b.model.shape.StateLen())
		if err := b.ReadSlot(0, state); err != nil {
			t.Fatal(err)
		}
		if err := b.WriteSlot(30, state); err != nil {
			t.Fatal(err)
		}
		if err := b.CopySlot(31, 30); err != nil {
			t.Fatal(err)
		}
		want = logits(t, b, 0, tokens[:2])
		for _, slot := range []infer.Slot{30, 31} {
			if got := logits(t, b, slot, tokens[:2]); !slices.Equal(got, want) {
				t.Errorf("slot %d goes on in another way", slot)
			}
		}
		if err := b.ZeroSlot(30); err != nil {
			t.Fatal(err)
		}
		if got, fresh := logits(t, b, 30, tokens[:1]), logits(t, b, 40, tokens[:1]); !slices.Equal(got, fresh) {
			t.Error("a slot that was zeroed is not new")
		}
	})
}

// What was read long ago, and is no longer the last token, changes what comes.
func TestVersionsRemember(t *testing.T) {
	eachVersion(t, func(t *testing.T, b *Backend) {
		long := goldenTokens(20, b.model.shape.Vocab)
		with, without := logits(t, b, 0, long), logits(t, b, 1, long[10:])
		if d := maxDifference(with, without) / deviation(with); d < 1e-3 {
			t.Errorf("what stands before the last 10 tokens makes a difference of %.2g standard deviations", d)
		}
	})
}

func TestVersionsDoNotAllocate(t *testing.T) {
	eachVersion(t, func(t *testing.T, b *Backend) {
		rows := []infer.Row{{Slot: 0, Tokens: []int32{1, 2, 3}}, {Slot: 1, Tokens: []int32{4}, Logits: make([]float32, 256)}}
		drawn := make([]infer.Drawn, 2)
		if n := testing.AllocsPerRun(20, func() {
			if err := b.Step(rows, drawn); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%.0f allocations in a step", n)
		}
	})
}

// Every version is recognised in a file and runs from it when the caller has closed
// it. A table that stays in the file and is gone fails the step and nothing else.
func TestVersionsFromFiles(t *testing.T) {
	for _, s := range allVersions {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := os.WriteFile(path, modelBytes(t, s, "F32", ""), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := checkpoint.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := rwkv.Detect(f)
		if want := s; err != nil || found != want {
			t.Fatalf("%+v, %v, want %+v", found, err, want)
		}
		b := loaded(t, f, found, Options{})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		tokens := goldenTokens(10, s.Vocab)
		if want := logits(t, synthetic(t, s, 5, Options{}), 0, tokens); !slices.Equal(logits(t, b, 0, tokens), want) {
			t.Errorf("%v: the file gives other logits than its weights", s.Version)
		}
		if s.Version != rwkv.V7A {
			continue
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		err = b.Step([]infer.Row{{Tokens: tokens}}, make([]infer.Drawn, 1))
		if err == nil || !strings.Contains(err.Error(), "ffn.s_emb.weight") {
			t.Errorf("without its tables: %v", err)
		}
	}
}

// A layer with smaller ranks is one whose matrices end in zeros.
func TestRanksOfLayers(t *testing.T) {
	for _, s := range allVersions {
		if s.Version != rwkv.V6 && s.Version != rwkv.V7 || s.Layers < 2 {
			continue
		}
		plain := syntheticSource(s, 7)
		cut := func(narrow bool) source {
			return func(name string) (tensor, error) {
				out, err := plain(name)
				if err != nil || !strings.HasPrefix(name, "blocks.1.") {
					return out, err
				}
				values := make([]float32, out.len())
				if err := out.read(values, 0); err != nil {
					return out, err
				}
				full, shape, n := out.shape, out.shape, len(out.shape)
				keep := func([]int) bool { return true }
				switch {
				case strings.HasSuffix(name, "time_maa_w1"): // in five parts, of which each loses its last column
					shape, keep = []int{shape[0], shape[1] - 5}, func(at []int) bool { return (at[1]+1)%s.Ranks[0] != 0 }
				case strings.HasSuffix(name, "w1"):
					shape, keep = []int{shape[0], shape[1] - 2}, func(at []int) bool { return at[1] < full[1]-2 }
				case strings.HasSuffix(name, "time_maa_w2"):
					shape, keep = []int{shape[0], shape[1] - 1, shape[2]}, func(at []int) bool { return at[1] < full[1]-1 }
				case strings.HasSuffix(name, "w2"):
					shape, keep = []int{shape[0] - 2, shape[1]}, func(at []int) bool { return at[0] < full[0]-2 }
				}
				var kept []float32
				for i, v := range values {
					at := make([]int, n)
					for d, rest := n-1, i; d >= 0; d-- {
						at[d], rest = rest%full[d], rest/full[d]
					}
					if keep(at) {
						kept = append(kept, v)
					} else if values[i] = 0; !narrow {
						continue
					}
				}
				if narrow {
					out.shape, values = shape, kept
				}
				out.read = func(dst []float32, off int) error {
					copy(dst, values[off:])
					return nil
				}
				return out, nil
			}
		}
		var got [2][]float32
		for i, narrow := range []bool{false, true} {
			b, err := load(t.Context(), cut(narrow), s, kernel.F32, Options{})
			if err != nil {
				t.Fatal(err)
			}
			closeAtEnd(t, b)
			got[i] = logits(t, b, 0, goldenTokens(20, s.Vocab))
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%v: off by %g", s.Version, maxDifference(got[0], got[1]))
		}
	}
}

// Some files of RWKV-5 have the logarithm of time_faaaa, as time_first.
func TestLogarithmOfTheBonus(t *testing.T) {
	for _, s := range allVersions {
		if s.Version < rwkv.V50 || s.Version > rwkv.V52 {
			continue
		}
		o := Options{Weights: "fp32"}
		plain := syntheticSource(s, 7)
		b, err := load(t.Context(), func(name string) (tensor, error) {
			if strings.HasSuffix(name, "time_faaaa") {
				return tensor{}, errors.New("missing")
			}
			if strings.HasSuffix(name, "time_first") {
				first, err := plain(strings.Replace(name, "time_first", "time_faaaa", 1))
				read := first.read
				first.read = func(dst []float32, off int) error {
					err := read(dst, off)
					for i, v := range dst {
						dst[i] = float32(math.Log(float64(v)))
					}
					return err
				}
				return first, err
			}
			return plain(name)
		}, s, kernel.F32, o)
		if err != nil {
			t.Fatal(err)
		}
		closeAtEnd(t, b)
		tokens := goldenTokens(10, s.Vocab)
		want, got := logits(t, synthetic(t, s, 7, o), 0, tokens), logits(t, b, 0, tokens)
		if d := maxDifference(want, got) / deviation(want); !(d < 1e-5) {
			t.Errorf("%v: off by %.2g standard deviations", s.Version, d)
		}
	}
}

// everywhere is an adapter that changes every matrix of a model, in a form whose run-time
// and merged ways are tested against each other.
func everywhere(s rwkv.Shape, form adapter.Form, seed uint64) *adapter.Adapter {
	rng := rand.New(rand.NewPCG(seed, 1))
	values := func(n int, scale float64) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64() * scale)
		}
		return v
	}
	change := func(t adapter.Target) *adapter.Delta {
		out, in := s.TargetSize(string(t))
		d := &adapter.Delta{Form: form, Out: out, In: in, Rank: 4, Scale: 1}
		switch form {
		case adapter.BAT:
			d.Blocks = values(in*d.Rank, 0.05)
		case adapter.DiSHA:
			d.Up = values(out*d.Rank, 0.02)
		default:
			d.Down, d.Up, d.Scale = values(d.Rank*in, 0.1), values(out*d.Rank, 0.05), 2
		}
		return d
	}
	a := &adapter.Adapter{Name: form.String(), Shape: s, Head: change(adapter.Head)}
	for range s.Layers {
		l := adapter.Layer{Deltas: map[adapter.Target]*adapter.Delta{}}
		for _, t := range adapter.LayerTargets(s) {
			l.Deltas[t] = change(t)
		}
		a.Layers = append(a.Layers, l)
	}
	return a
}

// In every version an adapter that is merged gives what it gives apart, and its rows
// give beside rows of the model what they give alone.
func TestVersionsWithAdapters(t *testing.T) {
	for _, s := range allVersions {
		for _, form := range []adapter.Form{adapter.LoRA, adapter.BAT, adapter.DiSHA} {
			t.Run(fmt.Sprintf("%s of %d/%v", s.Version.ID(), s.Embed, form), func(t *testing.T) {
				b := synthetic(t, s, 7, Options{Threads: 2, Weights: "fp32"})
				base := adapted(t, b, 0, 20)
				var ids []infer.AdapterID
				for _, merged := range []bool{false, true} {
					id, err := b.LoadAdapter(everywhere(s, form, 3), merged)
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
				}
				apart, merged := adapted(t, b, ids[0], 20), adapted(t, b, ids[1], 20)
				if d := maxDifference(apart, merged) / deviation(apart); !(d < 2e-5) {
					t.Errorf("merged is off by %.2g standard deviations", d)
				}
				if d := maxDifference(apart, base) / deviation(apart); d < 0.05 {
					t.Errorf("the adapter changes %.2g standard deviations only: the test shows nothing", d)
				}
				tokens := goldenTokens(20, s.Vocab)
				rows := []infer.Row{
					{Slot: 1, Tokens: tokens, Adapter: ids[1], Logits: make([]float32, s.Vocab)},
					{Slot: 2, Tokens: tokens, Logits: make([]float32, s.Vocab)},
					{Slot: 3, Tokens: tokens, Adapter: ids[0], Logits: make([]float32, s.Vocab)},
				}
				step(t, b, rows...)
				if !slices.Equal(rows[0].Logits, merged) || !slices.Equal(rows[1].Logits, base) || !slices.Equal(rows[2].Logits, apart) {
					t.Error("rows together give another result than alone")
				}
			})
		}
	}
}

// An adapter's own tensors take the place of the model's, in every version: also those
// from which others are computed, and those that several matrices are in.
func TestVersionsReplaceTensors(t *testing.T) {
	for _, s := range allVersions {
		b := synthetic(t, s, 7, Options{Threads: 2, Weights: "fp32"})
		other := SyntheticValues(s, 8)
		want := adapted(t, synthetic(t, s, 8, Options{Threads: 2, Weights: "fp32"}), 0, 20)
		a := &adapter.Adapter{Name: "all of it", Shape: s, Layers: make([]adapter.Layer, s.Layers), Replaced: map[string][]float32{}}
		for name, spec := range s.Tensors() {
			v := make([]float32, spec.Len(s))
			if err := other(name, v, 0); err != nil {
				t.Fatal(err)
			}
			a.Replaced[name] = v
		}
		before := adapted(t, b, 0, 20)
		id, err := b.LoadAdapter(a, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := adapted(t, b, id, 20); !slices.Equal(got, want) {
			t.Errorf("%v: with all tensors of another model it is off by %g", s.Version, maxDifference(got, want))
		}
		if got := adapted(t, b, 0, 20); !slices.Equal(got, before) {
			t.Errorf("%v: the model itself has changed", s.Version)
		}
	}
}
