package scripted_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// read feeds a text to slot 0, n tokens a step, and returns the last logits.
func read(t *testing.T, b *scripted.Backend, tokens []int32, n int) []float32 {
	t.Helper()
	logits := make([]float32, scripted.Model().Shape.Vocab)
	for chunk := range slices.Chunk(tokens, n) {
		if err := b.Step([]infer.Row{{Tokens: chunk, Logits: logits}}, make([]infer.Drawn, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return logits
}

// answer generates greedily from slot 0 until token 0.
func answer(t *testing.T, b *scripted.Backend, prompt string) string {
	t.Helper()
	m := scripted.Model()
	s := sampler.New(m.Tokenizer.Size(), sampler.Params{})
	next := m.Tokenizer.Encode(nil, prompt)
	var text []byte
	for range 1000 {
		drawn := make([]infer.Drawn, 1)
		if err := b.Step([]infer.Row{{Tokens: next, Sampler: s}}, drawn); err != nil {
			t.Fatal(err)
		}
		if drawn[0].Token == 0 {
			return string(text)
		}
		text = append(text, m.Tokenizer.Bytes(drawn[0].Token)...)
		next = []int32{drawn[0].Token}
	}
	t.Fatal("the answer has no end")
	return ""
}

func TestStateDependsOnTheTokensAlone(t *testing.T) {
	m := scripted.Model()
	tokens := m.Tokenizer.Encode(nil, strings.Repeat("the quick brown fox and a dog 你好 ", 50))
	states := make([][]float32, 0, 3)
	logits := make([][]float32, 0, 3)
	for _, n := range []int{1, 7, 200} {
		b := scripted.New(m, scripted.Options{})
		if err := b.ZeroSlot(0); err != nil {
			t.Fatal(err)
		}
		logits = append(logits, read(t, b, tokens, n))
		state := make([]float32, m.Shape.StateLen())
		if err := b.ReadSlot(0, state); err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	if !slices.Equal(states[0], states[1]) || !slices.Equal(states[0], states[2]) || !slices.Equal(logits[0], logits[2]) {
		t.Error("chunks make a difference")
	}
	b := scripted.New(m, scripted.Options{})
	swapped := slices.Clone(tokens)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(read(t, b, swapped, 50), logits[0]) {
		t.Error("the order of tokens makes no difference")
	}
}

func TestAnswers(t *testing.T) {
	b := scripted.New(scripted.Model(), scripted.Options{Answers: []scripted.Answer{
		{Text: " I do not know."},
		{Prompt: "hi", Text: " Hello, and\n\nUser: welcome 你好!"},
		{Prompt: "say hi", Text: " Hi."},
		{Prompt: "bye", Text: ""},
	}})
	tests := []struct{ prompt, want string }{
		{"User: hi\n\nAssistant:", " Hello, and\n\nUser: welcome 你好!"},
		{"\n\nUser: say hi\n\nAssistant:", " Hi."},
		{"\n\nUser: hi then bye\n\nAssistant:", ""},
		{"\n\nUser: what?\n\nAssistant:", ""}, // "bye" is still the last that is known
	}
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		if got := answer(t, b, tt.prompt); got != tt.want {
			t.Errorf("%q is answered with %q, want %q", tt.prompt, got, tt.want)
		}
	}
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, b, "User: what?\n\nAssistant:"); got != " I do not know." {
		t.Errorf("an unknown prompt is answered with %q", got)
	}
}

func TestCallerMistakes(t *testing.T) {
	m := scripted.Model()
	b := scripted.New(m, scripted.Options{Slots: 2, MaxTokens: 4})
	tests := []struct {
		name string
		rows []infer.Row
		want string
	}{
		{"no rows", nil, "0 rows"},
		{"slot twice", []infer.Row{{Tokens: []int32{1}}, {Tokens: []int32{1}}}, "twice"},
		{"no such slot", []infer.Row{{Slot: 2, Tokens: []int32{1}}}, "slot 2 of 2"},
		{"no tokens", []infer.Row{{}}, "no tokens"},
		{"too many tokens", []infer.Row{{Tokens: make([]int32, 5)}}, "at most 4"},
		{"no such token", []infer.Row{{Tokens: []int32{-1}}}, "token -1"},
		{"short logits", []infer.Row{{Tokens: []int32{1}, Logits: make([]float32, 3)}}, "3 logits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := b.Step(tt.rows, make([]infer.Drawn, len(tt.rows)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if err := b.WriteSlot(0, make([]float32, 3)); err == nil {
		t.Error("a state of another size was taken")
	}
}

func TestFailedStepGarblesItsStates(t *testing.T) {
	m := scripted.Model()
	fail := errors.New("on purpose")
	b := scripted.New(m, scripted.Options{Before: func([]infer.Row) error { return fail }})
	state := make([]float32, m.Shape.StateLen())
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	if err := b.Step([]infer.Row{{Tokens: []int32{1}}}, make([]infer.Drawn, 1)); !errors.Is(err, fail) {
		t.Fatalf("error %v", err)
	}
	if err := b.ReadSlot(0, state); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(state, func(x float32) bool { return x != 0 }) {
		t.Error("the state survived a failed step")
	}
}

// What is read with an adapter leaves a state of its own, the same one whenever
// the adapter is loaded.
func TestAdapters(t *testing.T) {
	m := scripted.Model()
	tokens := m.Tokenizer.Encode(nil, "the quick brown fox")
	read := func(name string) []float32 {
		t.Helper()
		b := scripted.NewAdapted(m, scripted.Options{})
		row := infer.Row{Tokens: tokens, Logits: make([]float32, m.Shape.Vocab)}
		for _, other := range []string{"quill", name} {
			if other == "" {
				continue
			}
			a, err := scripted.OpenAdapter(t.Context(), "", other, adapter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if row.Adapter, err = b.LoadAdapter(a, false); err != nil {
				t.Fatal(err)
			}
		}
		if name == "" {
			row.Adapter = 0
		}
		if err := errors.Join(b.ZeroSlot(0), b.Step([]infer.Row{row}, make([]infer.Drawn, 1))); err != nil {
			t.Fatal(err)
		}
		if err := b.DropAdapter(1); err != nil {
			t.Fatal(err)
		}
		row.Adapter = 1
		if err := b.Step([]infer.Row{row}, make([]infer.Drawn, 1)); err == nil {
			t.Error("an adapter that was dropped is used")
		}
		return row.Logits
	}
	none, plume, quill := read(""), read("plume"), read("quill")
	if slices.Equal(none, plume) || slices.Equal(plume, quill) || slices.Equal(none, quill) {
		t.Error("the adapters change nothing")
	}
	if !slices.Equal(plume, read("plume")) {
		t.Error("the same adapter reads otherwise")
	}
}
