package ui

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestWhatIsAheadIsDimBelowALine(t *testing.T) {
	for _, settings := range []Settings{{}, {Appearance: "light"}} {
		d := lecture(3)
		b := newBench(t, &scene{open: []*sketch{d}}, settings, 80, 24)
		b.seesNot("ahead")
		b.press("ctrl+z")
		b.sees("2 turns ahead, undone · ctrl+y brings it back")
		b.check()
	}
}

func TestSuspend(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.m.jobControl = func() bool { return true }
	b.typeText("/suspend")
	b.press("enter")
	b.m.Update(tea.ResumeMsg{})
	if !slices.ContainsFunc(b.raw, func(m tea.Msg) bool { _, ok := m.(tea.SuspendMsg); return ok }) {
		t.Errorf("the terminal got %v", b.raw)
	}
	b.m.jobControl = func() bool { return false }
	before := len(b.raw)
	b.typeText("/suspend")
	b.press("enter")
	b.sees("there is no shell with job control")
	if len(b.raw) != before {
		t.Errorf("the terminal got %v", b.raw[before:])
	}
}
