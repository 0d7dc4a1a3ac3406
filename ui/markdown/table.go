package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// A grid is the content of a table: rows of cells, the first one the header.
type grid struct {
	rows   [][]ast.Node
	align  []extast.Alignment
	widths []int // natural widths of the columns
}

// columnGap is the width of what stands between columns: blank, bar, blank.
const columnGap = 3

func (r *renderer) table(n *extast.Table) {
	g := r.readTable(n)
	room := r.room() - columnGap*(len(g.widths)-1)
	if len(g.widths) == 0 {
		return
	}
	if r.th.Glyphs.Rule == "" || room < minRoom*len(g.widths) && !fits(g.widths, room) {
		r.records(g)
		return
	}
	squeeze(g.widths, room)
	for i, row := range g.rows {
		r.tableRow(g, row, i == 0)
		if i == 0 {
			r.tableRule(g)
		}
	}
}

func (r *renderer) readTable(n *extast.Table) grid {
	g := grid{align: n.Alignments}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []ast.Node
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, c)
		}
		g.rows = append(g.rows, cells)
		for i, c := range cells {
			if i == len(g.widths) {
				g.widths = append(g.widths, 1)
			}
			for _, l := range r.layCell(c, len(g.rows) == 1, 1<<30) {
				g.widths[i] = max(g.widths[i], r.flow.measure(l))
			}
		}
	}
	return g
}

// layCell breaks a cell into lines; they are valid until the next call.
func (r *renderer) layCell(n ast.Node, header bool, width int) []line {
	p := inkText
	if header {
		p |= bold
	}
	r.in.start()
	r.in.children(n, p, false)
	r.flow.segment()
	r.lines = r.flow.lines(width, r.lines[:0])
	return r.lines
}

func fits(widths []int, room int) bool {
	for _, w := range widths {
		room -= w
	}
	return room >= 0
}

// squeeze shortens the widest columns until all fit.
func squeeze(widths []int, room int) {
	for !fits(widths, room) {
		widest, second, count := 0, 1, 0
		for _, w := range widths {
			switch {
			case w > widest:
				widest, second, count = w, max(second, widest), 1
			case w == widest:
				count++
			case w > second:
				second = w
			}
		}
		excess := -room
		for _, w := range widths {
			excess += w
		}
		target := max(1, second, widest-(excess+count-1)/count)
		if target >= widest {
			return
		}
		for i, w := range widths {
			if w == widest {
				widths[i] = target
			}
		}
	}
}

// tableRow renders a row whose cells may take several lines.
func (r *renderer) tableRow(g grid, row []ast.Node, header bool) {
	height := 1
	text := make([][][]byte, len(g.widths))
	for i := range g.widths {
		if i >= len(row) {
			continue
		}
		for _, l := range r.layCell(row[i], header, g.widths[i]) {
			text[i] = append(text[i], r.pad(l, g.widths[i], g.align[i]))
		}
		height = max(height, len(text[i]))
	}
	bar := " " + r.paint(r.th.Glyphs.Vertical, inkBorder) + " "
	for y := range height {
		var out []byte
		for i, w := range g.widths {
			if i > 0 {
				out = append(out, bar...)
			}
			if y < len(text[i]) {
				out = append(out, text[i][y]...)
			} else {
				out = append(out, strings.Repeat(" ", w)...)
			}
		}
		r.emit(out)
	}
}

// pad paints a line of a cell, filled up to the width of its column.
func (r *renderer) pad(l line, width int, align extast.Alignment) []byte {
	free := max(0, width-r.flow.measure(l))
	left := 0
	switch align {
	case extast.AlignRight:
		left = free
	case extast.AlignCenter:
		left = free / 2
	}
	out := bytes.Repeat([]byte(" "), left)
	out = r.flow.paint(out, l, r.pens)
	return append(out, bytes.Repeat([]byte(" "), free-left)...)
}

func (r *renderer) tableRule(g grid) {
	rule, cross := r.th.Glyphs.Rule, r.th.Glyphs.Cross
	var b strings.Builder
	for i, w := range g.widths {
		if i > 0 {
			b.WriteString(rule + cross + rule)
		}
		b.WriteString(strings.Repeat(rule, w))
	}
	r.emit([]byte(r.paint(b.String(), inkBorder)))
}

// records renders a table that is too wide even for narrow columns, or that
// will be read aloud: each row as a list of "header: value".
func (r *renderer) records(g grid) {
	rows := g.rows[1:]
	if len(rows) == 0 {
		rows = g.rows
	}
	for i, row := range rows {
		if i > 0 {
			r.gap(len(r.frames))
		}
		for j, c := range row {
			r.in.start()
			if len(g.rows) > 1 && j < len(g.rows[0]) {
				r.in.children(g.rows[0][j], inkText|bold, false)
				r.flow.addString(": ", inkText|bold)
			}
			r.in.children(c, inkText, false)
			r.flow.segment()
			r.lines = r.flow.lines(r.room(), r.lines[:0])
			for _, l := range r.lines {
				r.emit(r.flow.paint(nil, l, r.pens))
			}
		}
	}
}
