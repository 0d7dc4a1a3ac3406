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
		"setup":         {"f12"},
		"checklist":     {"f12", "s"},
		"seeds":         {"f12", "n"},
		"system prompt": {"alt+s"},
		"export":        {"alt+x"},
		"history":       {"ctrl+r"},
		"close":         {"alt+shift+v"},
	} {
		b := newBench(t, compareDesks(), Settings{}, minWidth, 12)
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
	b := newBench(t, compareDesks(), Settings{}, minWidth, 12)
	compared(b)
	b.sees("esc leave")
	b.press("w")
	b.sees("esc close")
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
		"setup":         {[]string{"f12"}, true},
		"comparison":    {[]string{"f12", "enter"}, true},
		"system prompt": {[]string{"alt+s", "H", "i"}, true},
	} {
		b := newBench(t, compareDesks(), Settings{Mouse: true}, 80, 24)
		b.press(c.keys...)
		b.send(beside)
		if (len(b.m.dialogs) == 1) != c.stays {
			t.Errorf("%s: %d dialogs after a click beside it:\n%s", name, len(b.m.dialogs), b.screen())
		}
	}
	d := lecture(1)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{Mouse: true}, 80, 24)
	d.choice(4, true)
	b.send(frameMsg{})
	b.press("alt+shift+r")
	b.send(beside)
	b.sees("Best of 4")
}

// A table of variants that was closed is there again.
func TestSetupIsRememberedWhenClosed(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.press("f12", "esc")
	if len(b.m.compared.drafts) > 0 {
		t.Error("what nobody changed is remembered")
	}
	b.press("f12", "d", "x", "d", "r", "m", "e", "enter", "b", "esc", "f12")
	b.sees("Compare 3 variants")
	b.sees("blind: yes")
	b.sees("3 me")
}

// What is pasted into a dialog is searched for as what is typed.
func TestPasteIntoADialog(t *testing.T) {
	b := newBench(t, shelfDesk(), Settings{}, 80, 24)
	b.press("ctrl+f")
	b.send(tea.PasteMsg{Content: "rook"})
	if _, matches := b.m.tab().transcript.Found(); matches == 0 {
		t.Errorf("nothing is found:\n%s", b.screen())
	}
}

// A prompt that was written for a comparison is not lost with the setup.
func TestSetupGivesThePromptBack(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.typeText("/compare Which bird is it?")
	b.press("enter", "esc")
	if got := b.m.tab().composer.Value(); got != "Which bird is it?" {
		t.Errorf("the composer has %q", got)
	}
	b.press("f12", "w")
	b.typeText(" Say it.")
	b.press("enter", "esc")
	if got := b.m.tab().composer.Value(); got != "Which bird is it? Say it." {
		t.Errorf("after a change the composer has %q", got)
	}
}
