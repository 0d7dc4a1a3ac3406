package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

func TestSend(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	v := ask(t, d, "hello")
	if got, want := texts(v), []string{"hello", "Hello to you!"}; !slices.Equal(got, want) {
		t.Fatalf("turns %q, want %q", got, want)
	}
	if u := v.Turns[0]; u.Role != turn.RoleUser || decoded(r, u.Tokens) != "User: hello\n\nAssistant:" {
		t.Errorf("the prompt reads %q", decoded(r, u.Tokens))
	}
	a := v.Turns[1]
	if decoded(r, a.Tokens) != " Hello to you!" || a.Open || a.Reason != infer.ReasonStop || a.Parent != v.Turns[0].ID {
		t.Errorf("the answer is %+v", a)
	}
	if a.Model != r.engine.Model().Fingerprint || a.ModelName != "rookery-demo" || a.Sampling.Seed == 0 {
		t.Errorf("the answer lacks how it was made: %+v", a)
	}
	if v.Conversation.Head != a.ID || v.Conversation.Title != "hello" {
		t.Errorf("conversation %+v", v.Conversation)
	}
	r.checkStates(v, 2)

	read := r.fed()
	v = ask(t, d, "again")
	if got := decoded(r, v.Turns[2].Tokens); got != "\n\nUser: again\n\nAssistant:" {
		t.Errorf("the second prompt reads %q", got)
	}
	// The last token of the answer may still be pending.
	if n := r.fed() - read; n > len(v.Turns[2].Tokens)+1 {
		t.Errorf("the second prompt has %d tokens and %d were read", len(v.Turns[2].Tokens), n)
	}
	r.checkStates(v, 4)
}

func decoded(r *room, tokens []int32) string {
	return string(r.engine.Model().Tokenizer.Decode(nil, tokens))
}

func TestLiveTextGrows(t *testing.T) {
	r := newRoom(t, setup{})
	r.gate.shut()
	d := r.workspace.New()
	must(t, d.Send("hello"))
	r.gate.allow(4)
	v := until(t, d, "the first text", func(v chat.View) bool { return v.Live != nil && v.Live.Text != "" })
	first := v.Live.Text
	if len(v.Turns) != 1 || !strings.HasPrefix("Hello to you!", first) {
		t.Fatalf("live %q below %d turns", first, len(v.Turns))
	}
	id, version := v.Live.Turn.ID, v.Version
	r.gate.open()
	v = settled(t, d)
	if !strings.HasPrefix(last(v).Text, first) || last(v).ID != id || v.Version <= version {
		t.Errorf("the live answer %d %q became turn %d %q", id, first, last(v).ID, last(v).Text)
	}
}

func TestRetry(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: chat.Defaults{Sampling: seeded(1, 5), MaxTokens: 12}})
	d := r.workspace.New()
	first := last(ask(t, d, "anything"))
	read := r.fed()
	must(t, d.Retry())
	v := settled(t, d)
	second := last(v)
	if second.ID == first.ID || second.Parent != first.Parent || second.Text == first.Text {
		t.Errorf("a retry gave %+v after %+v", second, first)
	}
	if first.Sampling.Seed != 5 || second.Sampling.Seed != 6 {
		t.Errorf("seeds %d and %d", first.Sampling.Seed, second.Sampling.Seed)
	}
	if n := r.fed() - read; n != 0 {
		t.Errorf("a retry read %d tokens", n)
	}
	if v.Siblings[1] != (chat.Siblings{N: 2, Of: 2}) {
		t.Errorf("siblings %v", v.Siblings)
	}
	must(t, d.SwitchSibling(second.ID, -1))
	if v = settled(t, d); last(v).ID != first.ID || v.Siblings[1] != (chat.Siblings{N: 1, Of: 2}) {
		t.Errorf("switched to %+v, %v", last(v), v.Siblings)
	}
	must(t, d.SwitchSibling(first.ID, -1)) // there is none before
	if v = settled(t, d); last(v).ID != first.ID {
		t.Errorf("switched past the first to %+v", last(v))
	}
	r.checkStates(v, 2)
}

