package infer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

// lively draws from the whole distribution, with penalties that remember.
func lively(seed uint64) sampler.Params {
	return sampler.Params{Temperature: 1, TopP: 0.9, Presence: 0.3, Frequency: 0.2, Decay: 0.99, Seed: seed, Ban: []int32{0}}
}

// start runs an engine on a scripted backend until the test ends.
func start(t testing.TB, o scripted.Options, eo infer.Options) *infer.Engine {
	t.Helper()
	m := scripted.Model()
	b := scripted.New(m, o)
	e := infer.NewEngine(m, b, eo)
	t.Cleanup(func() {
		if shut(t, e) && !b.Closed() {
			t.Error("the engine left its backend open")
		}
	})
	return e
}

// shut closes an engine at the end of a test. One that failed may have left a
// step waiting, which is not waited for for ever; ok is false then.
func shut(t testing.TB, e *infer.Engine) (ok bool) {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Errorf("closing the engine: %v", err)
		}
		return true
	case <-time.After(patience):
		t.Error("the engine cannot be closed: a step waits")
		return false
	}
}

// reach waits until something is true of a running request, which tells of
// every change.
func reach(t testing.TB, s *infer.Stream, ok func() bool) {
	t.Helper()
	for end := time.After(patience); !ok(); {
		select {
		case <-s.Changed():
		case <-end:
			t.Fatalf("the request does not come so far: %+v, %+v", s.Progress(), s.Ending())
		}
	}
}

// pass lets a step begin that waits.
func pass(t testing.TB, step chan<- struct{}) {
	t.Helper()
	select {
	case step <- struct{}{}:
	case <-time.After(patience):
		t.Fatal("no step comes")
	}
}

