package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"rookery/chat"
	"rookery/infer"
)

// stopAfter sends, lets some tokens be drawn and stops.
func stopAfter(t *testing.T, r *room, d *chat.Dialogue, prompt string, tokens int) chat.View {
	t.Helper()
	r.gate.shut()
	must(t, d.Send(prompt))
	r.gate.allow(tokens)
	until(t, d, "tokens", func(v chat.View) bool { return v.Live != nil && v.Live.Progress.Generated >= tokens-1 })
	d.Stop()
	r.gate.open()
	return settled(t, d)
}

func TestStopAndContinue(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	v := stopAfter(t, r, d, "story", 9)
	part := last(v)
	whole := strings.TrimSuffix(story[1:], "\n\n")
	if !part.Open || part.Reason != infer.ReasonCancelled || part.Text == "" || part.Text == whole || !strings.HasPrefix(whole, part.Text) {
		t.Fatalf("the stopped answer is %+v", part)
	}
	r.checkStates(v, 2)
	read := r.fed()
	must(t, d.Continue())
	v = settled(t, d)
	if got := last(v); got.ID != part.ID || got.Open || got.Text != whole || got.Sampling.Seed != part.Sampling.Seed {
		t.Errorf("continued: %+v", got)
	}
	if n := r.fed() - read; n > 1 {
		t.Errorf("%d tokens were read again", n)
	}
	if s := last(v); v.Siblings[1] != (chat.Siblings{N: 1, Of: 1}) || s.Usage.Generated < len(s.Tokens) {
		t.Errorf("siblings %v, usage %+v", v.Siblings, s.Usage)
	}
	r.checkStates(v, 2)
}

// A continued answer is what it would have been without the interruption.
func TestContinueIsExact(t *testing.T) {
	defaults := chat.Defaults{Sampling: seeded(1, 7), MaxTokens: 40, Stops: []string{"@@"}}
	defaults.Sampling.Presence, defaults.Sampling.Frequency = 0.5, 0.5
	whole := newRoom(t, setup{babble: true, defaults: defaults})
	want := last(ask(t, whole.workspace.New(), "anything"))

	r := newRoom(t, setup{babble: true, defaults: defaults})
	d := r.workspace.New()
	v := stopAfter(t, r, d, "anything", 11)
	for n := len(last(v).Tokens); n < len(want.Tokens); n = len(last(v).Tokens) {
		defaults.MaxTokens = min(7, len(want.Tokens)-n)
		r.workspace.SetDefaults(defaults)
		must(t, d.Continue())
		v = settled(t, d)
	}
	if got := last(v); !slices.Equal(got.Tokens, want.Tokens) || got.Text != want.Text {
		t.Errorf("interrupted %q\nwhole       %q", got.Text, want.Text)
	}
	r.checkStates(v, 2)
}

func TestContinuePastTheStop(t *testing.T) {
	r := newRoom(t, setup{defaults: chat.Defaults{Sampling: seeded(1, 3), MaxTokens: 20}})
	d := r.workspace.New()
	before := last(ask(t, d, "hello"))
	must(t, d.Continue())
	v := settled(t, d)
	after := last(v)
	if after.ID != before.ID || len(after.Tokens) <= len(before.Tokens) || !strings.HasPrefix(after.Text, before.Text) {
		t.Fatalf("%q became %q", before.Text, after.Text)
	}
	if next := decoded(r, after.Tokens[len(before.Tokens):][:1]); strings.HasPrefix(next, "\n\n") {
		t.Errorf("it went on with %q", next)
	}
	r.checkStates(v, 2)
}

// Any turn can be the head. An answer with turns below it does not change under them.
func TestContinueAboveOtherTurns(t *testing.T) {
	ctx := context.Background()
	r := newRoom(t, setup{})
	d := r.workspace.New()
	open := last(stopAfter(t, r, d, "story", 9))
	c := ask(t, d, "hello").Conversation
	r.workspace.CloseDialogue(d)
	settled(t, d)
	c.Head = open.ID
	must(t, r.store.Store.SaveConversation(ctx, c))
	d = r.workspace.Open(d.ID())
	if v := settled(t, d); last(v).ID != open.ID {
		t.Fatalf("the line is %q", texts(v))
	}
	must(t, d.Continue())
	v := settled(t, d)
	if got := last(v); got.ID == open.ID || got.Parent != open.Parent || got.Text != strings.TrimSuffix(story[1:], "\n\n") {
		t.Errorf("continued to %+v", got)
	}
	r.checkStates(v, 2)
	must(t, d.SwitchSibling(last(v).ID, -1))
	if v = settled(t, d); v.Turns[1].Text != open.Text || len(v.Turns) != 4 {
		t.Errorf("the old line is %q", texts(v))
	}
	r.checkStates(v, 4)
}

// What is sent after Stop waits for the answer to end; nothing is lost.
func TestSendAfterStop(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	r.gate.shut()
	must(t, d.Send("story"))
	r.gate.allow(6)
	until(t, d, "text", func(v chat.View) bool { return v.Live != nil && v.Live.Text != "" })
	d.Stop()
	must(t, d.Send("hello"))
	if err := d.Send("too much"); !errors.Is(err, chat.ErrBusy) {
		t.Errorf("a second text was taken: %v", err)
	}
	r.gate.open()
	v := until(t, d, "both", func(v chat.View) bool { return len(v.Turns) == 4 && v.Live == nil && v.Saved })
	if got := texts(v); got[0] != "story" || !v.Turns[1].Open || got[2] != "hello" || got[3] != "Hello to you!" {
		t.Errorf("turns %q", got)
	}
	r.checkStates(v, 4)
}

// An answer that is stopped before it has begun leaves the line as it was.
func TestStopBeforeTheFirstToken(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	before := last(ask(t, d, "hello"))
	r.gate.shut()
	must(t, d.Retry())
	d.Stop()
	r.gate.open()
	v := settled(t, d)
	if last(v).ID != before.ID || v.Siblings[1].Of != 1 {
		t.Errorf("the line is %q, %v", texts(v), v.Siblings)
	}
	r.gate.shut()
	must(t, d.Send("again"))
	d.Stop()
	r.gate.open()
	if v = settled(t, d); last(v).Text != "again" {
		t.Fatalf("the line is %q", texts(v))
	}
	must(t, d.Continue())
	if v = settled(t, d); last(v).Text != "Hello again." {
		t.Errorf("an unanswered prompt was continued with %q", last(v).Text)
	}
	r.checkStates(v, 4)
}
