package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

func (d *fakeDialogue) Undo() error              { return d.did("undo") }
func (d *fakeDialogue) Redo() error              { return d.did("redo") }
func (d *fakeDialogue) SetHead(id turn.ID) error { return d.did("go %d", id) }

func (d *fakeDialogue) EditTurn(id turn.ID, text string) error {
	return d.did("edit %d %q", id, text)
}

func (d *fakeDialogue) EditAnswer(id turn.ID, text string, goOn bool) error {
	return d.did("answer %d %q %v", id, text, goOn)
}

func (d *fakeDialogue) Branch(id turn.ID, at int, token int32) error {
	return d.did("branch %d %d %d", id, at, token)
}

func (d *fakeDialogue) Best(n int) error { return d.did("best %d", n) }

func (d *fakeDialogue) SetLabel(id turn.ID, text string) error { return d.did("label %d %q", id, text) }
func (d *fakeDialogue) SetPinned(id turn.ID, on bool) error    { return d.did("pin %d %v", id, on) }

func (d *fakeDialogue) Tokens(turn.ID) ([]string, error) {
	return []string{" one", " two", `\n`, " three", "你"}, d.fail
}

func (d *fakeDialogue) Candidates(_ context.Context, id turn.ID, at, k int) ([]chat.Candidate, error) {
	return []chat.Candidate{
		{Token: 7, Text: fmt.Sprintf(" likely%d", at), Model: 0.5, Drawn: 0.25},
		{Token: int32(at), Text: " taken", Model: 0.25, Drawn: 0.75, Taken: true},
		{Token: 9, Text: " rare", Model: 0.00001},
	}, d.fail
}

func (k *fakeDesk) Fork(d dialogue, id turn.ID, n int) ([]dialogue, error) {
	var all []dialogue
	for i := range n {
		all = append(all, newFake(2000+id+turn.ID(i), "fork"))
	}
	return all, k.fail
}

// undone moves the last turns of a fake ahead of its head.
func (d *fakeDialogue) undone(turns int) {
	line := append(d.v.Turns[:len(d.v.Turns):len(d.v.Turns)], d.v.Ahead...)
	at := len(d.v.Turns) - turns
	d.v.Turns, d.v.Ahead = line[:at:at], line[at:]
	d.v.Version++
}

func TestWhatIsAheadIsDimBelowALine(t *testing.T) {
	for _, settings := range []Settings{{}, {Appearance: "light"}} {
		d := lecture(3)
		b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, settings, 80, 24)
		b.seesNot("ahead")
		d.undone(2)
		b.send(frameMsg{})
		b.sees("2 turns ahead, undone · ctrl+y brings it back")
		b.check()
	}
}

func TestUndoKeys(t *testing.T) {
	d := lecture(2)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	for _, key := range []string{"ctrl+z", "alt+u"} {
		b.press(key)
		b.did("undo")
	}
	for _, key := range []string{"ctrl+y", "alt+shift+u"} {
		b.press(key)
		b.did("redo")
	}
	b.press("tab", "u")
	b.did("undo")
	b.press("U")
	b.did("redo")
	b.press("esc")
	b.typeText("/undo")
	b.press("enter")
	b.did("undo")
	b.typeText("/scrub 2")
	b.press("enter")
	b.did("go 2")
	b.typeText("/scrub 0")
	b.press("enter")
	b.did("go 0")
	b.typeText("/scrub 9")
	b.press("enter")
	b.sees("write 0 for the beginning, or up to 4")
}

// The scrubber previews each stop, goes on from one, or leaves all as it was.
func TestScrubber(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d := lecture(3)
			d.v.Siblings[4] = chat.Siblings{N: 2, Of: 3}
			d.v.Turns[3].Label = "the turn"
			b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, size[0], size[1])
			b.press("f7")
			b.sees("Stop 6 of 6")
			b.sees("answer 2")
			b.press("left")
			b.check()
			b.sees("Stop 5 of 6")
			b.press("home")
			b.sees("Stop 0 of 6")
			b.sees("The beginning")
			b.press("down")
			b.sees("Stop 2 of 6")
			b.press("end", "up", "left", "left", "left", "right")
			b.sees("Stop 2 of 6")
			b.check()
			if len(d.calls) != 0 {
				t.Errorf("scrubbing did %q", d.calls)
			}
			b.press("esc")
			b.seesNot("Stop")
			b.seesNot("ahead")
			b.press("f7", "left", "left", "enter")
			b.did("go 4")
			b.check()
		})
	}
}

func TestScrubberSaysHowATurnWasMade(t *testing.T) {
	d := lecture(2)
	a := &d.v.Turns[3]
	a.Sampling.Temperature, a.Sampling.TopP, a.Sampling.Seed = 0.8, 0.9, 77
	a.Tokens, a.Base, a.Adapter, a.Label, a.Edited = make([]int32, 128), "pirate", "poet", "good one", true
	d.v.Siblings[3] = chat.Siblings{N: 2, Of: 2}
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 120, 30)
	b.press("alt+g")
	for _, text := range []string{
		"answer, edited", "“good one”", "version 2 of 2", "test-g1-20260312", "state pirate", "adapter poet",
		"temp 0.8 · top_p 0.9 · seed 77", "128 tokens", "42.7 tok/s",
	} {
		b.sees(text)
	}
	b.press("left")
	b.sees("zero state · no adapter")
	b.press("esc")
	d.generate("running", infer.Progress{Generated: 1})
	b.send(frameMsg{})
	b.press("f7")
	b.sees("stop it first")
}

// A line of any length fits the strip, which follows the stop.
func TestScrubberOfALongLine(t *testing.T) {
	d := lecture(400)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.press("f7", "home")
	b.sees("Stop 0 of 800")
	for range 41 {
		b.press("pgdown")
		b.check()
	}
	b.sees("Stop 410 of 800")
	b.sees("answer 204")
	b.send(tea.MouseWheelMsg{X: 5, Y: 22, Button: tea.MouseWheelUp})
	b.check()
}

func TestSuspend(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.typeText("/suspend")
	b.press("enter")
	if !slices.ContainsFunc(b.raw, func(m tea.Msg) bool { _, ok := m.(tea.SuspendMsg); return ok }) {
		t.Errorf("the terminal got %v", b.raw)
	}
}

// What is shown stays in view when it is undone: the head, with some of what
// is ahead of it.
func TestUndoShowsTheHead(t *testing.T) {
	d := lecture(40)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	d.undone(40)
	b.press("ctrl+z")
	b.sees("answer 19")
	b.sees("40 turns ahead")
	b.sees("question 20")
	b.seesNot("answer 39")
	b.press("ctrl+end")
	b.sees("answer 39")
	if n := strings.Count(b.screen(), "· You"); n == 0 {
		t.Errorf("nothing marks what is ahead without colours:\n%s", b.screen())
	}
}