func submit(t testing.TB, e *infer.Engine, r infer.Request) *infer.Stream {
	t.Helper()
	s, err := e.Submit(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run submits a request and waits for its end.
func run(t testing.TB, e *infer.Engine, r infer.Request) infer.Ending {
	t.Helper()
	return finish(t, submit(t, e, r))
}

func finish(t testing.TB, s *infer.Stream) infer.Ending {
	t.Helper()
	<-s.Done()
	end := s.Ending()
	if end.Snapshot == nil {
		t.Fatalf("no snapshot at the end: %+v", end)
	}
	return end
}

func encode(e *infer.Engine, text string) []int32 {
	return e.Model().Tokenizer.Encode(nil, text)
}

// alone generates n tokens on a backend of its own, one token a step and
// without an engine: what every scheduling must agree with.
func alone(t testing.TB, prompt []int32, p sampler.Params, n int) []int32 {
	t.Helper()
	m := scripted.Model()
	b := scripted.New(m, scripted.Options{Slots: 1})
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	s := sampler.New(m.Tokenizer.Size(), p)
	var out []int32
	drawn := make([]infer.Drawn, 1)
	next := prompt
	for len(out) < n {
		for i := range next {
			row := infer.Row{Tokens: next[i : i+1]}
			if i == len(next)-1 {
				row.Sampler = s
			}
			if err := b.Step([]infer.Row{row}, drawn); err != nil {
				t.Fatal(err)
			}
		}
		s.Observe(drawn[0].Token)
		out = append(out, drawn[0].Token)
		next = out[len(out)-1:]
	}
	return out
}

// numbers are n tokens that depend on seed.
func numbers(seed, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(1 + (seed*7919+i*104729)%256)
	}
	return out
}

func TestGenerate(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	prompt := numbers(1, 100)
	s := submit(t, e, infer.Request{Tokens: prompt, Sampling: lively(5), MaxTokens: 80, Top: 3})
	end := finish(t, s)
	if want := alone(t, prompt, lively(5), 80); !slices.Equal(end.Tokens, want) {
		t.Errorf("tokens %v, want %v", end.Tokens, want)
	}
	if end.Reason != infer.ReasonLength || end.Err != nil {
		t.Errorf("ended with %v, %v", end.Reason, end.Err)
	}
	text, tokens := s.Read()
	if text != end.Text {
		t.Errorf("read %q, the ending has %q", text, end.Text)
	}
	if len(tokens) != 80 || len(tokens[7].Top) != 3 || tokens[7].ID != end.Tokens[7] || tokens[7].LogProb >= 0 {
		t.Errorf("read %d tokens, the 8th %+v", len(tokens), tokens[7])
	}
	if again, none := s.Read(); again != "" || none != nil {
		t.Error("the second Read had something")
	}
	bytes := e.Model().Tokenizer.Decode(nil, end.Tokens)
	if want := string([]rune(string(bytes[:len(bytes)-len(end.Snapshot.Tail)]))); end.Text != want {
		t.Errorf("text %q, want %q", end.Text, want)
	}
	if u := end.Usage; u.Read != 100 || u.Generated != 80 || u.FirstToken <= 0 || u.ReadTime <= 0 || u.DecodeTime <= 0 {
		t.Errorf("usage %+v", u)
	}
	if p := s.Progress(); p.Read != 100 || p.ToRead != 100 || p.Generated != 80 {
		t.Errorf("progress %+v", p)
	}
	if got := end.Snapshot; got.Position != 179 || !slices.Equal(got.Pending, end.Tokens[79:]) || got.Logits != nil || got.Sampler.Draws != 80 {
		t.Errorf("snapshot at %d, pending %v, %d draws", got.Position, got.Pending, got.Sampler.Draws)
	}
	if p := s.Prompt(); p == nil || p.Position != 100 || len(p.Logits) != e.Model().Shape.Vocab || p.Sampler.Draws != 0 {
		t.Errorf("prompt snapshot %+v", p)
	}
}

func TestManyRequestsOnFewSlots(t *testing.T) {
	for _, o := range []scripted.Options{{Slots: 8}, {Slots: 8, MaxTokens: 5}, {Slots: 64, MaxTokens: 40}} {
		t.Run(fmt.Sprintf("%d slots, %d tokens", o.Slots, o.MaxTokens), func(t *testing.T) {
			e := start(t, o, infer.Options{})
			streams := make([]*infer.Stream, 64)
			for i := range streams {
				streams[i] = submit(t, e, infer.Request{
					Tokens: numbers(i, 1+i*5%97), Sampling: lively(uint64(i)), MaxTokens: 5 + i%20,
				})
			}
			for i, s := range streams {
				want := alone(t, numbers(i, 1+i*5%97), lively(uint64(i)), 5+i%20)
				if end := finish(t, s); !slices.Equal(end.Tokens, want) {
					t.Errorf("request %d: tokens %v, want %v", i, end.Tokens, want)
				}
			}
		})
	}
}

func TestWaitingIsFirstComeFirstServed(t *testing.T) {
	gate := make(chan struct{})
	var order []int32 // the first tokens of the prompts, as they were read
	before := func(rows []infer.Row) error {
		<-gate
		if len(rows[0].Tokens) > 1 {
			order = append(order, rows[0].Tokens[0])
		}
		return nil
	}
	e := start(t, scripted.Options{Slots: 1, Before: before}, infer.Options{})
	var streams []*infer.Stream
	var want []int32
	for i := range 6 {
		want = append(want, numbers(i, 1)[0])
		streams = append(streams, submit(t, e, infer.Request{Tokens: numbers(i, 10), Sampling: lively(1), MaxTokens: 5}))
	}
	close(gate)
	for _, s := range streams {
		finish(t, s)
	}
	if !slices.Equal(order, want) {
		t.Errorf("read in the order %v, want %v", order, want)
	}
}

func TestRefusals(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	m := e.Model()
	ours := func(s infer.Snapshot) *infer.Snapshot {
		s.Model, s.Tokenizer = m.Fingerprint, m.Tokenizer.Fingerprint()
		return &s
	}
	tests := []struct {
		name string
		r    infer.Request
		want string
	}{
		{"nothing to read", infer.Request{}, "nothing to read"},
		{"nothing after a snapshot", infer.Request{From: ours(infer.Snapshot{})}, "nothing to read"},
		{"token too large", infer.Request{Tokens: []int32{1, 320}}, "token 1 is 320"},
		{"negative token", infer.Request{Tokens: []int32{-1}}, "token 0 is -1"},
		{"replayed token", infer.Request{Tokens: []int32{1}, Replay: []int32{999}}, "replayed token 0"},
		{"pending token", infer.Request{From: ours(infer.Snapshot{Pending: []int32{999}})}, "pending token 0"},
		{"empty stop", infer.Request{Tokens: []int32{1}, Stops: []string{"a", ""}}, "stop 2 is empty"},
		{"sampling", infer.Request{Tokens: []int32{1}, Sampling: sampler.Params{Temperature: -1}}, "temperature"},
		{"length", infer.Request{Tokens: []int32{1}, MaxTokens: -1}, "-1 generated tokens"},
		{"candidates", infer.Request{Tokens: []int32{1}, Top: 1000}, "1000 candidates"},
		{"state size", infer.Request{Tokens: []int32{1}, From: ours(infer.Snapshot{State: make([]float32, 3)})}, "damaged"},
		{"logits size", infer.Request{From: ours(infer.Snapshot{Logits: make([]float32, 3)})}, "damaged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := e.Submit(tt.r)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	for what, s := range map[string]*infer.Snapshot{
		"model":     {Model: "another", Tokenizer: m.Tokenizer.Fingerprint()},
		"tokenizer": {Model: m.Fingerprint, Tokenizer: "another"},
	} {
		_, err := e.Submit(infer.Request{From: s, Tokens: []int32{1}})
		var mismatch *infer.MismatchError
		if !errors.As(err, &mismatch) || mismatch.What != what || mismatch.Snapshot != "another" || !strings.Contains(err.Error(), mismatch.Name) {
			t.Errorf("another %s: error %v", what, err)
		}
	}
}

func TestLogits(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{Chunk: 16})
	prompt := numbers(3, 50)
	got, err := e.Logits(t.Context(), prompt)
	if err != nil {
		t.Fatal(err)
	}
	b := scripted.New(e.Model(), scripted.Options{})
	want := make([]float32, e.Model().Shape.Vocab)
	if err := errors.Join(b.ZeroSlot(2), b.Step([]infer.Row{{Slot: 2, Tokens: prompt, Logits: want}}, make([]infer.Drawn, 1))); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("the logits differ from those of one step")
	}
	if _, err := e.Logits(t.Context(), nil); err == nil {
		t.Error("logits of nothing")
	}
}

