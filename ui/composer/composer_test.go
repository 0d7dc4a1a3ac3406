package composer_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/ui"
	"rookery/ui/uitest"
)

// open shows an empty conversation. The history holds some prompts.
func open(t *testing.T, history ...string) *uitest.Terminal {
	t.Helper()
	w := uitest.New(t, uitest.Options{Setup: func(s *memstore.Store) {
		for _, p := range history {
			uitest.Must(t, s.AddHistory(t.Context(), p))
		}
	}})
	return uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 80, 24)
}

// prompts are what was sent in the active tab, oldest first.
func prompts(term *uitest.Terminal) []string {
	var all []string
	for _, t := range term.Model().(*ui.Model).Tab().View().Turns {
		if t.Role == turn.RoleUser {
			all = append(all, t.Text)
		}
	}
	return all
}

// checkSent fails unless one prompt was sent.
func checkSent(t *testing.T, term *uitest.Terminal, want string) {
	t.Helper()
	if got := prompts(term); len(got) != 1 || got[0] != want {
		t.Errorf("sent %.200q, want %.200q", got, want)
	}
}

func TestNewlines(t *testing.T) {
	for _, key := range []string{"shift+enter", "ctrl+j", "alt+enter"} {
		uitest.Run(t, func(t *testing.T) {
			term := open(t)
			term.Type("one")
			term.Press(key)
			term.Enter("two")
			checkSent(t, term, "one\ntwo")
			term.Sees("› Write a message")
		})
	}
}

func TestABackslashAtTheEndBreaksTheLine(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t)
		term.Enter(`one\`)
		term.Enter("two")
		checkSent(t, term, "one\ntwo")
	})
}

func TestTheCursorKnowsWideCharacters(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t)
		at := func(want int) {
			t.Helper()
			if v := term.Model().View(); v.Cursor == nil || v.Cursor.X != want {
				t.Errorf("the cursor is at %+v, want %d", v.Cursor, want)
			}
		}
		term.Type("日本語a")
		at(2 + 7)
		term.Press("left", "left")
		at(2 + 4)
	})
}

func TestLargePastesAreHeldAside(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		book := strings.Repeat("All work and no play.\r\n", 3000)
		term := open(t)
		term.Type("Sum up: ")
		term.Send(tea.PasteMsg{Content: book})
		term.Sees("Sum up: [pasted #1: 66.0 kB, 3,001 lines]")
		term.Enter(" Thanks.")
		checkSent(t, term, "Sum up: "+strings.ReplaceAll(book, "\r\n", "\n")+" Thanks.")
	})
}

func TestAHeldPasteIsRemovedAsOne(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t)
		term.Type("a ")
		term.Send(tea.PasteMsg{Content: strings.Repeat("x", 40<<10)}, tea.PasteMsg{Content: "small\rpaste"})
		term.Sees("small")
		for range len("small\npaste") {
			term.Press("backspace")
		}
		term.Sees("[pasted #1: 41.0 kB, 1 line]")
		term.Press("backspace")
		term.SeesNot("pasted")
		term.Press("enter")
		checkSent(t, term, "a")
	})
}

func TestHistory(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t, "oldest", "two\nlines")
		term.Type("draft")
		term.Press("up")
		term.Sees("  lines")
		term.Press("up", "up")
		term.Sees("› oldest")
		term.Press("up")
		term.Sees("› oldest")
		term.Press("down")
		term.Sees("› two")
		term.Press("down", "down")
		term.Sees("› draft")
		term.Press("down")
		term.Sees("› draft")
		term.Press("enter", "up")
		term.Sees("› draft")
	})
}

func TestHistorySearch(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t, "feed the rook", "count the nests", "feed the rook")
		term.Press("ctrl+r")
		term.Sees("Prompt history")
		if strings.Count(term.Screen(), "feed the rook") != 1 {
			t.Error("a prompt is listed twice")
		}
		term.Type("nst")
		term.Press("enter")
		term.Sees("› count the nests")
	})
}

func TestCompletion(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t)
		term.Type("/tem")
		term.Sees("/temp <0 or more>")
		term.Press("tab")
		term.Sees("› /temp")
		term.Enter("0.5")
		term.Sees("temperature 0.5")

		term.Type("/re")
		term.Press("down", "enter")
		term.Sees("no tab has been closed") // /reopen, which takes nothing, runs at once
		term.Type("/ret")
		term.Press("esc")
		term.SeesNot("generate another answer")
		term.Type("r")
		term.Sees("generate another answer")
		term.Press("enter")
		term.Sees("there is no turn to go on from") // /retry ran
	})
}

func TestAWrongCommandIsKeptToBePutRight(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		term := open(t)
		term.Enter("/temperature abc")
		term.Sees("› /temperature abc")
		term.Sees("is not a number")
		term.Press("backspace", "backspace", "backspace")
		term.Enter("0.7")
		term.SeesNot("is not a number")
		term.Sees("temp 0.7")
	})
}
