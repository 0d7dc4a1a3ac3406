package infer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// little is a shape that runs in no time; its vocabulary is the scripted one's.
func little() rwkv.Shape {
	return rwkv.Shape{
		Version: rwkv.V7, Layers: 2, Embed: 64, Heads: 1, HeadSize: 64, FFN: 128, Vocab: scripted.Model().Shape.Vocab,
		Ranks: rwkv.Ranks{32, 32, 32, 32},
	}
}

// littleBackend runs random weights of that shape.
func littleBackend(t *testing.T) *cpu.Backend {
	t.Helper()
	b, err := cpu.Synthetic(t.Context(), little(), 1, cpu.Options{Threads: 1, Slots: 16})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func littleEngine(t *testing.T) *infer.Engine {
	t.Helper()
	m := *scripted.Model()
	m.Shape = little()
	e := infer.NewEngine(&m, littleBackend(t), infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// pull is an adapter that changes every layer's values.
func pull(name string, strength float32) *adapter.Adapter {
	a := &adapter.Adapter{Name: name, Fingerprint: name, Shape: little(), Layers: make([]adapter.Layer, little().Layers)}
	for i := range a.Layers {
		d := &adapter.Delta{Form: adapter.LoRA, Out: 64, In: 64, Rank: 2, Scale: strength, Down: make([]float32, 128), Up: make([]float32, 128)}
		for j := range d.Down {
			d.Down[j], d.Up[j] = float32(j%7)/7-0.4, float32(j%5)/5-0.4
		}
		a.Layers[i].Deltas = map[adapter.Target]*adapter.Delta{adapter.Value: d}
	}
	return a
}

func fit(t *testing.T, e *infer.Engine, a *adapter.Adapter) {
	t.Helper()
	if err := e.LoadAdapter(t.Context(), a, false); err != nil {
		t.Fatal(err)
	}
}

// swapped generates n tokens on a backend of its own, with an adapter from the
// first step on whose number is at least from.
func swapped(t *testing.T, a *adapter.Adapter, prompt []int32, p sampler.Params, n, from int) []int32 {
	t.Helper()
	b := littleBackend(t)
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	id, err := b.LoadAdapter(a, false)
	if err != nil {
		t.Fatal(err)
	}
	s := sampler.New(scripted.Model().Tokenizer.Size(), p)
	var out []int32
	drawn := make([]infer.Drawn, 1)
	for next := prompt; len(out) < n; next = out[len(out)-1:] {
		row := infer.Row{Tokens: next, Sampler: s}
		if len(out) >= from {
			row.Adapter = id
		}
		if err := b.Step([]infer.Row{row}, drawn); err != nil {
			t.Fatal(err)
		}
		s.Observe(drawn[0].Token)
		out = append(out, drawn[0].Token)
	}
	return out
}

func TestAdaptersOfRequests(t *testing.T) {
	e := littleEngine(t)
	prompt, p := numbers(3, 20), lively(4)
	strong, weak := pull("strong", 4), pull("weak", 1)
	fit(t, e, strong)
	fit(t, e, weak)
	fit(t, e, weak) // once more is nothing
	plain := submit(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 40})
	first := submit(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 40, Adapter: "strong"})
	second := submit(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 40, Adapter: "weak"})
	got := [][]int32{finish(t, plain).Tokens, finish(t, first).Tokens, finish(t, second).Tokens}
	want := [][]int32{swapped(t, weak, prompt, p, 40, 99), swapped(t, strong, prompt, p, 40, 0), swapped(t, weak, prompt, p, 40, 0)}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("request %d: tokens %v, want %v", i, got[i], want[i])
		}
	}
	if slices.Equal(want[0], want[1]) || slices.Equal(want[1], want[2]) {
		t.Error("the adapters change nothing: the test shows nothing")
	}
	list, err := e.Adapters(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "strong" || list[0].Bytes == 0 {
		t.Errorf("loaded are %+v, %v", list, err)
	}
}

// The adapter is changed in the middle of an answer: exact from the next step.
func TestAdapterSwap(t *testing.T) {
	e := littleEngine(t)
	prompt, p := numbers(3, 20), lively(4)
	a := pull("swapped in", 4)
	fit(t, e, a)
	s := submit(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 400})
	reach(t, s, func() bool { return s.Progress().Generated >= 20 })
	s.SetAdapter("nobody has loaded this")
	s.SetAdapter("swapped in")
	end := finish(t, s)
	never := swapped(t, a, prompt, p, 400, 999)
	same := 0
	for same < 400 && end.Tokens[same] == never[same] {
		same++
	}
	if same < 20 || same == 400 {
		t.Fatalf("the first %d tokens are those without an adapter", same)
	}
	for from := same; from > same-8; from-- { // draws may agree by chance
		if slices.Equal(end.Tokens, swapped(t, a, prompt, p, 400, from)) {
			return
		}
	}
	t.Error("the answer is not one whose adapter changed between two tokens")
}

