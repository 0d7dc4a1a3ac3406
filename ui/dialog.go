package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A dialog is modal: while it is open it gets every key. A nil intent means
// that it stays open and nothing is to be done.
type dialog interface {
	// press takes an action of the list context, or "" and typed text.
	press(id keys.ID, text string) intent
	// wheel scrolls.
	wheel(by int) intent
	// click takes a place inside the box.
	click(x, y int) intent
	// resize tells the size of the screen.
	resize(width, height int)
	// draw returns the box on a screen of the size told.
	draw(th theme.Theme, m keys.Map) box
}

// A placed dialog has keys of its own, before those of all dialogs.
type placed interface{ context() keys.Context }

// A box is drawn over the screen, with its upper left corner at x and y.
type box struct {
	lines            []string
	x, y             int
	cursorX, cursorY int // on the screen; negative for none
}

// framed puts content into a border with a title and hints, in the middle of
// the screen. content lines are fit to the width.
func framed(th theme.Theme, title string, content []string, hints string, inner, screenW, screenH int) box {
	edge := lipgloss.RoundedBorder()
	if !th.Glyphs.Braille {
		edge = lipgloss.ASCIIBorder()
	}
	line := func(left, label, fill, right string) string {
		if label != "" {
			label = " " + fit(label, inner-2) + " "
		}
		rest := max(0, inner+1-ansi.StringWidth(label))
		return th.BorderFocus.Render(left+fill) + label + th.BorderFocus.Render(strings.Repeat(fill, rest)+right)
	}
	side := th.BorderFocus.Render(edge.Left)
	lines := []string{line(edge.TopLeft, th.Title.Render(title), edge.Top, edge.TopRight)}
	for _, c := range content {
		lines = append(lines, side+" "+pad(c, inner)+" "+side)
	}
	lines = append(lines, line(edge.BottomLeft, hints, edge.Bottom, edge.BottomRight))
	return box{
		lines: lines, cursorX: -1, cursorY: -1,
		x: max(0, (screenW-inner-4)/2), y: max(0, (screenH-len(lines))/2),
	}
}

// withCursor puts the cursor at a place of the content.
func (b box) withCursor(x, y int) box {
	b.cursorX, b.cursorY = b.x+2+x, b.y+1+y
	return b
}

// innerWidth is the content width of a box that would like to be want wide.
func innerWidth(want, screen int) int { return max(8, min(want, screen-6)) }

// hintLine joins "key what it does" pairs, as many as fit.
func hintLine(th theme.Theme, width int, pairs ...string) string {
	line, used := "", 0
	for i := 0; i+1 < len(pairs); i += 2 {
		key, what := pairs[i], pairs[i+1]
		if key == "" {
			continue
		}
		w := ansi.StringWidth(key) + 1 + ansi.StringWidth(what)
		if used > 0 {
			w += 3
		}
		if used+w > width {
			break
		}
		if used > 0 {
			line += th.Muted.Render(" · ")
		}
		line += th.Key.Render(key) + " " + th.Muted.Render(what)
		used += w
	}
	return line
}

// field prepares the text of a one-line input.
func field(th theme.Theme, placeholder, text string) area {
	a := newArea(th, placeholder)
	if text != "" {
		a.set(text)
	}
	return a
}

// typed carries out an editing key or inserts text in a field; a one-line
// field turns line ends into spaces.
func typed(a *area, text string, multi bool) {
	text = normalizePaste(text)
	if !multi {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	a.insert(text)
}
