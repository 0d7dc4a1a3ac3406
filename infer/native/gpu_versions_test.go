//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu"
	"rookery/infer/rwkv"
)

// TestGPUVersions compares every version on the GPU with the CPU: a prompt in one piece,
// tokens one by one, a state that is carried over, and an adapter.
func TestGPUVersions(t *testing.T) {
	l := openGPU(t)
	for _, s := range []rwkv.Shape{
		{Version: rwkv.V4, Layers: 3, Embed: 256, Heads: 256, HeadSize: 1, FFN: 1024, Vocab: 512},
		{Version: rwkv.V50, Layers: 3, Embed: 256, Heads: 4, HeadSize: 64, FFN: 1024, Vocab: 512},
		{Version: rwkv.V51, Layers: 3, Embed: 256, Heads: 4, HeadSize: 64, FFN: 896, Vocab: 512},
		{Version: rwkv.V52, Layers: 3, Embed: 256, Heads: 4, HeadSize: 64, FFN: 896, Vocab: 512},
		{Version: rwkv.V6, Layers: 3, Embed: 256, Heads: 4, HeadSize: 64, FFN: 896, Vocab: 512, Ranks: rwkv.Ranks{32, 64}},
		{Version: rwkv.V6, Layers: 2, Embed: 256, Heads: 2, HeadSize: 128, FFN: 896, Vocab: 512, Ranks: rwkv.Ranks{5, 7}},
		{Version: rwkv.V7, Layers: 3, Embed: 256, Heads: 4, HeadSize: 64, FFN: 1024, Vocab: 512, Ranks: rwkv.Ranks{32, 32, 32, 64}},
	} {
		t.Run(s.Version.ID(), func(t *testing.T) {
			ofGPU, err := l.Generate(t.Context(), s, cpu.SyntheticValues(s, 3), Options{Slots: 12})
			if err != nil {
				t.Fatal(err)
			}
			closeAtEnd(t, ofGPU)
			ofCPU, err := cpu.Synthetic(t.Context(), s, 3, cpu.Options{Weights: "fp32", Slots: 12})
			if err != nil {
				t.Fatal(err)
			}
			closeAtEnd(t, ofCPU)
			a := randomAdapter(s, adapter.LoRA, 4, 9)
			versionsAgree(t, ofGPU, ofCPU, s, a)
		})
	}
}

// versionsAgree feeds two backends the same rows.
func versionsAgree(t *testing.T, got, want infer.Backend, s rwkv.Shape, a *adapter.Adapter) {
	t.Helper()
	logits := func(b infer.Backend, slot infer.Slot, id infer.AdapterID, tokens []int32) []float32 {
		rows := []infer.Row{{Slot: slot, Tokens: tokens, Adapter: id, Logits: make([]float32, s.Vocab)}}
		for i := range 6 { // others, so that the rows of a step are some
			rows = append(rows, infer.Row{Slot: infer.Slot(i + 1), Tokens: tokens})
		}
		if err := b.Step(rows, make([]infer.Drawn, len(rows))); err != nil {
			t.Fatal(err)
		}
		return rows[0].Logits
	}
	compare := func(what string, limit float64, tokens []int32, ofGot, ofWant infer.AdapterID) {
		t.Helper()
		for _, n := range []int{70, 1, 1} { // a prompt of 70 tokens, then some by themselves
			g, w := logits(got, 0, ofGot, tokens[:n]), logits(want, 0, ofWant, tokens[:n])
			tokens = tokens[n:]
			if d := difference(g, w); d > limit {
				t.Errorf("%s: after %d tokens logits differ by %.2g of their size", what, n, d)
			}
		}
	}
	tokens := make([]int32, 300)
	for i := range tokens {
		tokens[i] = int32(1 + i*i*31%(s.Vocab-1))
	}
	compare("plain", 3e-3, tokens, 0, 0)

	// The state of one goes on in the other.
	state := make([]float32, s.StateLen())
	if err := want.ReadSlot(0, state); err != nil {
		t.Fatal(err)
	}
	if err := got.WriteSlot(0, state); err != nil {
		t.Fatal(err)
	}
	compare("carried over", 3e-3, slices.Clone(tokens[100:]), 0, 0)

	ids := [2]infer.AdapterID{}
	for i, b := range []infer.Backend{got, want} {
		id, err := b.(infer.AdapterBackend).LoadAdapter(a, false)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	compare("with an adapter", 1e-2, slices.Clone(tokens[200:]), ids[0], ids[1])
}
