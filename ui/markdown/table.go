package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// A grid is the content of a table: rows of cells, the first one the header.
type grid struct {
	rows   [][]flow
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
		r.tableRow(g, row)
		if i == 0 {
			r.tableRule(g)
		}
	}
}

func (r *renderer) readTable(n *extast.Table) grid {
	g := grid{align: n.Alignments}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		b := baseText
		if g.rows == nil {
			b = baseColumn
		}
		var cells []flow
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.cell(c, b))
		}
		g.rows = append(g.rows, cells)
		for i, c := range cells {
			if i == len(g.widths) {
				g.widths = append(g.widths, 1)
			}
			for _, l := range c.lines(1<<30, nil) {
				g.widths[i] = max(g.widths[i], c.measure(l))
			}
		}
	}
	return g
}

// maxCells bounds the cells that are remembered.
const maxCells = 2000

// A cellKey is what the text of a cell depends on, but for links.
type cellKey struct {
	base   base
	source string
}

// cell is the text of a cell. It is remembered, because an open table is laid
// out anew with every piece of text.
func (r *renderer) cell(n ast.Node, b base) flow {
	key := cellKey{b, string(n.Lines().Value(r.src))}
	if c, ok := r.cells[key]; ok {
		return c
	}
	r.flow.reset()
	r.in.write(n, b)
	r.flow.segment()
	c := r.flow
	r.flow = flow{}
	if strings.Contains(key.source, "[") {
		return c // what it leads to may change
	}
	if r.cells == nil || len(r.cells) >= maxCells {
		r.cells = map[cellKey]flow{}
	}
	r.cells[key] = c
	return c
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
func (r *renderer) tableRow(g grid, row []flow) {
	height := 1
	text := make([][][]byte, len(g.widths))
	for i := range g.widths {
		if i >= len(row) {
			continue
		}
		for _, l := range row[i].lines(g.widths[i], nil) {
			text[i] = append(text[i], r.pad(&row[i], l, g.widths[i], g.align[i]))
		}
		height = max(height, len(text[i]))
	}
	bar := " " + r.paint(r.th.Glyphs.Vertical, r.pens.border) + " "
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
func (r *renderer) pad(c *flow, l line, width int, align extast.Alignment) []byte {
	free := max(0, width-c.measure(l))
	left := 0
	switch align {
	case extast.AlignRight:
		left = free
	case extast.AlignCenter:
		left = free / 2
	}
	out := bytes.Repeat([]byte(" "), left)
	out = c.paint(out, l, r.pens)
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
	r.emit([]byte(r.paint(b.String(), r.pens.border)))
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
			r.flow.reset()
			if len(g.rows) > 1 && j < len(g.rows[0]) {
				head := r.pens.ofStyle(r.th.Text.Bold(true))
				r.flow.addFlow(&g.rows[0][j])
				r.flow.addString(": ", head)
			}
			r.flow.addFlow(&c)
			r.flow.segment()
			r.emitFlow()
		}
	}
}
