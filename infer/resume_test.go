package infer_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// checkSnapshot makes sure that an ending's snapshot is the state after the
// prompt and the ending's tokens, by reading those from the beginning.
func checkSnapshot(t *testing.T, e *infer.Engine, prompt []int32, end infer.Ending) {
	t.Helper()
	whole := slices.Concat(prompt, end.Tokens)
	want := run(t, e, infer.Request{Tokens: whole, Logits: true}).Snapshot
	got := run(t, e, infer.Request{From: end.Snapshot, Logits: true}).Snapshot
	if !slices.Equal(got.State, want.State) || !slices.Equal(got.Logits, want.Logits) {
		t.Errorf("the snapshot is not the state after %d tokens", len(whole))
	}
	if got.Position != len(whole) {
		t.Errorf("the snapshot continues at %d, want %d", got.Position, len(whole))
	}
	if s := end.Snapshot; (s.Logits == nil) != (len(s.Pending) > 0) {
		t.Errorf("%d pending tokens and %d logits", len(s.Pending), len(s.Logits))
	}
}

// checkMemory makes sure that a snapshot's sampler has drawn exactly these tokens.
func checkMemory(t *testing.T, e *infer.Engine, s *infer.Snapshot, p sampler.Params, drawn []int32) {
	t.Helper()
	want := sampler.New(e.Model().Tokenizer.Size(), p)
	for _, id := range drawn {
		want.Observe(id)
	}
	want.Skip(len(drawn))
	if m := want.Memory(); m.Draws != s.Sampler.Draws || !slices.Equal(m.Counts, s.Sampler.Counts) {
		t.Errorf("the sampler remembers %+v, want %+v", s.Sampler, m)
	}
}

// stored is what comes back from a store.
func stored(t *testing.T, s *infer.Snapshot) *infer.Snapshot {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var out infer.Snapshot
	if err := out.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return &out
}

// A canceller is a Before that cancels a stream in a chosen step.
type canceller struct {
	mu     sync.Mutex
	stream *infer.Stream
	left   int
}

func (c *canceller) before([]infer.Row) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		c.stream.Cancel()
	}
	return nil
}

// submit submits a request that is cancelled in its n-th step.
func (c *canceller) submit(t *testing.T, e *infer.Engine, r infer.Request, n int) *infer.Stream {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stream, c.left = submit(t, e, r), n
	return c.stream
}

// holding are stops that never come but are often held back for.
var holding = []string{"ab never", "\n never", "s never", "\xe4 never"}

// An answer is cancelled again and again, while it is read and while it
// decodes, and goes on from the stored snapshots.
func TestResumeIsAsIfNeverStopped(t *testing.T) {
	const length = 100
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 10 {
		var c canceller
		e := start(t, scripted.Options{Before: c.before}, infer.Options{Chunk: 32})
		prompt, p := numbers(round, 1+r.IntN(200)), lively(uint64(round))
		request := infer.Request{Tokens: prompt, Sampling: p, Stops: holding}
		var tokens []int32
		var text strings.Builder
		for len(tokens) < length {
			request.MaxTokens = length - len(tokens)
			end := finish(t, c.submit(t, e, request, 1+r.IntN(30)))
			tokens = append(tokens, end.Tokens...)
			text.WriteString(end.Text)
			checkMemory(t, e, end.Snapshot, p, tokens)
			request.From, request.Tokens = stored(t, end.Snapshot), nil
		}
		never := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: length})
		if !slices.Equal(tokens, never.Tokens) {
			t.Errorf("round %d: interrupted %v\nnever %v", round, tokens, never.Tokens)
		}
		if text.String() != never.Text {
			t.Errorf("round %d: interrupted %q\nnever %q", round, text.String(), never.Text)
		}
	}
}

func TestCancelledSnapshots(t *testing.T) {
	prompt := numbers(4, 90)
	for steps := 1; steps < 40; steps += 3 {
		var c canceller
		e := start(t, scripted.Options{Before: c.before}, infer.Options{Chunk: 16})
		end := finish(t, c.submit(t, e, infer.Request{Tokens: prompt, Sampling: lively(1), Stops: holding}, steps))
		if end.Reason != infer.ReasonCancelled {
			t.Fatalf("ended with %v", end.Reason)
		}
		// the prompt takes 6 steps, the last of which draws; the step that runs is finished
		if want := max(0, steps-5); len(end.Tokens) != want {
			t.Errorf("cancelled in step %d with %d tokens, want %d", steps, len(end.Tokens), want)
		}
		checkSnapshot(t, e, prompt, end)
	}
}

func TestCancelInLine(t *testing.T) {
	var c canceller
	gate := make(chan struct{})
	e := start(t, scripted.Options{Slots: 1, Before: func(rows []infer.Row) error {
		<-gate
		return c.before(rows)
	}}, infer.Options{})
	first := c.submit(t, e, infer.Request{Tokens: numbers(1, 5), Sampling: lively(1)}, 5)
	prompt := numbers(2, 60)
	whole := submit(t, e, infer.Request{Tokens: prompt[:50], Replay: prompt[50:], Sampling: lively(1)})
	whole.Cancel()
	close(gate)
	end := finish(t, whole)
	if end.Reason != infer.ReasonCancelled || len(end.Snapshot.Pending) != 60 || end.Snapshot.Sampler.Draws != 10 {
		t.Errorf("cancelled in line: %+v", end)
	}
	finish(t, first)
	checkSnapshot(t, e, prompt, end)
}

