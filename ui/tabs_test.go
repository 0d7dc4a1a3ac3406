package ui

import (
	"io"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
)

// three is a workspace with three open conversations, the second one active.
func three() *scene {
	return &scene{open: []*sketch{newSketch(1, "One"), newSketch(2, "Two"), newSketch(3, "Three")}, active: 1}
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
		{"new beside", []string{"ctrl+t"}, []turn.ID{1, 2, 0, 3}, 2},
		{"moved", []string{"alt+shift+right"}, []turn.ID{1, 3, 2}, 2},
		{"moved too far", []string{"alt+shift+left", "alt+shift+left"}, []turn.ID{2, 1, 3}, 0},
		{"closed", []string{"alt+w"}, []turn.ID{1, 3}, 1},
		{"all closed", []string{"alt+w", "alt+w", "alt+w"}, []turn.ID{0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, three(), Settings{}, 80, 24)
			b.press(c.keys...)
			b.keeps(c.at, c.layout...)
			b.check()
		})
	}
}

func TestTabIsReopenedWhereItWas(t *testing.T) {
	k := three()
	k.open[0].say(turn.RoleUser, "hello")
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("alt+1", "alt+w")
	b.keeps(0, 2, 3)
	b.press("alt+z")
	b.keeps(0, 1, 2, 3)
	b.press("alt+z")
	b.sees("no tab has been closed; ctrl+o opens stored conversations")
}

func TestClosingARunningAnswerAsks(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.typeText("forever")
	b.press("enter", "alt+w")
	b.sees("Close the tab?")
	b.press("esc")
	if len(b.m.tabs) != 3 || !b.m.tab().generating() {
		t.Fatal("closed although the answer was no")
	}
	b.press("alt+w", "enter")
	b.keeps(1, 1, 3)
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
	b := newBench(t, three(), Settings{}, 0, 0)
	m := New(t.Context(), Options{Workspace: b.world.Workspace})
	b.begin(m, 80, 24)
	b.typeText("early")
	b.sees("Opening the conversations")
	b.press("enter")
	b.sees("still being opened")
	b.press("alt+w")
	msg := m.restore()()
	b.send(msg)
	b.sees("early")
	if len(m.tabs) != 3 {
		t.Errorf("%d tabs", len(m.tabs))
	}
}

func TestBackgroundTabs(t *testing.T) {
	b := newBench(t, three(), Settings{}, 100, 24)
	b.paint(0, running("Hm", infer.Progress{Generated: 3, Rate: 41.9}))
	b.sees("1 One ⠋ 41.9/s")
	b.send(frameMsg{})
	b.sees("1 One ●")
	b.press("alt+1")
	b.seesNot("●")
}

func TestTabsWithTheMouse(t *testing.T) {
	b := newBench(t, three(), Settings{Mouse: true}, 80, 24)
	b.send(tea.MouseClickMsg{X: 2, Y: 0, Button: tea.MouseLeft})
	if b.m.active != 0 {
		t.Errorf("a click on the first tab went to %d", b.m.active)
	}
	strip := drawTabs(b.m.tabs, b.m.active, b.m.th, "", 80)
	plus := strip.spots[len(strip.spots)-1]
	b.send(tea.MouseClickMsg{X: plus.from + 1, Y: 0, Button: tea.MouseLeft})
	if len(b.m.tabs) != 4 {
		t.Errorf("a click on + left %d tabs", len(b.m.tabs))
	}
	b.send(tea.MouseClickMsg{X: 2, Y: 0, Button: tea.MouseMiddle})
	b.keeps(0, 0, 2, 3)
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

// What was written and not sent is there again after a crash, tab by tab.
func TestDraftsSurvive(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.typeText("for two")
	b.press("alt+1")
	b.typeText("for one")
	b.press("ctrl+t")
	b.typeText("in a new chat")
	b.press("ctrl+t")
	b.typeText("sent")
	b.press("enter")
	b.rest()
	b.send(draftMsg{}) // the only moment at which anything is written
	b.until(func() bool {
		kept, err := b.world.Store.Drafts(t.Context())
		return err == nil && len(kept) == 3
	})

	again := New(t.Context(), Options{Workspace: b.world.Workspace, In: strings.NewReader(""), Out: io.Discard})
	b.begin(again, 80, 24)
	b.do(b.m.Init())
	var got []string
	for _, tab := range b.m.tabs {
		got = append(got, tab.composer.Text())
	}
	if want := []string{"for one", "in a new chat", "", "for two", ""}; !slices.Equal(got, want) {
		t.Errorf("the prompts are %q, want %q", got, want)
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
	k := &scene{}
	for i := range 8 {
		k.open = append(k.open, newSketch(turn.ID(i+1), "A title that is rather long"))
	}
	b := newBench(t, k, Settings{}, 80, 24)
	for i := range k.open {
		b.paint(i, running("Hm", infer.Progress{Generated: 3, Rate: 41.9}))
	}
	for _, label := range []string{"1 A tit… ⠋ 42/s", " 2⠋42/s 3⠋42/s", " 8⠋42/s +"} {
		b.sees(label)
	}
	b.check()
}