func TestEditLast(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "story")
	must(t, d.EditLast("again"))
	v := settled(t, d)
	if got, want := texts(v), []string{"hello", "Hello to you!", "again", "Hello again."}; !slices.Equal(got, want) {
		t.Fatalf("turns %q, want %q", got, want)
	}
	if v.Siblings[2] != (chat.Siblings{N: 2, Of: 2}) {
		t.Errorf("siblings %v", v.Siblings)
	}
	must(t, d.SwitchSibling(v.Turns[2].ID, -1))
	v = settled(t, d)
	if got := texts(v); len(got) != 4 || got[2] != "story" || !strings.HasPrefix(got[3], "Once") {
		t.Errorf("the edited turn's old line is %q", got)
	}
	must(t, d.SwitchSibling(v.Turns[2].ID, 1))
	v = settled(t, d)
	if got := texts(v); got[3] != "Hello again." {
		t.Errorf("the edited turn's new line is %q", got)
	}
	r.checkStates(v, 4)
	must(t, d.SwitchSibling(v.Turns[0].ID, 1))
	if err := d.SwitchSibling(12345, 1); err == nil {
		t.Error("a sibling of no turn was found")
	}
}

func TestEditFirst(t *testing.T) {
	r := newRoom(t, setup{defaults: chat.Defaults{System: "Be kind."}})
	d := r.workspace.New()
	ask(t, d, "hello")
	must(t, d.EditLast("again"))
	v := settled(t, d)
	if got := decoded(r, v.Turns[0].Tokens); got != "System: Be kind.\n\nUser: again\n\nAssistant:" {
		t.Errorf("the edited first prompt reads %q", got)
	}
	if v.Siblings[0] != (chat.Siblings{N: 2, Of: 2}) || v.Conversation.Title != "again" {
		t.Errorf("siblings %v, title %q", v.Siblings, v.Conversation.Title)
	}
	r.checkStates(v, 2)
}

func TestRefusals(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	for name, err := range map[string]error{"Continue": d.Continue(), "Retry": d.Retry(), "EditLast": d.EditLast("x")} {
		if !errors.Is(err, chat.ErrNothing) {
			t.Errorf("%s of an empty conversation: %v", name, err)
		}
	}
	if err := d.Send(" \n\t"); !errors.Is(err, chat.ErrEmpty) {
		t.Errorf("sending nothing: %v", err)
	}
	r.gate.shut()
	must(t, d.Send("story"))
	for name, err := range map[string]error{
		"Send": d.Send("x"), "Continue": d.Continue(), "Retry": d.Retry(), "EditLast": d.EditLast("x"),
		"SetSystem": d.SetSystem("x"), "SwitchSibling": d.SwitchSibling(d.View().Turns[0].ID, 1),
	} {
		if !errors.Is(err, chat.ErrBusy) {
			t.Errorf("%s while an answer runs: %v", name, err)
		}
	}
	if err := d.SetThink("hard"); err == nil {
		t.Error("an unknown thinking mode was taken")
	}
	p := *seeded(-1, 0)
	if err := d.SetSampling(p, ""); err == nil {
		t.Error("a negative temperature was taken")
	}
	r.gate.open()
	settled(t, d)
	r.workspace.CloseDialogue(d)
	if err := d.Send("x"); !errors.Is(err, chat.ErrClosed) {
		t.Errorf("sending to a closed conversation: %v", err)
	}
}

