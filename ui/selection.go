package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/theme"
)

// A selection is text marked with the mouse: from where the button went down
// to where the pointer is, in lines of the transcript and cells of the text.
// It stays until it is taken away, also when it has been copied.
type selection struct {
	active   bool
	dragging bool
	from, to point
}

type point struct{ line, cell int }

// gutterWidth is what every line of a transcript begins with.
const gutterWidth = 2

// ordered returns the ends from top to bottom.
func (s selection) ordered() (first, last point) {
	if s.to.line < s.from.line || s.to.line == s.from.line && s.to.cell < s.from.cell {
		return s.to, s.from
	}
	return s.from, s.to
}

// span is the part of a line that is marked; ok is false if none is.
func (s selection) span(line, width int) (from, to int, ok bool) {
	if !s.active {
		return 0, 0, false
	}
	first, last := s.ordered()
	if line < first.line || line > last.line {
		return 0, 0, false
	}
	from, to = 0, width
	if line == first.line {
		from = min(first.cell, width)
	}
	if line == last.line {
		to = min(last.cell+1, width)
	}
	return from, to, from < to
}

// mark draws the marked part of a line.
func (s selection) mark(line string, n int, th theme.Theme) string {
	from, to, ok := s.span(n, ansi.StringWidth(line))
	if !ok {
		return line
	}
	return lipgloss.StyleRanges(line, lipgloss.NewRange(from, to, th.Selected))
}

// pointAt is the place in the text under a cell of the pane.
func (t *transcript) pointAt(x, y int) point {
	return point{line: min(t.top()+y, max(0, t.total()-1)), cell: max(0, x-gutterWidth)}
}

// press starts a selection, and selects nothing yet.
func (t *transcript) press(x, y int) {
	p := t.pointAt(x, y)
	t.marked = selection{dragging: true, from: p, to: p}
}

// drag extends the selection; at the edges the text scrolls.
func (t *transcript) drag(x, y int) {
	if !t.marked.dragging {
		return
	}
	switch {
	case y < 0:
		t.scrollBy(-1)
	case y >= t.height:
		t.scrollBy(1)
	}
	t.marked.to = t.pointAt(x, min(max(y, 0), t.height-1))
	if t.marked.to != t.marked.from {
		t.marked.active = true
	}
}

// release ends the drag and returns the marked text.
func (t *transcript) release() string {
	t.marked.dragging = false
	return t.markedText()
}

// markedText is what is marked, without gutter and trailing spaces.
func (t *transcript) markedText() string {
	if !t.marked.active {
		return ""
	}
	first, last := t.marked.ordered()
	var lines []string
	place := t.locate(first.line)
	for n := first.line; n <= last.line && n < t.total(); n++ {
		b := t.blocks[place.block]
		plain := ansi.Strip(b.line(place.line, t.th))
		if from, to, ok := t.marked.span(n, ansi.StringWidth(plain)); ok {
			plain = ansi.Cut(plain, from, to)
		} else {
			plain = ""
		}
		lines = append(lines, strings.TrimRight(plain, " "))
		if place.line++; place.line >= b.height() {
			place = anchor{block: place.block + 1}
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
