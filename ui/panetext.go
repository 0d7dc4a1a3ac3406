package ui

import (
	"slices"
	"sort"
	"strings"

	"rookery/ui/theme"
)

// A paneText is a text that grows, broken into rows of a width. Only the last
// paragraph is broken anew when something is added.
type paneText struct {
	text   string // cleaned
	width  int
	lines  []textLine // paragraphs
	starts []int      // where they begin in text, in bytes
	rows   []paneRow
}

// A paneRow is a row of a paragraph.
type paneRow struct{ line, row int }

// A span is a range of bytes of a text; the zero one is none.
type span struct{ from, to int }

func (s span) empty() bool { return s.to <= s.from }

// set takes over a text and a width.
func (p *paneText) set(raw string, width int) {
	text := clean(raw)
	if text == p.text && width == p.width {
		return
	}
	last := len(p.starts) - 1
	if width != p.width || last < 0 || !strings.HasPrefix(text, p.text[:p.starts[last]]) {
		p.lines, p.starts, p.rows, last = nil, nil, nil, 0
	}
	from := 0
	if len(p.starts) > 0 {
		from = p.starts[last]
		p.lines, p.starts = p.lines[:last], p.starts[:last]
		for len(p.rows) > 0 && p.rows[len(p.rows)-1].line >= last {
			p.rows = p.rows[:len(p.rows)-1]
		}
	}
	p.text, p.width = text, width
	for from <= len(text) {
		rest := text[from:]
		para, _, more := strings.Cut(rest, "\n")
		line := newTextLine(para, max(1, width))
		for r := range line.rows {
			p.rows = append(p.rows, paneRow{len(p.lines), r})
		}
		p.lines, p.starts = append(p.lines, line), append(p.starts, from)
		if !more {
			return
		}
		from += len(para) + 1
	}
}

// rowOf is the row in which a byte of the text is.
func (p *paneText) rowOf(at int) int {
	begins := func(i int) int {
		r := p.rows[i]
		return p.starts[r.line] + p.lines[r.line].offset(p.lines[r.line].rows[r.row])
	}
	return max(0, sort.Search(len(p.rows), func(i int) bool { return begins(i) > at })-1)
}

// draw is rows of the text from top on. What thought covers is drawn as a
// thought, what mark covers is marked; a mark on nothing that is seen is a
// marked space.
func (p *paneText) draw(th theme.Theme, top, height int, thought, mark span) []string {
	var out []string
	for i := max(0, top); i < min(len(p.rows), top+height); i++ {
		r := p.rows[i]
		l := &p.lines[r.line]
		from := p.starts[r.line] + l.offset(l.rows[r.row])
		to := p.starts[r.line] + l.offset(l.end(r.row))
		text := strings.TrimRight(p.text[from:to], " ")
		seen := from + len(text)
		ends := []int{from, clamp(thought.to, from, seen), clamp(mark.from, from, seen), clamp(mark.to, from, seen), seen}
		line := p.pieces(th, ends, thought, mark)
		if !mark.empty() && mark.from >= seen && mark.from <= to && (mark.from < to || i+1 == len(p.rows) || p.rows[i+1].line != r.line) {
			line += strings.Repeat(" ", mark.from-seen) + th.SearchCurrent.Render(" ")
		}
		out = append(out, line)
	}
	return out
}

// pieces draws what lies between the ends, in any order of them.
func (p *paneText) pieces(th theme.Theme, ends []int, thought, mark span) string {
	slices.Sort(ends)
	line := ""
	for i := 1; i < len(ends); i++ {
		from, to := ends[i-1], ends[i]
		if from == to {
			continue
		}
		style := th.Text
		switch {
		case from >= mark.from && from < mark.to:
			style = th.SearchCurrent
		case from < thought.to:
			style = th.Thought
		}
		line += style.Render(p.text[from:to])
	}
	return line
}

func clamp(n, low, high int) int { return min(max(n, low), high) }