// Between a stopped answer and the one to what was sent meanwhile nothing is
// shown at rest: who waits for that would go on with the line of before.
func TestNoRestBetweenAnswers(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	for range 20 {
		r.gate.shut()
		must(t, d.Send("story"))
		r.gate.allow(6)
		turns := len(until(t, d, "text", func(v chat.View) bool { return v.Live != nil && v.Live.Text != "" }).Turns)
		d.Stop()
		must(t, d.Send("hello"))
		r.gate.open()
		for v := d.View(); len(v.Turns) < turns+2; v = d.View() {
			if v.Live == nil {
				t.Fatalf("nothing runs, with %d turns of %d", len(v.Turns), turns+3)
			}
		}
		settled(t, d)
	}
}

func TestEngineFailure(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	r.gate.shut()
	must(t, d.Send("story"))
	r.gate.allow(8)
	until(t, d, "text", func(v chat.View) bool { return v.Live != nil && v.Live.Text != "" })
	r.gate.failing(errors.New("the device is gone"))
	r.gate.open()
	v := settled(t, d)
	if v.Err == nil || !strings.Contains(v.Err.Error(), "the device is gone") || !last(v).Open {
		t.Fatalf("error %v, answer %+v", v.Err, last(v))
	}
	r.gate.failing(nil)
	must(t, d.Continue())
	if v = settled(t, d); v.Err != nil || last(v).Text != strings.TrimSuffix(story[1:], "\n\n") {
		t.Errorf("after the failure: %q, error %v", last(v).Text, v.Err)
	}
	r.checkStates(v, 2)
}

func TestSetSampling(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: chat.Defaults{Sampling: seeded(5, 9), MaxTokens: 30}})
	d := r.workspace.New()
	r.gate.shut()
	must(t, d.Send("anything"))
	r.gate.allow(5)
	until(t, d, "tokens", func(v chat.View) bool { return v.Live != nil && v.Live.Progress.Generated >= 3 })
	greedy := *seeded(0, 1)
	must(t, d.SetSampling(greedy, "greedy"))
	r.gate.open()
	v := settled(t, d)
	if v.Conversation.Preset != "greedy" || v.Conversation.Sampling.Temperature != 0 {
		t.Errorf("conversation %+v", v.Conversation)
	}
	if p := last(v).Sampling; p.Temperature != 0 || p.Seed != 9 {
		t.Errorf("the answer says it was drawn with %+v", p)
	}
	// From the tokens it had, a greedy answer can go on in one way only.
	must(t, d.Retry())
	v = settled(t, d)
	must(t, d.Retry())
	if a, b := last(v).Text, last(settled(t, d)).Text; a != b {
		t.Errorf("two greedy answers differ: %q, %q", a, b)
	}
}

func TestSetSystem(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "story")
	must(t, d.SetSystem("Be brief."))
	v := settled(t, d)
	if got := decoded(r, v.Turns[0].Tokens); got != "System: Be brief.\n\nUser: hello\n\nAssistant:" {
		t.Errorf("the first prompt reads %q", got)
	}
	r.checkStates(v, 0)
	read := r.fed()
	v = ask(t, d, "again")
	line := 0
	for _, tn := range v.Turns[:5] {
		line += len(tn.Tokens)
	}
	if n := r.fed() - read; n != line {
		t.Errorf("%d tokens were read for a line of %d", n, line)
	}
	r.checkStates(v, 2)
	must(t, d.SetSystem(""))
	if v = settled(t, d); decoded(r, v.Turns[0].Tokens) != "User: hello\n\nAssistant:" {
		t.Errorf("without a system prompt, the first prompt reads %q", decoded(r, v.Turns[0].Tokens))
	}
	v = ask(t, d, "hello")
	r.checkStates(v, 2)
}

func TestTitle(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	must(t, d.SetTitle(" My\nnest "))
	v := ask(t, d, "hello")
	if v.Conversation.Title != "My nest" || !v.Conversation.Named {
		t.Errorf("title %q", v.Conversation.Title)
	}
	must(t, d.SetTitle(""))
	if v = settled(t, d); v.Conversation.Title != "hello" || v.Conversation.Named {
		t.Errorf("title %q", v.Conversation.Title)
	}
}
