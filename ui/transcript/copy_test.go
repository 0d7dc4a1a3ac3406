package transcript_test

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/infer/scripted"
	"rookery/ui"
	"rookery/ui/uitest"
)

// A reader is a program with a conversation and a clipboard.
type reader struct {
	*uitest.Terminal
	copied string
	broken bool // there is no clipboard
}

func open(t *testing.T, prompts ...string) *reader {
	t.Helper()
	w := uitest.New(t, uitest.Options{Answers: []scripted.Answer{
		{Prompt: "code", Text: " See:\n```go\nfirst()\n```\n```\nsecond()\n```\n\n"},
	}})
	if len(prompts) > 0 {
		w.Converse("One", prompts...)
	}
	r := &reader{}
	r.Terminal = uitest.Open(t, ui.New(t.Context(), ui.Options{
		Workspace: w.Workspace, Settings: ui.Settings{Mouse: true}, Clipboard: func(text string) error {
			if r.broken {
				return errors.New("no xclip")
			}
			r.copied = strings.TrimSpace(text)
			return nil
		},
	}), 100, 24)
	return r
}

func (r *reader) check(t *testing.T, want string) {
	t.Helper()
	if r.copied != want {
		t.Errorf("copied %q, want %q", r.copied, want)
	}
	r.copied = ""
}

func TestCopying(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		r := open(t, "Show me code.")
		r.Press("alt+y")
		r.check(t, "See:\n```go\nfirst()\n```\n```\nsecond()\n```")
		r.Sees("the answer: sent to the terminal (OSC 52) and the system clipboard")
		r.Press("tab", "up", "y")
		r.check(t, "Show me code.")
		r.Press("down", "Y")
		r.check(t, "second()")
		r.Press("tab")
		r.Enter("/copy code 1")
		r.check(t, "first()")
		r.Enter("/copy code 3")
		r.Sees("this message has code blocks 1 to 2")
		r.broken = true
		r.Press("ctrl+u", "alt+y")
		r.Sees("sent to the terminal (OSC 52); no system clipboard was found")
	})
}

func TestNothingToCopy(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		r := open(t)
		r.Press("alt+y")
		r.Sees("there is nothing to copy yet")
		r.Enter("/copy that")
		r.Sees("write /copy, /copy code or /copy code 2")
	})
}

func TestCopyingWithTheMouse(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		r := open(t, "Is it a rook?")
		y := r.Row("Is it a rook?")
		r.Send(
			tea.MouseClickMsg{X: 2 + 8, Y: y, Button: tea.MouseLeft}, tea.MouseMotionMsg{X: 2 + 11, Y: y, Button: tea.MouseLeft},
			tea.MouseReleaseMsg{X: 2 + 11, Y: y, Button: tea.MouseLeft},
		)
		r.check(t, "rook")
		r.Press("ctrl+c")
		r.check(t, "rook")
		r.Press("esc", "ctrl+c")
		r.check(t, "")
		r.Sees("again to quit")
	})
}

func TestSearchLine(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		r := open(t, "a rook", "another rook")
		r.Press("ctrl+f")
		r.Type("ANOTHER")
		r.Sees("find: ANOTHER", "1 of 1")
		r.Press("enter", "esc")
		r.SeesNot("1 of 1")
		r.Press("ctrl+f")
		r.Type("nowhere")
		r.Sees("no match")
		r.Press("esc")
		r.SeesNot("find:")
	})
}
