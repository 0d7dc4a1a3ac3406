package transcript

import (
	"slices"
	"strings"
	"testing"

	"rookery/chat/turn"
	"rookery/ui/theme"
)

// brokenLines are lines that cannot be had.
type brokenLines struct{ len int }

func (l brokenLines) Len() int {
	if l.len == 0 {
		panic("no length")
	}
	return l.len
}

func (brokenLines) Line(int) string { panic("no line") }

// A message that cannot be rendered is shown as plain text, and the others as
// they are.
func TestAMessageThatCannotBeRendered(t *testing.T) {
	p := newPane(t, 40, 20)
	p.markdown = func(text string, th theme.Theme, width int) []string {
		if strings.Contains(text, "broken") {
			panic("no rendering")
		}
		return []string{"rendered"}
	}
	p.say(turn.RoleAssistant, "fine")
	p.say(turn.RoleAssistant, "**broken** text")
	p.look()
	p.sees("rendered")
	p.sees("**broken** text")
	p.sees("42.3 tok/s") // its figures stay
}

func TestAMessageThatCannotBeDrawn(t *testing.T) {
	for _, body := range []brokenLines{{0}, {3}} {
		p := lecture(t, 2)
		p.generate("A *running* answer\nof two lines", 9)
		p.blocks[1].body, p.blocks[4].body = body, body
		p.search("answer")
		p.sees("answer 0, in **bold**")
		p.sees("answer 1, in bold")
		p.sees("A *running* answer")
		p.Animate("x")
		p.generate("A *running* answer\nof two lines and more", 10)
		p.sees("A *running* answer")
		p.sees("of two lines and more")
		p.SetSize(30, 20, 20)
		p.end()
		p.sees("of two lines and more")
	}
}

func TestPlainLines(t *testing.T) {
	got := plainLines("one two\n\n日本語\x1b", 4)
	if want := []string{"one ", "two", "", "日本", "語"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
