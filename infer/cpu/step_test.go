package cpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
)

// small is a shape that uses everything: several heads, ranks of which one is
// no multiple of a block, a vocabulary that is no multiple of a panel.
var small = rwkv.Shape{
	Version: rwkv.V7, Layers: 2, Embed: 128, Heads: 2, HeadSize: 64, FFN: 448, Vocab: 301,
	Ranks: rwkv.Ranks{32, 24, 32, 64},
}

// eachVariant runs a test on every path and in every weight type. Plain Go is
// slow, and its fp16 and bf16 are its fp32 after widening, which package kernel
// tests.
func eachVariant(t *testing.T, paths []kernel.Path, test func(t *testing.T, path kernel.Path, typ kernel.Type)) {
	for _, path := range paths {
		for typ := range tolerances {
			if path == kernel.Go && (typ == kernel.F16 || typ == kernel.BF16) {
				continue
			}
			t.Run(path.String()+"/"+typ.String(), func(t *testing.T) { test(t, path, typ) })
		}
	}
}

// eachBackend runs a test on every variant of a small model.
func eachBackend(t *testing.T, o Options, test func(t *testing.T, b *Backend)) {
	eachVariant(t, kernel.Available(), func(t *testing.T, path kernel.Path, typ kernel.Type) {
		o.ISA, o.Weights = path.String(), typ.String()
		test(t, synthetic(t, small, 5, o))
	})
}

func step(t *testing.T, b *Backend, rows ...infer.Row) []infer.Drawn {
	t.Helper()
	drawn := make([]infer.Drawn, len(rows))
	if err := b.Step(rows, drawn); err != nil {
		t.Fatal(err)
	}
	return drawn
}

func readSlot(t *testing.T, b *Backend, s infer.Slot) []float32 {
	t.Helper()
	state := make([]float32, small.StateLen())
	if err := b.ReadSlot(s, state); err != nil {
		t.Fatal(err)
	}
	return state
}

