package ui

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
)

func (d *fakeDialogue) EditTurn(id turn.ID, text string) error {
	return d.did("edit %d %q", id, text)
}

func (d *fakeDialogue) EditAnswer(id turn.ID, text string, goOn bool) error {
	return d.did("answer %d %q %v", id, text, goOn)
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

func TestSuspend(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.typeText("/suspend")
	b.press("enter")
	if !slices.ContainsFunc(b.raw, func(m tea.Msg) bool { _, ok := m.(tea.SuspendMsg); return ok }) {
		t.Errorf("the terminal got %v", b.raw)
	}
}