func TestContinueFromThePromptSnapshot(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	prompt := numbers(9, 30)
	s := submit(t, e, infer.Request{Tokens: prompt, Sampling: lively(1), MaxTokens: 20})
	first := finish(t, s)
	before := e.Stats()
	again := run(t, e, infer.Request{From: s.Prompt(), Sampling: lively(1), MaxTokens: 20})
	other := run(t, e, infer.Request{From: s.Prompt(), Sampling: lively(2), MaxTokens: 20})
	if !slices.Equal(again.Tokens, first.Tokens) {
		t.Errorf("the same seed gave %v, then %v", first.Tokens, again.Tokens)
	}
	if slices.Equal(other.Tokens, first.Tokens) || !slices.Equal(other.Tokens, alone(t, prompt, lively(2), 20)) {
		t.Errorf("another seed gave %v", other.Tokens)
	}
	if after := e.Stats(); after.Read != before.Read || after.Steps != before.Steps+2*19 {
		t.Errorf("%d tokens were read again, in %d steps", after.Read-before.Read, after.Steps-before.Steps)
	}
	if one := run(t, e, infer.Request{From: s.Prompt(), Sampling: lively(1), MaxTokens: 1}); !slices.Equal(one.Tokens, first.Tokens[:1]) {
		t.Errorf("one token from logits: %v", one.Tokens)
	}
}

func TestReplay(t *testing.T) {
	const length = 60
	prompt := numbers(6, 40)
	tests := []struct {
		name string
		from func(*infer.Snapshot) infer.Request // a request that has read the prompt
	}{
		{"after tokens", func(*infer.Snapshot) infer.Request { return infer.Request{Tokens: prompt} }},
		{"after a snapshot", func(s *infer.Snapshot) infer.Request { return infer.Request{From: s} }},
		{"after a snapshot without logits", func(s *infer.Snapshot) infer.Request {
			bare := *s
			bare.Logits = nil
			return infer.Request{From: &bare}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := start(t, scripted.Options{}, infer.Options{Chunk: 16})
			s := submit(t, e, infer.Request{Tokens: prompt, Sampling: lively(3), MaxTokens: length, Stops: holding})
			whole := finish(t, s)
			for _, n := range []int{0, 1, 16, 17, 59} {
				r := tt.from(s.Prompt())
				r.Replay, r.Sampling, r.MaxTokens, r.Stops = whole.Tokens[:n], lively(3), length-n, holding
				if n == 0 && r.Tokens == nil && r.From.Logits == nil {
					continue // nothing to read
				}
				again := submit(t, e, r)
				end := finish(t, again)
				if !slices.Equal(end.Tokens, whole.Tokens[n:]) {
					t.Errorf("after %d replayed: %v, want %v", n, end.Tokens, whole.Tokens[n:])
				}
				replayed := run(t, e, infer.Request{Tokens: prompt, Sampling: lively(3), MaxTokens: max(n, 1)}).Text
				if n > 0 && replayed+end.Text != whole.Text {
					t.Errorf("after %d replayed: %q and %q, want %q", n, replayed, end.Text, whole.Text)
				}
				if p := again.Prompt(); p != nil && (p.Position != len(prompt) || p.Sampler.Draws != 0 || !slices.Equal(p.Logits, s.Prompt().Logits)) {
					t.Errorf("after %d replayed: the prompt snapshot is at %d", n, p.Position)
				}
				checkMemory(t, e, end.Snapshot, lively(3), whole.Tokens)
			}
		})
	}
}

// A failed step garbles the states; what is kept on the host goes on.
func TestFailedStepLeavesASnapshot(t *testing.T) {
	prompt := numbers(8, 100)
	never := alone(t, prompt, lively(4), 60)
	for _, failing := range []int{1, 4, 7, 8, 30} {
		steps := 0
		e := start(t, scripted.Options{Before: func([]infer.Row) error {
			if steps++; steps == failing {
				return errors.New("out of order")
			}
			return nil
		}}, infer.Options{Chunk: 16})
		end := run(t, e, infer.Request{Tokens: prompt, Sampling: lively(4), MaxTokens: 60})
		if end.Reason != infer.ReasonError || !strings.Contains(end.Err.Error(), "out of order") {
			t.Fatalf("ended with %v, %v", end.Reason, end.Err)
		}
		rest := run(t, e, infer.Request{From: stored(t, end.Snapshot), Sampling: lively(4), MaxTokens: 60 - len(end.Tokens)})
		if got := slices.Concat(end.Tokens, rest.Tokens); !slices.Equal(got, never) {
			t.Errorf("failed in step %d: %v, want %v", failing, got, never)
		}
	}
}

func TestSnapshotBytesAreCounted(t *testing.T) {
	e := start(t, scripted.Options{}, infer.Options{})
	end := run(t, e, infer.Request{Tokens: numbers(1, 20), Sampling: lively(1), MaxTokens: 5})
	alive := e.Stats().SnapshotBytes
	if alive < int64(4*len(end.Snapshot.State)) {
		t.Errorf("%d bytes of snapshots, but one has %d", alive, 4*len(end.Snapshot.State))
	}
	runtime.KeepAlive(end.Snapshot)
	for deadline := time.Now().Add(patience); e.Stats().SnapshotBytes >= alive; {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes of snapshots are counted after they were dropped", e.Stats().SnapshotBytes)
		}
		runtime.GC()
	}
}
