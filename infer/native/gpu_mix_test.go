//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/sampler"
)

// Every draw of a mix is the one that the host makes by Blend from the logits of
// its rows, whatever rows are beside it, in prompts and after them.
func TestGPUMixesAsTheHost(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	b := m.onGPU(t, l, Options{Slots: 40})
	r := rand.New(rand.NewPCG(4, 5))
	type pair struct {
		at   int
		twin *sampler.Sampler
	}
	var rows []infer.Row
	var mixes []pair
	for i := 0; len(rows) < 40; i++ {
		p := sampler.Params{
			Mode: sampler.Mode(i % 3), Temperature: []float32{1, 0, 0.7}[i%3], TopP: []float32{1, 0.5, 0.95}[i/2%3], TopK: 50 * (i % 2),
			Presence: 0.25 * float32(i%2), Frequency: 0.125, Decay: 0.99, Seed: uint64(i) << 30, Ban: []int32{0},
		}
		members := min([]int{0, 1, 3, 0, 11, 2}[i%6], 39-len(rows))
		if members > 0 {
			mixes = append(mixes, pair{len(rows), m.sampler(p)})
		}
		rows = append(rows, infer.Row{Slot: infer.Slot(len(rows)), Sampler: m.sampler(p), Top: i % 5, Members: members})
		for range members {
			rows = append(rows, infer.Row{Slot: infer.Slot(len(rows))})
		}
	}
	for i := range rows {
		rows[i].Logits = make([]float32, m.shape.Vocab)
		rows[i].Tokens = m.model.Tokenizer.Encode(nil, story)[i%7:]
	}
	var blend infer.Blend
	for n := range 60 {
		for i := range rows { // from token to token
			rows[i].Gate = []float32{r.Float32(), -r.Float32() / 4, 0, 1}[r.IntN(4)]
		}
		drawn := step(t, b, rows...)
		for _, x := range mixes {
			own := &rows[x.at]
			var gates []float32
			var states [][]float32
			for k := range own.Members + 1 {
				gates, states = append(gates, rows[x.at+k].Gate), append(states, rows[x.at+k].Logits)
			}
			want, got := blend.Draw(x.twin, gates, states, own.Top), drawn[x.at]
			same := slices.EqualFunc(got.MemberLogprobs, want.MemberLogprobs, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 })
			if got.Token != want.Token || math.Abs(float64(got.LogProb-want.LogProb)) > 1e-4 || !near(got.Top, want.Top) || !same {
				t.Fatalf("step %d, mix of %d, gates %v: drew %+v, want %+v", n, len(gates), gates, got, want)
			}
			x.twin.Observe(want.Token)
		}
		for i, first := 0, 0; i < len(rows); i++ {
			if rows[i].Sampler != nil {
				first = i
				rows[i].Sampler.Observe(drawn[i].Token)
			}
			rows[i].Tokens = []int32{drawn[first].Token}
		}
	}
}

// A mix with one weight is that state alone, and one that is interrupted goes on
// bit for bit.
func TestGPUMixResumes(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	e := infer.NewEngine(m.model, m.onGPU(t, l, Options{Slots: 8}), infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	other := finish(t, submit(t, e, infer.Request{Tokens: m.model.Tokenizer.Encode(nil, "A sad story. "), Logits: true})).Snapshot
	p := sampler.Params{Temperature: 1, TopP: 0.7, Presence: 0.3, Frequency: 0.3, Decay: 0.99, Seed: 4, Ban: []int32{0}}
	r := infer.Request{Tokens: m.model.Tokenizer.Encode(nil, story), Sampling: p, MaxTokens: 80}
	alone := finish(t, submit(t, e, r))
	r.Weight, r.Members = 1, []infer.Member{{Name: "other", Weight: 0, State: other.State}}
	if end := finish(t, submit(t, e, r)); end.Err != nil || len(end.Tokens) != len(alone.Tokens) || !slices.Equal(end.Tokens[:8], alone.Tokens[:8]) {
		t.Errorf("with weight 1 the mix says %v (%v), alone it is %v", end.Tokens, end.Err, alone.Tokens)
	}
	r.Weight, r.Members[0].Weight = 0.5, 0.8
	whole := finish(t, submit(t, e, r))
	var pieces []int32
	for part := r; len(pieces) < len(whole.Tokens); {
		part.MaxTokens = min(17, len(whole.Tokens)-len(pieces))
		end := finish(t, submit(t, e, part))
		if end.Err != nil || len(end.Tokens) == 0 {
			t.Fatal(end.Reason, end.Err)
		}
		pieces = append(pieces, end.Tokens...)
		part.From, part.Tokens, part.Members = end.Snapshot, nil, nil
	}
	if whole.Err != nil || !slices.Equal(pieces, whole.Tokens) {
		t.Errorf("in pieces the mix has other tokens (%v)", whole.Err)
	}
}