// A row among others, of other lengths, gives what it gives alone.
func TestRowsAreIndependent(t *testing.T) {
	eachBackend(t, Options{Threads: 2}, func(t *testing.T, b *Backend) {
		tokens := goldenTokens(100, small.Vocab)
		lengths := []int{1, 1, 25, 3, 1, 17, 1, 2, 1}
		var rows []infer.Row
		for i, n := range lengths {
			rows = append(rows, infer.Row{Slot: infer.Slot(i), Tokens: tokens[i*3:][:n], Logits: make([]float32, small.Vocab)})
		}
		step(t, b, rows...)
		for i, row := range rows {
			alone := logits(t, b, 100, row.Tokens)
			if !slices.Equal(row.Logits, alone) {
				t.Errorf("row %d of %d tokens: other logits than alone", i, len(row.Tokens))
			}
			if !slices.Equal(readSlot(t, b, row.Slot), readSlot(t, b, 100)) {
				t.Errorf("row %d of %d tokens: another state than alone", i, len(row.Tokens))
			}
			if err := b.ZeroSlot(100); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The number of threads changes nothing.
func TestThreadsAgree(t *testing.T) {
	tokens := goldenTokens(60, small.Vocab)
	for typ := range tolerances {
		var want []float32
		for _, threads := range []int{1, 2, 3} {
			b := synthetic(t, small, 5, Options{Threads: threads, Weights: typ.String()})
			got := append(logits(t, b, 0, tokens), logits(t, b, 0, tokens[:1])...)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: %d threads give other logits than one", typ, threads)
			}
		}
	}
}

// However a prompt is cut, the result is the same: every sum has one order.
func TestChunksAgree(t *testing.T) {
	eachBackend(t, Options{Threads: 2}, func(t *testing.T, b *Backend) {
		tokens := goldenTokens(70, small.Vocab)
		want := logits(t, b, 0, tokens)
		state := readSlot(t, b, 0)
		for i, size := range []int{1, 7, 16, 64} {
			slot := infer.Slot(i + 1)
			var got []float32
			for chunk := range slices.Chunk(tokens, size) {
				got = logits(t, b, slot, chunk)
			}
			if !slices.Equal(got, want) || !slices.Equal(readSlot(t, b, slot), state) {
				t.Errorf("chunks of %d tokens give another result than one of %d", size, len(tokens))
			}
		}
	})
}

// Paths differ in rounding only.
func TestPathsAgree(t *testing.T) {
	tokens := goldenTokens(50, small.Vocab)
	for typ := range tolerances {
		var want []float32
		for _, path := range kernel.Available() {
			b := synthetic(t, small, 5, Options{ISA: path.String(), Weights: typ.String()})
			got := logits(t, b, 0, tokens)
			if want == nil {
				want = got
				continue
			}
			if d := maxDifference(got, want) / deviation(want); !(d < pathTolerance(typ)) {
				t.Errorf("%v: %v is off by %.2g standard deviations", typ, path, d)
			}
		}
	}
}

// pathTolerance is larger for int8, where the last bit of an activation may
// round to another integer.
func pathTolerance(typ kernel.Type) float64 {
	if typ == kernel.Q8 {
		return 0.02
	}
	return 1e-4
}

// Drawing is what a sampler makes of the row's logits, and rows without a
// sampler draw nothing.
func TestDraw(t *testing.T) {
	b := synthetic(t, small, 5, Options{Threads: 2, Weights: "fp16"})
	tokens := goldenTokens(5, small.Vocab)
	newSampler := func() *sampler.Sampler {
		return sampler.New(small.Vocab, sampler.Params{Temperature: 1, TopP: 1, Seed: 3})
	}
	rows := []infer.Row{
		{Slot: 0, Tokens: tokens, Logits: make([]float32, small.Vocab)},
		{Slot: 1, Tokens: tokens, Sampler: newSampler(), Top: 4, Logits: make([]float32, small.Vocab)},
		{Slot: 2, Tokens: tokens[:2]},
		{Slot: 3, Tokens: tokens, Sampler: newSampler()},
	}
	drawn := step(t, b, rows...)
	for _, i := range []int{0, 2} {
		if d := drawn[i]; d.Token != 0 || d.LogProb != 0 || d.Top != nil {
			t.Errorf("row %d has no sampler and got %v", i, d)
		}
	}
	token, logProb := newSampler().Sample(rows[0].Logits)
	for _, i := range []int{1, 3} {
		if drawn[i].Token != token || drawn[i].LogProb != logProb {
			t.Errorf("row %d drew %d (%g), its sampler draws %d (%g)", i, drawn[i].Token, drawn[i].LogProb, token, logProb)
		}
	}
	want := newSampler().Top(rows[0].Logits, 4)
	if !slices.Equal(drawn[1].Top, want) {
		t.Errorf("candidates %v, want %v", drawn[1].Top, want)
	}
	if drawn[3].Top != nil {
		t.Errorf("candidates %v that nobody asked for", drawn[3].Top)
	}
}

func TestStepRefuses(t *testing.T) {
	b := synthetic(t, small, 5, Options{Slots: 4})
	many := make([]int32, b.MaxTokens()+1)
	for _, c := range []struct {
		name string
		rows []infer.Row
		want string
	}{
		{"slot out of range", []infer.Row{{Slot: 4, Tokens: []int32{1}}}, "slots 0 to 3"},
		{"negative slot", []infer.Row{{Slot: -1, Tokens: []int32{1}}}, "slots 0 to 3"},
		{"slot twice", []infer.Row{{Slot: 1, Tokens: []int32{1}}, {Slot: 1, Tokens: []int32{1}}}, "occurs twice"},
		{"no tokens", []infer.Row{{Slot: 1}}, "no tokens"},
		{"token out of range", []infer.Row{{Slot: 1, Tokens: []int32{301}}}, "token 301"},
		{"negative token", []infer.Row{{Slot: 1, Tokens: []int32{-1}}}, "token -1"},
		{"short logits", []infer.Row{{Slot: 1, Tokens: []int32{1}, Logits: make([]float32, 300)}}, "room for 300 logits"},
		{"too many tokens", []infer.Row{{Slot: 1, Tokens: many}}, "at most 512"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := b.Step(c.rows, make([]infer.Drawn, len(c.rows)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if err := b.Step([]infer.Row{{Tokens: []int32{1}}}, nil); err == nil {
		t.Error("no room for results, and no error")
	}
	if err := b.Step(nil, nil); err != nil {
		t.Errorf("a step of no rows: %v", err)
	}
}

// A step that only reads a prompt leaves the head alone, and no step reads more
// than the weights.
func TestStepBytes(t *testing.T) {
	b := synthetic(t, small, 5, Options{Weights: "fp16"})
	step(t, b, infer.Row{Tokens: []int32{3}})
	silent := b.StepBytes()
	if err := b.ZeroSlot(0); err != nil { // the same step again: what relu² leaves depends on the state
		t.Fatal(err)
	}
	logits(t, b, 0, []int32{3})
	full := b.StepBytes()
	if head := b.model.head.Bytes(); full-silent != head {
		t.Errorf("a step with logits reads %d bytes, one without %d: the head has %d", full, silent, head)
	}
	if weights := b.Memory().Weights; silent <= 0 || full > weights-b.model.emb.Bytes() {
		t.Errorf("a step reads %d bytes of %d", full, weights)
	}
}

// A steady-state step allocates nothing.
func TestStepDoesNotAllocate(t *testing.T) {
	for _, typ := range []string{"fp16", "int8"} {
		for _, n := range []int{1, 8} {
			t.Run(fmt.Sprintf("%s/%d rows", typ, n), func(t *testing.T) {
				b := synthetic(t, small, 5, Options{Threads: 2, Weights: typ})
				rows := make([]infer.Row, n)
				for i := range rows {
					rows[i] = infer.Row{
						Slot: infer.Slot(i), Tokens: []int32{int32(i)}, Logits: make([]float32, small.Vocab),
						Sampler: sampler.New(small.Vocab, sampler.Params{Temperature: 1, TopP: 0.9, TopK: 50}),
					}
				}
				drawn := make([]infer.Drawn, n)
				allocs := testing.AllocsPerRun(20, func() {
					if err := b.Step(rows, drawn); err != nil {
						t.Fatal(err)
					}
				})
				if allocs > 0 {
					t.Errorf("%.0f allocations in a step", allocs)
				}
			})
		}
	}
}
