package infer_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rookery/infer"
	"rookery/infer/load"
	"rookery/infer/sampler"
)

// The tests of this file run the embedded model on the CPU: what the scripted
// backend cannot show is whether a real step gives the same bits when its rows
// come together differently.

// A hooked backend calls before at the beginning of every step.
type hooked struct {
	infer.Backend
	before func([]infer.Row) error
}

func (h hooked) Step(rows []infer.Row, drawn []infer.Drawn) error {
	if err := h.before(rows); err != nil {
		return err
	}
	return h.Backend.Step(rows, drawn)
}

// startEmbedded runs an engine on the embedded model until the test ends.
func startEmbedded(t testing.TB, slots int, before func([]infer.Row) error) *infer.Engine {
	t.Helper()
	m, b, err := load.Open(t.Context(), load.Spec{Slots: slots}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if before != nil {
		b = hooked{b, before}
	}
	e := infer.NewEngine(m, b, infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// storyteller is how the embedded model is used, but for the seed.
func storyteller(seed uint64) sampler.Params {
	return sampler.Params{Temperature: 0.8, TopP: 0.9, Presence: 0.1, Frequency: 0.1, Decay: 0.99, Seed: seed}
}

var storyPrompts = []string{
	"User: Tell me a story about a fox and a lantern.\n\nAssistant:",
	"User: Hello! Who are you?\n\nAssistant:",
	"User: Tell me a sad story.\n\nAssistant:",
	"User: Tell me a story about two bears, a boat, and the long winter that came after.\n\nAssistant:",
}

func TestEmbeddedModelTalks(t *testing.T) {
	e := startEmbedded(t, 4, nil)
	end := run(t, e, infer.Request{
		Tokens: encode(e, storyPrompts[0]), Sampling: storyteller(1), Stops: []string{"\n\n"}, MaxTokens: 400,
	})
	if end.Err != nil || !strings.HasPrefix(end.Text, " ") || len(strings.Fields(end.Text)) < 20 {
		t.Errorf("%v, %v after %q", end.Reason, end.Err, end.Text)
	}
}

func TestEmbeddedResumeIsAsIfNeverStopped(t *testing.T) {
	const length = 120
	r := rand.New(rand.NewPCG(9, 10))
	var c canceller
	e := startEmbedded(t, 4, c.before)
	for i, text := range storyPrompts {
		request := infer.Request{Tokens: encode(e, text), Sampling: storyteller(uint64(i)), MaxTokens: length, Stops: []string{"\n\n"}}
		never := run(t, e, request)
		var tokens []int32
		var said strings.Builder
		reason := infer.ReasonCancelled
		for reason == infer.ReasonCancelled {
			request.MaxTokens = length - len(tokens)
			end := finish(t, c.submit(t, e, request, 2+r.IntN(40))) // the first step reads the prompt
			tokens, reason = append(tokens, end.Tokens...), end.Reason
			said.WriteString(end.Text)
			request.From, request.Tokens = stored(t, end.Snapshot), nil
		}
		if !slices.Equal(tokens, never.Tokens) || said.String() != never.Text || reason != never.Reason {
			t.Errorf("interrupted %q, %v\nnever %q, %v", said.String(), reason, never.Text, never.Reason)
		}
	}
}

// The rows of a step do not see each other.
func TestEmbeddedRowsAreIndependent(t *testing.T) {
	e := startEmbedded(t, 12, nil)
	request := func(i int) infer.Request {
		return infer.Request{Tokens: encode(e, storyPrompts[i%len(storyPrompts)]), Sampling: storyteller(uint64(i)), MaxTokens: 60}
	}
	var alone, together []infer.Ending
	for i := range 8 {
		alone = append(alone, run(t, e, request(i)))
	}
	var streams []*infer.Stream
	for i := range 8 {
		streams = append(streams, submit(t, e, request(i)))
	}
	for _, s := range streams {
		together = append(together, finish(t, s))
	}
	for i := range alone {
		if !slices.Equal(alone[i].Tokens, together[i].Tokens) {
			t.Errorf("request %d alone %q\ntogether %q", i, alone[i].Text, together[i].Text)
		}
	}
}

// distance is the largest difference of two vectors, relative to the standard
// deviation of the second.
func distance(a, b []float32) float64 {
	var sum, squares, most float64
	for i := range b {
		sum += float64(b[i])
		squares += float64(b[i]) * float64(b[i])
		most = max(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	mean := sum / float64(len(b))
	return most / math.Sqrt(squares/float64(len(b))-mean*mean)
}

// After a stop the state is the one after the answer: to the bit where it was
// kept, and within rounding where it was read again in chunks.
func TestEmbeddedStopIsRolledBack(t *testing.T) {
	for _, slots := range poolSizes {
		e := startEmbedded(t, slots, nil)
		prompt := encode(e, storyPrompts[3])
		never := run(t, e, infer.Request{Tokens: prompt, Sampling: storyteller(3), MaxTokens: 90})
		words := strings.Fields(never.Text)
		stop := strings.Join(words[len(words)-6:len(words)-2], " ") // several tokens
		end := run(t, e, infer.Request{Tokens: prompt, Sampling: storyteller(3), MaxTokens: 90, Stops: []string{stop}})
		if want, _, _ := strings.Cut(never.Text, stop); end.Reason != infer.ReasonStop || end.Text != want {
			t.Fatalf("%d slots: %v after %q, want %q", slots, end.Reason, end.Text, want)
		}
		got := run(t, e, infer.Request{From: end.Snapshot, Logits: true}).Snapshot
		want, err := e.Logits(t.Context(), slices.Concat(prompt, end.Tokens))
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(got.Logits, want); !(d < 0.15) { // int8 activations round chunks differently
			t.Errorf("%d slots: the logits after the rollback are off by %.3f deviations", slots, d)
		}
		t.Logf("%d slots: off by %.3g deviations", slots, distance(got.Logits, want))
		if n := len(end.Tokens); slots > 1 && slices.Equal(end.Tokens, never.Tokens[:n]) { // the stop began with a token
			rest := run(t, e, infer.Request{From: end.Snapshot, Sampling: storyteller(3), MaxTokens: 90 - n})
			if !slices.Equal(rest.Tokens, never.Tokens[n:]) {
				t.Errorf("went on with %q after %q, want %q", rest.Text, end.Text, never.Text)
			}
		}
	}
}

// A long prompt beside a running answer changes neither.
func TestEmbeddedPromptBesideAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1,500 tokens")
	}
	var widest atomic.Int64
	e := startEmbedded(t, 4, func(rows []infer.Row) error {
		for _, r := range rows {
			if len(rows) > 1 {
				widest.Store(max(widest.Load(), int64(len(r.Tokens))))
			}
		}
		return nil
	})
	answer := infer.Request{Tokens: encode(e, storyPrompts[0]), Sampling: storyteller(5), MaxTokens: 150}
	paste := infer.Request{Tokens: encode(e, strings.Repeat("The fox went home. ", 300)+"\n\nUser: Who went home?\n\nAssistant:"), Sampling: storyteller(6), MaxTokens: 30}
	wantAnswer, wantPaste := run(t, e, answer), run(t, e, paste)
	s := submit(t, e, answer)
	reach(t, s, func() bool { return s.Progress().Generated >= 5 })
	p := submit(t, e, paste)
	if end := finish(t, s); !slices.Equal(end.Tokens, wantAnswer.Tokens) {
		t.Errorf("the answer became %q, alone %q", end.Text, wantAnswer.Text)
	}
	if end := finish(t, p); !slices.Equal(end.Tokens, wantPaste.Tokens) {
		t.Errorf("the paste was answered with %q, alone %q", end.Text, wantPaste.Text)
	}
	if n := widest.Load(); n < 2 {
		t.Error("the paste was not read beside the answer")
	} else {
		t.Logf("the widest chunk beside the answer had %d tokens", n)
	}
}
