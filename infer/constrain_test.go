package infer_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/grammar"
)

const personSchema = `{"type":"object","properties":{"name":{"type":"string","maxLength":12},"age":{"type":"integer","minimum":1,"maximum":99},
	"likes":{"type":"array","items":{"enum":["boats","foxes","tea"]},"maxItems":3}},"required":["name","age","likes"],"additionalProperties":false}`

type person struct {
	Name  string
	Age   int
	Likes []string
}

func readPerson(t *testing.T, text string) {
	t.Helper()
	var p person
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.Age < 1 || p.Age > 99 || p.Likes == nil {
		t.Errorf("%q is not what the grammar asks for: %+v, %v", text, p, err)
	}
}

// A model that never saw JSON answers with valid JSON, in rows beside free ones.
func TestAnswersUnderAGrammar(t *testing.T) {
	e := startEmbedded(t, 6, nil)
	g, err := grammar.Spec{Kind: grammar.KindSchema, Text: personSchema}.Compile(" ")
	if err != nil {
		t.Fatal(err)
	}
	request := func(seed int) infer.Request {
		return infer.Request{Tokens: encode(e, storyPrompts[seed%4]), Sampling: storyteller(uint64(seed)), MaxTokens: 300, Stops: []string{"\n\n", "}"}}
	}
	free := submit(t, e, request(0))
	var streams []*infer.Stream
	for seed := range 12 {
		r := request(seed)
		r.Grammar = g
		streams = append(streams, submit(t, e, r))
	}
	for _, s := range streams {
		end := finish(t, s)
		if end.Reason != infer.ReasonStop || end.Err != nil {
			t.Fatalf("%v, %v after %q", end.Reason, end.Err, end.Text)
		}
		readPerson(t, end.Text)
	}
	alone := run(t, e, request(0))
	if got := finish(t, free); got.Text != alone.Text {
		t.Errorf("a free answer beside them is %q, alone it is %q", got.Text, alone.Text)
	}
}

// An answer that was cut off goes on where the grammar was, from its snapshot and
// by reading its tokens again.
func TestGrammarsGoOn(t *testing.T) {
	e := startEmbedded(t, 4, nil)
	g, err := grammar.JSONSchema([]byte(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	r := infer.Request{Tokens: encode(e, storyPrompts[1]), Sampling: storyteller(3), MaxTokens: 300, Grammar: g}
	whole := run(t, e, r)
	readPerson(t, whole.Text)
	for _, n := range []int{1, 5, len(whole.Tokens) - 1} {
		cut := r
		cut.MaxTokens = n
		first := run(t, e, cut)
		rest := run(t, e, infer.Request{From: first.Snapshot, Begun: first.Tokens, Sampling: r.Sampling, Grammar: g, MaxTokens: 300})
		if got := slices.Concat(first.Tokens, rest.Tokens); !slices.Equal(got, whole.Tokens) {
			t.Errorf("after %d tokens it went on with %q", n, rest.Text)
		}
		again := r
		again.Replay = whole.Tokens[:n]
		if got := run(t, e, again); !slices.Equal(got.Tokens, whole.Tokens[n:]) {
			t.Errorf("after a replay of %d tokens it went on with %q", n, got.Text)
		}
	}
	r.Replay = encode(e, "not JSON")
	if _, err := e.Submit(r); !errors.Is(err, grammar.ErrMismatch) {
		t.Errorf("a replay that is not in the grammar: %v", err)
	}
}

// What DRY remembers of an answer that was cut off comes from its tokens.
func TestRepetitionsGoOn(t *testing.T) {
	e := startEmbedded(t, 4, nil)
	p := storyteller(5)
	p.DRY, p.XTC = 2, 0.5
	r := infer.Request{Tokens: encode(e, storyPrompts[0]), Sampling: p, MaxTokens: 120}
	whole := run(t, e, r)
	cut := r
	cut.MaxTokens = 60
	first := run(t, e, cut)
	rest := run(t, e, infer.Request{From: first.Snapshot, Begun: first.Tokens, Sampling: p, MaxTokens: 60})
	if got := slices.Concat(first.Tokens, rest.Tokens); !slices.Equal(got, whole.Tokens) {
		t.Errorf("it went on with %q, not %q", rest.Text, whole.Text[len(first.Text):])
	}
	r.Sampling.DRY = 0
	if slices.Equal(run(t, e, r).Tokens, whole.Tokens) {
		t.Error("dry changed nothing")
	}
}
