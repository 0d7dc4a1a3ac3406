package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// On the narrowest screen every dialog still says how it is left.
func TestWayOutOnANarrowScreen(t *testing.T) {
	for name, pressed := range map[string][]string{
		"palette":       {"ctrl+p"},
		"conversations": {"ctrl+o"},
		"help":          {"f1"},
		"states":        {"f8"},
		"scrubber":      {"f7"},
		"system prompt": {"alt+s"},
		"export":        {"alt+x"},
		"history":       {"ctrl+r"},
		"close":         {"alt+shift+v"},
	} {
		b := newBench(t, &scene{open: []*sketch{lecture(1)}}, Settings{}, minWidth, 12)
		b.press(pressed...)
		if len(b.m.dialogs) == 0 {
			t.Errorf("%s: no dialog", name)
			continue
		}
		if !strings.Contains(b.screen(), "esc ") {
			t.Errorf("%s does not say how it is left:\n%s", name, b.screen())
		}
		for range pressed {
			b.press("esc")
		}
		if len(b.m.dialogs) > 0 {
			t.Errorf("%s: esc does not lead back:\n%s", name, b.screen())
		}
	}
}

// A click beside a dialog closes it where nothing is lost, and nowhere else.
func TestClicksBesideDialogs(t *testing.T) {
	beside := tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft}
	for name, c := range map[string]struct {
		keys  []string
		stays bool
	}{
		"palette":       {[]string{"ctrl+p"}, false},
		"help":          {[]string{"f1"}, false},
		"system prompt": {[]string{"alt+s", "H", "i"}, true},
	} {
		b := newBench(t, &scene{open: []*sketch{lecture(1)}}, Settings{Mouse: true}, 80, 24)
		b.press(c.keys...)
		b.send(beside)
		if (len(b.m.dialogs) == 1) != c.stays {
			t.Errorf("%s: %d dialogs after a click beside it:\n%s", name, len(b.m.dialogs), b.screen())
		}
	}
}

// What is pasted into a dialog is searched for as what is typed.
func TestPasteIntoADialog(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	b.press("ctrl+f")
	b.send(tea.PasteMsg{Content: "rook"})
	if _, matches := b.m.tab().transcript.Found(); matches == 0 {
		t.Errorf("nothing is found:\n%s", b.screen())
	}
}
