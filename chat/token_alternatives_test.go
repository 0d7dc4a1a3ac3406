package chat_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/infer"
)

// The probabilities at a token are those that the engine reported when it was
// drawn, under the same parameters.
func TestCandidatesAreThoseOfTheDraw(t *testing.T) {
	defaults := answersOf(20)
	defaults.Sampling.Presence, defaults.Sampling.Frequency, defaults.Sampling.Decay, defaults.Sampling.TopP = 0.7, 0.3, 0.9, 0.95
	r := newRoom(t, setup{babble: true, defaults: defaults})
	d := r.workspace.New()
	v := ask(t, d, "anything")
	a := last(v)

	p := a.Sampling
	stream, err := r.engine.Submit(infer.Request{Tokens: v.Turns[0].Tokens, Sampling: p, MaxTokens: 20, Stops: []string{"@@@@"}, Top: 6})
	must(t, err)
	<-stream.Done()
	_, drawn := stream.Read()
	if len(drawn) != 20 || drawn[19].ID != a.Tokens[19] {
		t.Fatalf("the same request drew %d other tokens", len(drawn))
	}
	texts, err := d.Tokens(a.ID)
	must(t, err)
	// Back and forth, so that states of earlier looks are gone on from.
	for _, at := range []int{0, 1, 5, 19, 18, 3, 19, 7} {
		list, err := d.Candidates(t.Context(), a.ID, at, 6)
		must(t, err)
		taken := 0
		for i, c := range list {
			if c.Taken {
				taken++
				if c.Token != a.Tokens[at] || c.Text != texts[at] || math.Abs(math.Log(c.Model)-float64(drawn[at].LogProb)) > 1e-5 || c.Drawn == 0 {
					t.Errorf("token %d was %+v", at, c)
				}
			}
			if i >= 6 {
				continue
			}
			if want := drawn[at].Top[i]; c.Token != want.Token || math.Abs(c.Drawn-float64(want.Prob)) > 1e-6 {
				t.Errorf("candidate %d of token %d is %+v, want %+v", i, at, c, want)
			}
		}
		if taken != 1 {
			t.Errorf("%d of the candidates at token %d were taken", taken, at)
		}
	}
	// What would come next, and what cannot be asked.
	list, err := d.Candidates(t.Context(), a.ID, len(a.Tokens), 4)
	if err != nil || len(list) != 4 || slices.ContainsFunc(list, func(c chat.Candidate) bool { return c.Taken }) {
		t.Errorf("next would come %v, %v", list, err)
	}
	for _, at := range []int{-1, len(a.Tokens) + 1} {
		if _, err := d.Candidates(t.Context(), a.ID, at, 4); err == nil {
			t.Errorf("token %d of %d", at, len(a.Tokens))
		}
	}
	if _, err := d.Candidates(t.Context(), v.Turns[0].ID, 0, 4); err == nil {
		t.Error("a prompt has candidates")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Candidates(cancelled, a.ID, 11, 4); err == nil {
		t.Error("a cancelled look saw something")
	}
	// Looking changes nothing.
	r.checkStates(settled(t, d), 2)
}

// One step to the side costs one token, not the answer again.
func TestCandidatesGoOnFromTheLastLook(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(200)})
	d := r.workspace.New()
	a := last(ask(t, d, "anything"))
	_, err := d.Candidates(t.Context(), a.ID, 150, 4)
	must(t, err)
	read := r.fed()
	for at := 151; at < 160; at++ {
		_, err := d.Candidates(t.Context(), a.ID, at, 4)
		must(t, err)
	}
	if n := r.fed() - read; n > 9 {
		t.Errorf("nine steps read %d tokens", n)
	}
}

func TestTokenText(t *testing.T) {
	for in, want := range map[string]string{
		"": "(end)", " rook": " rook", "\n\n": `\n\n`, "\xe4\xbd": `\xe4\xbd`, "你": "你", "\t\x1b": `\t\u001b`,
	} {
		if got := prompt.TokenText([]byte(in)); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
	if strings.Contains(prompt.TokenText([]byte("\x1b[31m")), "\x1b") {
		t.Error("an escape sequence gets through")
	}
}
