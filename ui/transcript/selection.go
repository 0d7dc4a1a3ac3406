package transcript

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

// markedText is what is marked, without gutter and trailing spaces.
func (t *Transcript) markedText() string {
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
