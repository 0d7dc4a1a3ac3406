package chat_test

import (
	"strings"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
)

// lineText is the visible line up to the head.
func lineText(v chat.View) string {
	var all []string
	for _, t := range v.Turns {
		all = append(all, t.Text)
	}
	return strings.Join(all, "|")
}

// Stepping to another version and back shows the line as it was left, and not the
// newest below.
func TestVersionsForthAndBack(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(3)})
	d := r.workspace.New()
	ask(t, d, "one")
	ask(t, d, "two")
	first := settled(t, d)
	must(t, d.EditTurn(first.Turns[2].ID, "two, otherwise"))
	settled(t, d)
	must(t, d.SwitchSibling(d.View().Turns[2].ID, -1)) // the older line is in use again
	must(t, d.RetryTurn(first.Turns[1].ID))            // another first answer
	settled(t, d)
	must(t, d.SwitchSibling(d.View().Turns[1].ID, -1))
	if got := lineText(d.View()); got != lineText(first) {
		t.Errorf("back is %q, want %q", got, lineText(first))
	}
	must(t, d.Undo())
	before := d.View()
	must(t, d.SwitchSibling(before.Turns[1].ID, 1))
	if v := d.View(); v.Stepped == 0 || v.Stepped != last(v).ID {
		t.Errorf("stepped to %d, want %d", v.Stepped, last(v).ID)
	}
	must(t, d.SwitchSibling(d.View().Stepped, -1))
	if got, want := d.View(), before; lineText(got) != lineText(want) || len(got.Ahead) != len(want.Ahead) {
		t.Errorf("back is %q and %d ahead, want %q and %d", lineText(got), len(got.Ahead), lineText(want), len(want.Ahead))
	}
}

// Retry, continue and best act on any turn that is named.
func TestActionsOnASelectedTurn(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(3)})
	d := r.workspace.New()
	ask(t, d, "one")
	v := ask(t, d, "two")
	line := v.Turns
	must(t, d.RetryTurn(line[1].ID))
	if v = settled(t, d); len(v.Turns) != 2 || v.Siblings[1] != (chat.Siblings{N: 2, Of: 2}) || last(v).Text == line[1].Text {
		t.Fatalf("the retry of the first answer: %q, %+v", lineText(v), v.Siblings)
	}
	must(t, d.ContinueTurn(line[1].ID))
	if v = settled(t, d); len(v.Turns) != 2 || !strings.HasPrefix(last(v).Text, line[1].Text) || len(last(v).Tokens) <= len(line[1].Tokens) || last(v).ID == line[1].ID {
		t.Fatalf("going on from the first answer: %q", lineText(v))
	}
	must(t, d.BestTurn(line[2].ID, 2))
	if v = finished(t, d); len(v.Alternatives) != 2 || v.Alternatives[0].Turn.Parent != line[2].ID {
		t.Fatalf("best of the second prompt: %+v", v.Alternatives)
	}
	if err := d.ContinueTurn(line[0].ID); err == nil {
		t.Error("a prompt with an answer was continued")
	}
	if err := d.RetryTurn(turn.ID(99)); err == nil {
		t.Error("a turn that is not there was retried")
	}
}

// What goes on behind a finished answer does not make one word with it.
func TestContinueGluesNoWords(t *testing.T) {
	for seed := range uint64(12) {
		settings := answersOf(4)
		settings.Sampling = seeded(2, 100+seed)
		settings.Stops = nil
		r := newRoom(t, setup{babble: true, defaults: settings})
		d := r.workspace.New()
		v := ask(t, d, "anything")
		must(t, d.EditAnswer(last(v).ID, "It is finished", false))
		before := last(settled(t, d)).Text
		must(t, d.Continue())
		after, _ := strings.CutPrefix(last(settled(t, d)).Text, before)
		if after != "" && strings.ContainsAny(after[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789(") {
			t.Errorf("seed %d: %q goes on with %q", seed, before, after)
		}
	}
}
