package ui

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorsAreShownWhole(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	text := "the configuration was not read again: " + strings.Repeat("a long path/", 8) + ": line 4: ui.thme is not a key; did you mean ui.theme?"
	b.do(b.m.fail(errors.New(text)))
	b.m.arrange()
	b.check()
	b.sees("did you mean ui.theme?  esc dismisses")
	b.press("esc")
	b.seesNot("esc dismisses")

	b = newBench(t, three(), Settings{}, 40, 10)
	b.do(b.m.fail(errors.New(text)))
	b.m.arrange()
	b.check() // a small screen keeps its one line
}

// The key that an error names dismisses it first, wherever the keyboard is; over
// a dialog it is not named.
func TestErrorsOverPanels(t *testing.T) {
	for _, key := range []string{"f3", "f9", "f10"} {
		b := newBench(t, three(), Settings{}, 80, 24)
		b.press(key)
		focus, open := b.m.focus, b.m.panel.id
		b.do(b.m.fail(errors.New("something went wrong")))
		b.sees("something went wrong  esc dismisses")
		b.press("esc")
		b.seesNot("something went wrong")
		if b.m.focus != focus || b.m.panel.id != open {
			t.Errorf("%s: the error's key went on to the panel", key)
		}
		b.press("esc")
		if b.m.focus == focus {
			t.Errorf("%s: the panel keeps the keyboard", key)
		}
	}
	b := newBench(t, three(), Settings{}, 80, 24)
	b.press("ctrl+p")
	b.do(b.m.fail(errors.New("something went wrong")))
	b.seesNot("dismisses")
}

func TestSendingDismissesAnOldError(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.do(b.m.fail(errors.New("something went wrong")))
	b.typeText("hello")
	b.sees("something went wrong")
	b.press("enter")
	b.seesNot("something went wrong")
}
