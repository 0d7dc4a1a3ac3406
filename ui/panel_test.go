package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
)

func TestPanelKeysAndFocus(t *testing.T) {
	b := newBench(t, three(), Settings{}, 140, 40)
	b.press("f4")
	b.sees("Monitor")
	b.typeText("typed")
	b.sees("› typed")
	b.press("alt+o")
	if b.m.focus != keys.Panel {
		t.Error("alt+o does not go to the panel")
	}
	b.press("esc")
	b.seesNot("Monitor")
	b.press("alt+o")
	b.sees("Sampling")
	b.press("q")
	b.seesNot("Sampling")
	b.sees("› typed")
	b.press("f3", "f4") // a monitor that takes the place of another panel
	b.typeText(" on")
	b.sees("› typed on")
}

func TestAPanelCoversANarrowScreen(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}, stats: busy()}, Settings{}, 60, 20)
	b.press("f4")
	b.seesNot("And a raven?")
	b.check()
	b.send(tea.WindowSizeMsg{Width: 160, Height: 40})
	b.sees("And a raven?")
	b.sees("Monitor")
	b.check()
	b.send(tea.WindowSizeMsg{Width: 60, Height: 20})
	b.press("esc")
	b.sees("And a raven?")
}

func TestAnOpenMonitorTicksUnlessUnfocused(t *testing.T) {
	k := &scene{open: []*sketch{talk()}}
	b := newBench(t, k, Settings{}, 140, 40)
	var every time.Duration
	b.m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if _, tick := msg.(tickMsg); tick {
			every = d
		}
		return nil
	}
	b.press("f4")
	if every != tickPanel {
		t.Errorf("ticks every %v", every)
	}
	b.send(tea.BlurMsg{})
	b.send(tickMsg{})
	if b.m.frames.ticking {
		t.Error("ticks for a window that nobody looks at")
	}
	b.send(tea.FocusMsg{})
	if !b.m.frames.ticking {
		t.Error("does not tick again")
	}
}

// Help over a panel opens at the panel's own keys, which are not in the table.
func TestHelpOverPanels(t *testing.T) {
	for key, want := range map[string]string{"f3": "Sampling", "f4": "Monitor", "f9": "Mixer", "f10": "Adapters"} {
		b := newBench(t, three(), Settings{}, 80, 24)
		b.press(key)
		if key == "f4" { // it leaves the keyboard with the prompt
			b.press("alt+o")
		}
		b.press("f1")
		if top := strings.Split(b.screen(), "\n")[2]; !strings.Contains(top, "In the panels: "+want) {
			t.Errorf("the help over the panel begins with %q", top)
		}
		b.press("esc", "esc", "f1")
		b.sees("Rookery 1.0")
	}
}

// The wheel goes through the lines of a panel.
func TestWheelOverPanels(t *testing.T) {
	b := newBench(t, three(), Settings{Mouse: true}, 80, 24)
	b.press("f3")
	p := b.m.place.panel
	for range 2 {
		b.send(tea.MouseWheelMsg{X: p.x + 5, Y: p.y + 5, Button: tea.MouseWheelUp})
	}
	b.sees("› preset")
	b.send(tea.MouseWheelMsg{X: p.x + 5, Y: p.y + 5, Button: tea.MouseWheelDown})
	b.sees("› temperature")
	b.check()
}
