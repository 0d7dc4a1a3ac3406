package chat_test

import (
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer/scripted"
)

// thinker answers after a thought, if the prompt asks for one.
var thinker = []scripted.Answer{
	{Prompt: "User: one\n\n", Text: " <think>I count.\n\nSlowly.</think>\nOne.\n\nTwo.\n\nUser: x"},
	{Prompt: "User: two\n\n", Text: " Two.\n\nUser: x"},
}

const g1 = "rwkv7-g1e-2.9b-20260312-ctx8192"

func TestThoughtsAreForgotten(t *testing.T) {
	r := newRoom(t, setup{model: modelNamed(g1), answers: thinker})
	d := r.workspace.New()
	must(t, d.SetThink(turn.ThinkFree))
	v := ask(t, d, "one")
	if got := decoded(r, v.Turns[0].Tokens); got != "User: one\n\nAssistant: <think" {
		t.Errorf("the prompt reads %q", got)
	}
	if got, want := v.Turns[1].Text, "<think>I count.\n\nSlowly.</think>\nOne.\n\nTwo."; got != want {
		t.Errorf("the answer is %q, want %q", got, want)
	}
	if got, want := decoded(r, v.Turns[1].Recall), ">\n</think>\nOne.\nTwo."; got != want {
		t.Errorf("later turns read %q, want %q", got, want)
	}
	must(t, d.SetThink(turn.ThinkOff))
	read := r.fed()
	v = ask(t, d, "two")
	if n, most := r.fed()-read, len(v.Turns[1].Recall)+len(v.Turns[2].Tokens); n != most {
		t.Errorf("%d tokens were read, want %d", n, most)
	}
	r.checkStates(v, 4)
	must(t, d.Retry())
	r.checkStates(settled(t, d), 4)
	if got := decoded(r, v.Turns[2].Tokens); got != "\n\nUser: two\n\nAssistant:" {
		t.Errorf("the second prompt reads %q", got)
	}
}

func TestThoughtsAreKept(t *testing.T) {
	r := newRoom(t, setup{
		model: modelNamed(g1), answers: thinker, defaults: chat.Defaults{KeepThoughts: true, Think: turn.ThinkFree},
	})
	d := r.workspace.New()
	ask(t, d, "one")
	v := ask(t, d, "two")
	if v.Turns[1].Recall != nil {
		t.Errorf("later turns read %q", decoded(r, v.Turns[1].Recall))
	}
	r.checkStates(v, 4)
}

// A retry knows the header that its prompt gave, also after a restart.
func TestRetryWithHeader(t *testing.T) {
	r := newRoom(t, setup{model: modelNamed(g1), answers: thinker})
	d := r.workspace.New()
	must(t, d.SetThink(turn.ThinkFree))
	want := last(ask(t, d, "one")).Text
	must(t, d.SetThink(turn.ThinkOff))
	r.workspace.CloseDialogue(d)
	d = r.workspace.Open(d.ID())
	settled(t, d)
	must(t, d.Retry())
	if got := last(settled(t, d)).Text; got != want {
		t.Errorf("the retry gave %q, want %q", got, want)
	}
}

func TestThinkPrompts(t *testing.T) {
	for _, c := range []struct {
		model string
		mode  turn.ThinkMode
		want  string
	}{
		{g1, turn.ThinkOff, "User: q\n\nAssistant:"},
		{g1, turn.ThinkFast, "User: q\n\nAssistant: <think>\n</think"},
		{g1, turn.ThinkFree, "User: q\n\nAssistant: <think"},
		{g1, turn.ThinkShort, "User: q (think a bit)\n\nAssistant: <think"},
		{g1, turn.ThinkLong, "User: q (think a lot)\n\nAssistant: <think"},
		{g1, turn.ThinkChinese, "User: q\n\nAssistant: <think>嗯"},
		{"rwkv7-g1-0.4b-20250324", turn.ThinkFast, "User: q\n\nAssistant: <think>\n</think>"},
		{"rwkv7-g1-0.4b-20250324", turn.ThinkLong, "User: q\n\nAssistant: <think"},
		{"rookery-demo", turn.ThinkLong, "User: q\n\nAssistant:"},
	} {
		m := modelNamed(c.model)
		req, header := request(t, m, chat.Defaults{Think: c.mode}, "q")
		got := string(m.Tokenizer.Decode(nil, req.Tokens))
		if got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.model, c.mode, got, c.want)
		}
		if !strings.HasSuffix(got, ":"+header) {
			t.Errorf("%s, %s: the header %q is not the end of %q", c.model, c.mode, header, got)
		}
	}
}
