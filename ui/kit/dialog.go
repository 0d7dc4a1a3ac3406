package kit

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A Dialog is modal: while it is open it gets every key. A nil action means
// that it stays open and nothing is to be done.
type Dialog interface {
	// Press takes an action of the list context, or "" and typed text.
	Press(id keys.ID, text string) Action
	// Wheel scrolls by steps, down if positive, at a place inside the box.
	Wheel(by, x, y int) Action
	// Click takes a place inside the box.
	Click(x, y int) Action
	// Resize tells the size of the screen.
	Resize(width, height int)
	// Draw returns the box on a screen of the size told.
	Draw(th theme.Theme, m keys.Map) Box
}

// A Keyed dialog has keys of its own, before those of all dialogs.
type Keyed interface{ Context() keys.Context }

// A Holder is a dialog with work in it, which a slip of the hand would end: a
// click beside it does not close it.
type Holder interface{ HoldsWork() bool }

// A Looker is a dialog that follows what happens: while it is the topmost it
// looks after each look at the dialogues.
type Looker interface{ Look(h Host) tea.Cmd }

// A Helped dialog has a part of the help about it: the help opens at it.
type Helped interface{ HelpPart() string }

// Find is the open dialog of a type, the topmost of several.
func Find[D Dialog](h Host) (d D, ok bool) {
	for _, open := range slices.Backward(h.Dialogs()) {
		if d, ok = open.(D); ok {
			return d, true
		}
	}
	return d, false
}

// OnTop says that a dialog is the topmost one.
func OnTop(h Host, d Dialog) bool {
	dialogs := h.Dialogs()
	return len(dialogs) > 0 && dialogs[len(dialogs)-1] == d
}

// A Box is drawn over the screen, with its upper left corner at x and y.
type Box struct {
	Lines            []string
	X, Y             int
	CursorX, CursorY int // on the screen; negative for none
}

// Frame puts content into a border with a title and hints, in the middle of
// the screen. content lines are fit to the width.
func Frame(th theme.Theme, title string, content []string, hints string, inner, screenW, screenH int) Box {
	edge := lipgloss.RoundedBorder()
	if !th.Glyphs.Braille {
		edge = lipgloss.ASCIIBorder()
	}
	line := func(left, label, fill, right string) string {
		if label != "" {
			label = " " + Fit(label, inner-2) + " "
		}
		rest := max(0, inner+1-ansi.StringWidth(label))
		return th.BorderFocus.Render(left+fill) + label + th.BorderFocus.Render(strings.Repeat(fill, rest)+right)
	}
	side := th.BorderFocus.Render(edge.Left)
	lines := []string{line(edge.TopLeft, th.Title.Render(title), edge.Top, edge.TopRight)}
	for _, c := range content {
		lines = append(lines, side+" "+Pad(c, inner)+" "+side)
	}
	lines = append(lines, line(edge.BottomLeft, hints, edge.Bottom, edge.BottomRight))
	return Box{
		Lines: lines, CursorX: -1, CursorY: -1,
		X: max(0, (screenW-inner-4)/2), Y: max(0, (screenH-len(lines))/2),
	}
}

// WithCursor puts the cursor at a place of the content.
func (b Box) WithCursor(x, y int) Box {
	b.CursorX, b.CursorY = b.X+2+x, b.Y+1+y
	return b
}

// InnerWidth is the content width of a box that would like to be want wide.
func InnerWidth(want, screen int) int { return max(8, min(want, screen-6)) }

// HintLine joins "key what it does" pairs, as many as fit.
func HintLine(th theme.Theme, width int, pairs ...string) string {
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

// NewField prepares the text of a one-line input.
func NewField(th theme.Theme, placeholder, text string) TextArea {
	a := NewTextArea(th, placeholder)
	if text != "" {
		a.Set(text)
	}
	return a
}

// TypeInto carries out an editing key or inserts text in a field; a one-line
// field turns line ends into spaces.
func TypeInto(a *TextArea, text string, multi bool) {
	text = NormalizeLineEnds(text)
	if !multi {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	a.Insert(text)
}