func TestLogitsGivesUpWithItsContext(t *testing.T) {
	gate := make(chan struct{})
	e := start(t, scripted.Options{Before: func([]infer.Row) error { <-gate; return nil }}, infer.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Logits(ctx, numbers(1, 5)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(gate)
}

func TestLogitsRequestReadsOnly(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	prompt := numbers(3, 50)
	whole := run(t, e, infer.Request{Tokens: prompt, Logits: true})
	if whole.Reason != infer.ReasonLength || len(whole.Tokens) != 0 || whole.Snapshot.Logits == nil {
		t.Fatalf("ending %+v", whole)
	}
	replayed := run(t, e, infer.Request{Tokens: prompt[:30], Replay: prompt[30:], Logits: true})
	again := run(t, e, infer.Request{From: whole.Snapshot, Logits: true})
	for name, end := range map[string]infer.Ending{"replayed": replayed, "again": again} {
		if !slices.Equal(end.Snapshot.Logits, whole.Snapshot.Logits) || !slices.Equal(end.Snapshot.State, whole.Snapshot.State) {
			t.Errorf("%s: other logits or another state", name)
		}
	}
}

func TestCloseCancelsEverything(t *testing.T) {
	m := scripted.Model()
	b := scripted.New(m, scripted.Options{Slots: 2, Before: scripted.Slow(time.Millisecond)})
	e := infer.NewEngine(m, b, infer.Options{})
	var streams []*infer.Stream
	for i := range 5 {
		streams = append(streams, submit(t, e, infer.Request{Tokens: numbers(i, 20), Sampling: lively(1)}))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		if end := finish(t, s); end.Reason != infer.ReasonCancelled {
			t.Errorf("ended with %v", end.Reason)
		}
	}
	if _, err := e.Submit(infer.Request{Tokens: []int32{1}}); !errors.Is(err, infer.ErrClosed) {
		t.Errorf("Submit after Close: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestSetSamplingTakesEffect(t *testing.T) {
	step := make(chan struct{})
	e := start(t, scripted.Options{Before: func([]infer.Row) error { <-step; return nil }}, infer.Options{})
	prompt := numbers(2, 10)
	s := submit(t, e, infer.Request{Tokens: prompt, Sampling: sampler.Params{}, MaxTokens: 20})
	for range 10 {
		pass(t, step)
	}
	s.SetSampling(sampler.Params{Temperature: -3}) // refused
	s.SetSampling(sampler.Params{Ban: numbers(2, 256)})
	close(step)
	end := finish(t, s)
	greedy := alone(t, prompt, sampler.Params{}, 20)
	if !slices.Equal(end.Tokens[:10], greedy[:10]) {
		t.Errorf("the first tokens %v, want %v", end.Tokens[:10], greedy[:10])
	}
	for _, id := range end.Tokens[11:] {
		if id <= 256 {
			t.Errorf("token %d was drawn after it was banned", id)
		}
	}
}

// idle waits until the engine says that no request has a slot: it does so
// after the last one has ended.
func idle(t testing.TB, e *infer.Engine) {
	t.Helper()
	for end := time.Now().Add(patience); e.Stats().Kinds.Running != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d slots are still in use", e.Stats().Kinds.Running)
		}
	}
}
