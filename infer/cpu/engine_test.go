package cpu

import (
	"context"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// engineOf runs synthetic weights of a shape.
func engineOf(t *testing.T, s rwkv.Shape) *infer.Engine {
	t.Helper()
	b, err := Synthetic(t.Context(), s, 7, Options{Threads: 2, Weights: "fp16"})
	if err != nil {
		t.Fatal(err)
	}
	e := infer.NewEngine(&infer.Model{Name: "synthetic", Shape: s, Fingerprint: "seven", Tokenizer: tokenizer.NewBytes()}, b, infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// ask runs a request to its end.
func ask(t *testing.T, e *infer.Engine, r infer.Request) infer.Ending {
	t.Helper()
	r.Sampling = sampler.Params{Temperature: 1, TopP: 0.9, Seed: 3}
	s, err := e.Submit(r)
	if err != nil {
		t.Fatal(err)
	}
	end, err := s.Wait(context.Background())
	if err != nil || end.Err != nil {
		t.Fatal(err, end.Err)
	}
	return end
}

// In every version an answer goes on from a stored snapshot, in another process, as if it
// had never stopped; a mix whose other member weighs nothing is the state alone, and goes
// on in the same way.
func TestVersionsGoOnFromSnapshots(t *testing.T) {
	for _, s := range allVersions {
		t.Run(s.Version.ID(), func(t *testing.T) {
			prompt := goldenTokens(20, s.Vocab)
			e := engineOf(t, s)
			whole := ask(t, e, infer.Request{Tokens: prompt, MaxTokens: 24})
			if len(whole.Tokens) < 20 {
				t.Fatalf("only %d tokens: the test shows nothing", len(whole.Tokens))
			}
			other := ask(t, e, infer.Request{Tokens: prompt[:7], MaxTokens: 1}).Snapshot.State
			for _, members := range [][]infer.Member{nil, {{Name: "other", Weight: 0, State: other}}} {
				r := infer.Request{Tokens: prompt, MaxTokens: 9, Members: members}
				if members != nil {
					r.Weight = 1
				}
				first := ask(t, e, r)
				data, err := first.Snapshot.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				var from infer.Snapshot
				if err := from.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				rest := ask(t, engineOf(t, s), infer.Request{From: &from, MaxTokens: len(whole.Tokens) - len(first.Tokens)})
				if got := append(first.Tokens, rest.Tokens...); !slices.Equal(got, whole.Tokens) {
					t.Errorf("%d members: %v, without a stop %v", len(members), got, whole.Tokens)
				}
			}
		})
	}
}