func TestAdapterRefusals(t *testing.T) {
	e := littleEngine(t)
	fit(t, e, pull("used", 1))
	s := submit(t, e, infer.Request{Tokens: numbers(1, 5), Sampling: lively(1), Adapter: "used"})
	if err := e.DropAdapter(t.Context(), "used"); err == nil || !strings.Contains(err.Error(), "in use by 1 answers") {
		t.Errorf("dropping an adapter in use: %v", err)
	}
	s.Cancel()
	finish(t, s)
	if err := e.DropAdapter(t.Context(), "used"); err != nil {
		t.Errorf("dropping an adapter that nobody uses: %v", err)
	}
	s = submit(t, e, infer.Request{Tokens: numbers(1, 5), Adapter: "used"})
	<-s.Done()
	if end := s.Ending(); end.Err == nil || !strings.Contains(end.Err.Error(), "not loaded") {
		t.Errorf("an adapter that is gone: %v", end.Err)
	}
	other := start(t, scripted.Options{}, infer.Options{})
	if err := other.LoadAdapter(t.Context(), pull("any", 1), false); !errors.Is(err, infer.ErrNoAdapters) {
		t.Errorf("a backend without adapters: %v", err)
	}
}

// A state is of the adapter that it was made with.
func TestStatesOfAnotherAdapter(t *testing.T) {
	e := littleEngine(t)
	a, b := pull("a", 1), pull("b", 2)
	a.Name, b.Name = "poet", "pirate"
	fit(t, e, a)
	fit(t, e, b)
	ask := func(r infer.Request) (*infer.Snapshot, error) {
		t.Helper()
		r.Tokens, r.Logits = []int32{5, 6, 7}, true
		s, err := e.Submit(r)
		if err != nil {
			return nil, err
		}
		<-s.Done()
		return s.Ending().Snapshot, s.Ending().Err
	}
	snap, err := ask(infer.Request{Adapter: "a"})
	if err != nil || snap.Adapter != "a" {
		t.Fatalf("%+v, %v", snap, err)
	}
	for _, other := range []string{"b", ""} {
		_, err := ask(infer.Request{From: snap, Adapter: other})
		var mismatch *infer.MismatchError
		name := map[string]string{"b": "the adapter pirate", "": "no adapter"}[other]
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "the adapter poet") || !strings.Contains(err.Error(), name) {
			t.Errorf("going on with %q: %v", other, err)
		}
		if s, err := ask(infer.Request{From: snap, Adapter: other, AnyAdapter: true}); err != nil || s.Adapter != other {
			t.Errorf("going on with %q on purpose: %+v, %v", other, s, err)
		}
	}
	bare, err := ask(infer.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(infer.Request{From: bare, Adapter: "a"}); err == nil {
		t.Error("what was read without an adapter goes on with one, unasked")
	}
	begins := &infer.Snapshot{Model: bare.Model, Tokenizer: bare.Tokenizer, State: bare.State}
	if _, err := ask(infer.Request{From: begins, Adapter: "a"}); err != nil {
		t.Errorf("beginning from a state without an adapter: %v", err)
	}
}

// An answer whose stop is taken back without a state near it is read again as it
// was read: with the adapter before the change, and then with the one after it.
func TestStopAfterASwapIsReadAgainAsItWas(t *testing.T) {
	m := scripted.Model()
	var running atomic.Pointer[infer.Stream]
	steps := 0
	b := scripted.NewAdapted(m, scripted.Options{
		Slots: 1, Answers: []scripted.Answer{{Text: "a long answer of many bytes xyz and more"}},
		Before: func([]infer.Row) error {
			for running.Load() == nil {
				time.Sleep(time.Millisecond)
			}
			if steps++; steps == 10 {
				running.Load().SetAdapter("scripted:quill")
			}
			return nil
		},
	})
	e := infer.NewEngine(m, b, infer.Options{})
	t.Cleanup(func() { shut(t, e) })
	for _, name := range scripted.Adapters {
		a, err := scripted.OpenAdapter(t.Context(), "", name, adapter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fit(t, e, a)
	}
	prompt := encode(e, "Assistant:")
	request := infer.Request{Tokens: prompt, Adapter: "scripted:plume", Stops: []string{"xyz"}}
	s, err := e.Submit(request)
	if err != nil {
		t.Fatal(err)
	}
	running.Store(s)
	end := finish(t, s)
	if end.Reason != infer.ReasonStop || len(end.Snapshot.Spans) != 2 || end.Snapshot.Spans[0].Tokens <= len(prompt) || end.Snapshot.Spans[1].Adapter != "scripted:quill" {
		t.Fatalf("%v after %q, read as %+v", end.Reason, end.Text, end.Snapshot.Spans)
	}
	all := slices.Concat(prompt, end.Tokens)
	n := end.Snapshot.Spans[0].Tokens
	first := run(t, e, infer.Request{Tokens: all[:n], Adapter: "scripted:plume", Logits: true})
	rest := run(t, e, infer.Request{From: first.Snapshot, Tokens: all[n : len(all)-len(end.Snapshot.Pending)], Adapter: "scripted:quill", AnyAdapter: true, Logits: true})
	if !slices.Equal(rest.Snapshot.State, end.Snapshot.State) {
		t.Error("the state is not the one after these spans")
	}
}

// An adapter that an answer was just given is in use before its next step: nobody may
// drop it meanwhile, or the answer would go on with the one before.
func TestAdapterThatIsWantedIsNotDropped(t *testing.T) {
	e := littleEngine(t)
	fit(t, e, pull("before", 1))
	s := submit(t, e, infer.Request{Tokens: numbers(1, 5), Sampling: lively(1), Adapter: "before"})
	for i := range 50 {
		next := fmt.Sprint("strength ", i)
		fit(t, e, pull(next, float32(i)))
		s.SetAdapter(next)
		if err := e.DropAdapter(t.Context(), next); err == nil {
			t.Fatalf("adapter %q was dropped between the wish for it and the next step", next)
		}
	}
	s.Cancel()
	finish(t, s)
}
