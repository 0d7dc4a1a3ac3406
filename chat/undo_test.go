package chat_test

import (
	"errors"
	"slices"
	"testing"

	"rookery/chat"
)

// ahead are the texts of what can be redone.
func ahead(v chat.View) []string {
	var out []string
	for _, t := range v.Ahead {
		out = append(out, t.Text)
	}
	return out
}

// shows fails unless a view has these turns up to the head, and these ahead of it.
func shows(t *testing.T, v chat.View, line, undone []string) {
	t.Helper()
	if got := texts(v); !slices.Equal(got, line) {
		t.Errorf("the line is %q, want %q", got, line)
	}
	if got := ahead(v); !slices.Equal(got, undone) {
		t.Errorf("ahead of the head is %q, want %q", got, undone)
	}
	if len(v.Siblings) != len(v.Turns)+len(v.Ahead) {
		t.Errorf("%d marks for %d turns", len(v.Siblings), len(v.Turns)+len(v.Ahead))
	}
}

const (
	helloAnswer = "Hello to you!"
	againAnswer = "Hello again."
	storyAnswer = "Once upon a time there was a rook, and it had a nest.\nThe end of it."
)

func TestUndoAndRedo(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	if err := d.Undo(); !errors.Is(err, chat.ErrNothingToUndo) {
		t.Errorf("undo in an empty conversation: %v", err)
	}
	ask(t, d, "hello")
	v := ask(t, d, "again")
	read := r.fed()
	if err := d.Redo(); !errors.Is(err, chat.ErrNothingToRedo) {
		t.Errorf("redo at the tip: %v", err)
	}
	must(t, d.Undo())
	shows(t, d.View(), []string{"hello", helloAnswer}, []string{"again", againAnswer})
	must(t, d.Undo())
	shows(t, d.View(), nil, []string{"hello", helloAnswer, "again", againAnswer})
	if err := d.Undo(); !errors.Is(err, chat.ErrNothingToUndo) {
		t.Errorf("undo at the beginning: %v", err)
	}
	must(t, d.Redo())
	shows(t, d.View(), []string{"hello", helloAnswer}, []string{"again", againAnswer})
	must(t, d.Redo())
	shows(t, d.View(), texts(v), nil)
	if got := r.fed(); got != read {
		t.Errorf("undo and redo read %d tokens", got-read)
	}
	r.checkStates(settled(t, d), 4)
}

// Sending from an earlier head grows a sibling; what was undone is another one.
func TestSendAfterUndo(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "again")
	must(t, d.Undo())
	read := r.fed()
	v := ask(t, d, "story")
	shows(t, v, []string{"hello", helloAnswer, "story", storyAnswer}, nil)
	if n := r.fed() - read; n > len(v.Turns[2].Tokens)+1 {
		t.Errorf("the new prompt has %d tokens and %d were read", len(v.Turns[2].Tokens), n)
	}
	if got := v.Siblings[2]; got != (chat.Siblings{N: 2, Of: 2}) {
		t.Errorf("the new prompt is version %+v", got)
	}
	r.checkStates(v, 4)
	must(t, d.SwitchSibling(v.Turns[2].ID, -1))
	shows(t, d.View(), []string{"hello", helloAnswer, "again", againAnswer}, nil)
}

// A version of what is ahead is chosen without moving the head.
func TestSwitchAhead(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "again")
	must(t, d.EditLast("story"))
	settled(t, d)
	must(t, d.Undo())
	v := d.View()
	shows(t, v, []string{"hello", helloAnswer}, []string{"story", storyAnswer})
	must(t, d.SwitchSibling(v.Ahead[0].ID, -1))
	shows(t, d.View(), []string{"hello", helloAnswer}, []string{"again", againAnswer})
	must(t, d.Redo())
	shows(t, d.View(), []string{"hello", helloAnswer, "again", againAnswer}, nil)
}

// After a retry undo takes the whole exchange back, and redo brings back the
// version that was shown.
func TestUndoAfterRetry(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	must(t, d.Retry())
	v := settled(t, d)
	must(t, d.Undo())
	shows(t, d.View(), nil, []string{"hello", helloAnswer})
	must(t, d.Redo())
	if got := settled(t, d); last(got).ID != last(v).ID || got.Siblings[1] != (chat.Siblings{N: 2, Of: 2}) {
		t.Errorf("redo shows version %+v", got.Siblings[1])
	}
}

func TestUndoOfAStoppedPrompt(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	r.gate.shut()
	must(t, d.Send("again"))
	if err := d.Undo(); !errors.Is(err, chat.ErrBusy) {
		t.Errorf("undo while an answer runs: %v", err)
	}
	d.Stop()
	must(t, d.Undo()) // accepted, and done when the answer has ended
	r.gate.open()
	v := until(t, d, "the undo", func(v chat.View) bool { return v.Live == nil && len(v.Ahead) > 0 })
	shows(t, v, []string{"hello", helloAnswer}, []string{"again"})
}

func TestGoTo(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	first := ask(t, d, "again")
	must(t, d.SetHead(first.Turns[2].ID))
	shows(t, d.View(), []string{"hello", helloAnswer, "again"}, []string{againAnswer})
	must(t, d.SetHead(0))
	shows(t, d.View(), nil, texts(first))
	must(t, d.SetHead(first.Turns[1].ID))
	ask(t, d, "story")
	// Elsewhere in the tree, its line becomes the visible one.
	must(t, d.SetHead(first.Turns[2].ID))
	shows(t, d.View(), []string{"hello", helloAnswer, "again"}, []string{againAnswer})
	if err := d.SetHead(12345); err == nil {
		t.Error("a turn that is not there became the head")
	}
	// A prompt at the head is answered anew beside the answer it has.
	must(t, d.Continue())
	if v := settled(t, d); v.Siblings[3] != (chat.Siblings{N: 2, Of: 2}) || len(v.Ahead) != 0 {
		t.Errorf("the new answer is version %+v before %q", v.Siblings[3], ahead(v))
	}
}

// A retry that is stopped before it said anything leaves the head and what is
// ahead of it where they were.
func TestStoppedRetryBehindTheTip(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "again")
	must(t, d.Undo())
	r.gate.shut()
	must(t, d.Retry())
	if v := d.View(); len(v.Turns) != 1 || len(v.Ahead) != 0 || v.Live == nil {
		t.Errorf("while the retry runs there are %d turns and %d ahead", len(v.Turns), len(v.Ahead))
	}
	d.Stop()
	r.gate.open()
	shows(t, settled(t, d), []string{"hello", helloAnswer}, []string{"again", againAnswer})
}

// What was undone is there after a restart, with either store.
func TestUndoIsKept(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, setup{store: open()})
			d := r.workspace.New()
			ask(t, d, "hello")
			ask(t, d, "again")
			must(t, d.Undo())
			settled(t, d)
			r.close()

			r = newRoom(t, setup{store: open()})
			d = r.workspace.Open(d.ID())
			shows(t, settled(t, d), []string{"hello", helloAnswer}, []string{"again", againAnswer})
			must(t, d.Undo())
			settled(t, d)
			r.close()

			r = newRoom(t, setup{store: open()})
			d = r.workspace.Open(d.ID())
			shows(t, settled(t, d), nil, []string{"hello", helloAnswer, "again", againAnswer})
			must(t, d.Redo())
			must(t, d.Redo())
			v := settled(t, d)
			if len(v.Turns) != 4 || r.fed() != 0 {
				t.Errorf("%d turns, %d tokens read", len(v.Turns), r.fed())
			}
			r.checkStates(v, 4)
		})
	}
}
