package chat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
)

const chatML = "{{if .System}}<|im_start|>system\n{{.System}}<|im_end|>\n{{end}}" +
	"{{range .Turns}}<|im_start|>{{.Role}}\n{{.Text}}{{if not .Open}}<|im_end|>\n{{end}}{{end}}"

// spokenTo is a model with what a person says of it.
func spokenTo(t *testing.T, name string, s prompt.Spec) *infer.Model {
	t.Helper()
	must(t, s.Check())
	text, err := json.Marshal(s)
	must(t, err)
	m := modelNamed(name)
	m.Metadata = map[string]string{prompt.SpecKey: string(text)}
	return m
}

// A conversation by a template of a person's own: what is read is what the template
// writes, turn by turn, and states are as if all had been read at once.
func TestOwnTemplate(t *testing.T) {
	m := spokenTo(t, "model", prompt.Spec{Template: chatML, User: "user", Assistant: "assistant", Stops: []string{"<|im_end|>"}, Think: []turn.ThinkMode{turn.ThinkFree}})
	r := newRoom(t, setup{model: m, babble: true, defaults: chat.Defaults{System: "Be brief.", Sampling: seeded(1, 5), MaxTokens: 6}})
	d := r.workspace.New()
	ask(t, d, "one")
	must(t, d.SetThink(turn.ThinkFree))
	v := ask(t, d, "two")
	for i, want := range map[int]string{
		0: "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\n",
		2: "<|im_end|>\n<|im_start|>user\ntwo<|im_end|>\n<|im_start|>assistant\n<think",
	} {
		if got := decoded(r, v.Turns[i].Tokens); got != want {
			t.Errorf("prompt %d reads %q, want %q", i, got, want)
		}
	}
	if !strings.HasPrefix(v.Turns[3].Text, "<think") {
		t.Errorf("the answer is %q", v.Turns[3].Text)
	}
	r.checkStates(v, 4)
	must(t, d.SetSystem("Be long."))
	if got := decoded(r, settled(t, d).Turns[0].Tokens); !strings.Contains(got, "Be long.") {
		t.Errorf("with another system prompt the first turn reads %q", got)
	}
}

func TestSpecOfAModel(t *testing.T) {
	m := spokenTo(t, "whatever", prompt.Spec{Family: "g1", User: "Human", Think: []turn.ThinkMode{turn.ThinkEnglish}})
	if prompt.FamilyOf(m) != prompt.FamilyG1 || prompt.Stops(m)[0] != "\n\nHuman:" {
		t.Errorf("family %v, stops %q", prompt.FamilyOf(m), prompt.Stops(m))
	}
	req, _ := request(t, m, chat.Defaults{Think: turn.ThinkEnglish}, "q")
	if got, want := string(m.Tokenizer.Decode(nil, req.Tokens)), "Human: q (think)\n\nAssistant: <think"; got != want {
		t.Errorf("the prompt is %q, want %q", got, want)
	}
	for _, bad := range []prompt.Spec{
		{Family: "gpt"},
		{Template: "{{range"},
		{Template: "nothing of it"},
		{Template: "{{range .Turns}}{{.Nothing}}{{end}}"},
		{Stops: []string{""}},
		{Think: []turn.ThinkMode{"hard"}},
		{User: "two\nlines"},
		{Template: `{{define "x"}}` + strings.Repeat("x", 1000) + `{{template "x"}}{{end}}{{template "x"}}`},
	} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// A state can be spoken to in another way than its model.
func TestSpecOfAState(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: chat.Defaults{
		Sampling: seeded(1, 5), MaxTokens: 4, StateSpecs: map[string]prompt.Spec{"tuned": {User: "Question", Assistant: "Answer"}},
	}})
	s, err := r.workspace.Library().Bake(t.Context(), r.engine, library.Recipe{Name: "tuned", Text: "some text"}, nil)
	must(t, err)
	d, err := r.workspace.NewFrom(s)
	must(t, err)
	v := ask(t, d, "one")
	if got := decoded(r, v.Turns[0].Tokens); !strings.HasSuffix(got, "Question: one\n\nAnswer:") {
		t.Errorf("the prompt reads %q", got)
	}
}

// A thought that is longer than it may be is ended, and the answer goes on.
func TestThoughtLimit(t *testing.T) {
	r := newRoom(t, setup{model: modelNamed(g1), babble: true, defaults: chat.Defaults{
		Sampling: seeded(1, 5), MaxTokens: 30, ThoughtLimit: 5, ForceThought: true, Think: turn.ThinkFree,
	}})
	d := r.workspace.New()
	v := ask(t, d, "one")
	text := last(v).Text
	ending := decoded(r, last(v).Tokens[5:])
	if strings.Count(text, "</think>") != 1 || !strings.HasPrefix(strings.TrimLeft(ending, "\n"), "</think>\n") || strings.HasSuffix(ending, "</think>\n") {
		t.Errorf("the answer is %q, behind five tokens %q", text, ending)
	}
	if len(last(v).Tokens) > 30 {
		t.Errorf("%d tokens, with the end of the thought", len(last(v).Tokens))
	}
	r.checkStates(v, 2)
	ask(t, d, "two")
}
