package ui

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
)

// three is a workspace with three open conversations, the second one active.
func three() *fakeDesk {
	return &fakeDesk{open: []*fakeDialogue{newFake(1, "One"), newFake(2, "Two"), newFake(3, "Three")}, active: 1}
}

func TestTabs(t *testing.T) {
	for _, c := range []struct {
		name   string
		keys   []string
		layout []turn.ID
		at     int
	}{
		{"by number", []string{"alt+3"}, []turn.ID{1, 2, 3}, 2},
		{"the last one", []string{"alt+9"}, []turn.ID{1, 2, 3}, 2},
		{"no such number", []string{"alt+1", "alt+7"}, []turn.ID{1, 2, 3}, 0},
		{"next", []string{"ctrl+pgdown"}, []turn.ID{1, 2, 3}, 2},
		{"around", []string{"ctrl+tab", "ctrl+tab"}, []turn.ID{1, 2, 3}, 0},
		{"previous", []string{"ctrl+pgup"}, []turn.ID{1, 2, 3}, 0},
		{"new beside", []string{"ctrl+t"}, []turn.ID{1, 2, 1001, 3}, 2},
		{"moved", []string{"alt+shift+right"}, []turn.ID{1, 3, 2}, 2},
		{"moved too far", []string{"alt+shift+left", "alt+shift+left"}, []turn.ID{2, 1, 3}, 0},
		{"closed", []string{"alt+w"}, []turn.ID{1, 3}, 1},
		{"all closed", []string{"alt+w", "alt+w", "alt+w"}, []turn.ID{1001}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := three()
			b := newBench(t, k, Settings{}, 80, 24)
			b.press(c.keys...)
			if !slices.Equal(k.layout, c.layout) || k.at != c.at {
				t.Errorf("layout %v at %d, want %v at %d", k.layout, k.at, c.layout, c.at)
			}
			b.check()
		})
	}
}

func TestTabIsReopenedWhereItWas(t *testing.T) {
	k := three()
	k.open[0].say(turn.RoleUser, "hello")
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("alt+1", "alt+w", "alt+z")
	if !slices.Equal(k.layout, []turn.ID{1, 2, 3}) || k.at != 0 {
		t.Errorf("layout %v at %d", k.layout, k.at)
	}
	if !slices.Equal(k.shut, []turn.ID{1}) {
		t.Errorf("shut %v", k.shut)
	}
	b.press("alt+z")
	b.sees("no tab has been closed; ctrl+o opens stored conversations")
}

func TestClosingARunningAnswerAsks(t *testing.T) {
	k := three()
	k.open[1].generate("Hm", infer.Progress{})
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("alt+w")
	b.sees("Close the tab?")
	b.press("esc")
	if len(k.shut) != 0 {
		t.Fatal("closed although the answer was no")
	}
	b.press("alt+w", "enter")
	if !slices.Equal(k.shut, []turn.ID{2}) {
		t.Errorf("shut %v", k.shut)
	}
}

func TestDraftsAndFocusStayWithTheTab(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.typeText("for two")
	b.press("alt+1")
	b.seesNot("for two")
	b.typeText("for one")
	b.press("alt+2")
	b.sees("for two")
	b.seesNot("for one")
}

func TestWhatIsTypedWhileOpeningIsKept(t *testing.T) {
	k := three()
	b := newBench(t, k, Settings{}, 0, 0)
	m := newModel(t.Context(), k, Options{})
	b.m = m
	b.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	b.typeText("early")
	b.sees("Opening the conversations")
	b.press("enter")
	b.sees("still being opened")
	b.press("alt+w")
	msg := m.restore()()
	b.send(msg)
	b.sees("early")
	if !slices.Equal(k.shut, nil) || len(m.tabs) != 3 {
		t.Errorf("shut %v, %d tabs", k.shut, len(m.tabs))
	}
}

func TestBackgroundTabs(t *testing.T) {
	k := three()
	b := newBench(t, k, Settings{}, 100, 24)
	k.open[0].generate("Hm", infer.Progress{Generated: 3, Rate: 41.9})
	b.send(frameMsg{})
	b.sees("1 One ⠋ 41.9/s")
	k.open[0].end()
	b.send(frameMsg{})
	b.sees("1 One ●")
	b.press("alt+1")
	b.seesNot("●")
	b.sees("Hm")
}

func TestTabsWithTheMouse(t *testing.T) {
	k := three()
	b := newBench(t, k, Settings{Mouse: true}, 80, 24)
	b.send(tea.MouseClickMsg{X: 2, Y: 0, Button: tea.MouseLeft})
	if k.at != 0 {
		t.Errorf("a click on the first tab went to %d", k.at)
	}
	strip := drawTabs(b.m.tabs, b.m.active, b.m.th, "", 80)
	plus := strip.spots[len(strip.spots)-1]
	b.send(tea.MouseClickMsg{X: plus.from + 1, Y: 0, Button: tea.MouseLeft})
	if len(b.m.tabs) != 4 {
		t.Errorf("a click on + left %d tabs", len(b.m.tabs))
	}
	b.send(tea.MouseClickMsg{X: 2, Y: 0, Button: tea.MouseMiddle})
	if !slices.Equal(k.shut, []turn.ID{1}) {
		t.Errorf("the middle button shut %v", k.shut)
	}
}

func TestAClosedTabComesBackWithWhatWasWritten(t *testing.T) {
	k := three()
	k.open[0].say(turn.RoleUser, "hello")
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("alt+1")
	b.typeText("not sent yet")
	b.press("alt+w")
	b.seesNot("not sent yet")
	b.press("alt+z")
	b.sees("› not sent yet")

	b.press("ctrl+t")
	b.typeText("in a new chat")
	b.press("alt+w", "alt+z")
	b.sees("› in a new chat")
}

func TestDraftsGoToTheHistoryAtTheEnd(t *testing.T) {
	k := three()
	b := newBench(t, k, Settings{}, 80, 24)
	b.typeText("for two")
	b.press("alt+1")
	b.m.keepDrafts()
	if !slices.Equal(k.remembered, []string{"for two"}) {
		t.Errorf("remembered %q", k.remembered)
	}
}

func TestAPromptWithoutAnAnswerSaysHowToGetOne(t *testing.T) {
	k := three()
	k.open[1].say(turn.RoleUser, "stopped while it was read")
	b := newBench(t, k, Settings{}, 80, 24)
	b.sees("f6 answer the prompt")
}

func TestALongTitleIsSeenWhole(t *testing.T) {
	b := newBench(t, three(), Settings{}, 40, 12)
	b.press("f2", "ctrl+u")
	b.typeText("A title that is longer than the field is wide")
	b.sees("A title that is longer than")
	b.sees("field is wide")
	b.check()
}

// What every tab does is seen from any other, also of many on a small screen.
func TestManyTabsAtOnce(t *testing.T) {
	k := &fakeDesk{}
	for i := range 8 {
		d := newFake(turn.ID(i+1), "A title that is rather long")
		d.generate("Hm", infer.Progress{Generated: 3, Rate: 41.9})
		k.open = append(k.open, d)
	}
	b := newBench(t, k, Settings{}, 80, 24)
	for _, label := range []string{"1 A tit… ⠋ 42/s", " 2⠋42/s 3⠋42/s", " 8⠋42/s +"} {
		b.sees(label)
	}
	b.check()
}
