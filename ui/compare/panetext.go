package compare

import (
	"slices"
	"sort"
	"strings"

	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A paneText is a text that grows, broken into rows of a width. Only its last
// rows are broken anew when something is added.
type paneText struct {
	raw   string
	text  string // raw, cleaned
	width int
	lines []paneLine
	rows  []paneRow
}

// A paneLine is a paragraph, or a part of a long one that begins with a row.
type paneLine struct {
	broken kit.TextLine
	start  int  // in text, in bytes
	goes   bool // the next line goes on with the same paragraph
}

// A paneRow is a row of a line.
type paneRow struct{ line, row int }

// A span is a range of bytes of a text; the zero one is none.
type span struct{ from, to int }

func (s span) empty() bool { return s.to <= s.from }

// set takes over a text and a width.
func (p *paneText) set(raw string, width int) {
	if raw == p.raw && width == p.width && p.lines != nil {
		return
	}
	text, from := kit.Clean(raw), 0
	if width == p.width && len(p.lines) > 0 {
		from = p.cut()
	}
	if from == 0 || !strings.HasPrefix(text, p.text[:from]) {
		from, p.lines, p.rows = 0, nil, nil
	}
	p.raw, p.text, p.width = raw, text, width
	for {
		para, _, more := strings.Cut(text[from:], "\n")
		line := paneLine{kit.NewTextLine(para, max(1, width)), from, false}
		for r := range line.broken.RowCount() {
			p.rows = append(p.rows, paneRow{len(p.lines), r})
		}
		p.lines = append(p.lines, line)
		if !more {
			return
		}
		from += len(para) + 1
	}
}

// cut removes the rows that text added at the end can change: the last paragraph
// or, of a long one, its last two rows. It returns the byte where they began.
func (p *paneText) cut() int {
	const change = 2 // rows: a word that grows can go from one to the next
	last := len(p.lines) - 1
	l := &p.lines[last]
	n := l.broken.RowCount()
	keep := max(0, n-change)
	p.rows = p.rows[:len(p.rows)-n+keep]
	if keep == 0 {
		from := l.start
		p.lines = p.lines[:last]
		return from
	}
	at := l.broken.RowStart(keep)
	l.broken.KeepRows(keep)
	l.goes = true
	return l.start + at
}

// rowOf is the row in which a byte of the text is.
func (p *paneText) rowOf(at int) int {
	begins := func(i int) int {
		r := p.rows[i]
		l := &p.lines[r.line]
		return l.start + l.broken.RowStart(r.row)
	}
	return max(0, sort.Search(len(p.rows), func(i int) bool { return begins(i) > at })-1)
}

// draw draws height rows from top on. The span thought is drawn as a thought and
// mark is marked; a mark where nothing is seen is drawn as a marked space.
func (p *paneText) draw(th theme.Theme, top, height int, thought, mark span) []string {
	var out []string
	for i := max(0, top); i < min(len(p.rows), top+height); i++ {
		r := p.rows[i]
		l := &p.lines[r.line]
		from, to := l.start+l.broken.RowStart(r.row), l.start+l.broken.RowEnd(r.row)
		text := strings.TrimRight(p.text[from:to], " ")
		seen := from + len(text)
		edges := []int{from, clamp(thought.to, from, seen), clamp(mark.from, from, seen), clamp(mark.to, from, seen), seen}
		line := p.pieces(th, edges, thought, mark)
		ends := !l.goes && r.row+1 == l.broken.RowCount() // the paragraph
		if !mark.empty() && mark.from >= seen && (mark.from < to || mark.from == to && ends) {
			line += strings.Repeat(" ", mark.from-seen) + th.SearchCurrent.Render(" ")
		}
		out = append(out, line)
	}
	return out
}

// pieces draws what lies between the edges, in any order of them.
func (p *paneText) pieces(th theme.Theme, edges []int, thought, mark span) string {
	slices.Sort(edges)
	line := ""
	for i := 1; i < len(edges); i++ {
		from, to := edges[i-1], edges[i]
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
