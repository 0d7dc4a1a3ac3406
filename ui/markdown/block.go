package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A numbering is where a list is.
type numbering struct {
	ordered bool
	delim   byte // after the number
	next    int  // number of the next item
}

// paragraph renders the text of a paragraph. For the open leaf it notes where
// its lines begin in the source.
func (r *renderer) paragraph(n ast.Node) {
	r.flow.reset()
	r.in.write(n, baseText)
	if n == r.leaf {
		r.opener = r.in.firstOpener()
	}
	r.flow.segment()
	r.lines = r.flow.lines(r.room(), r.lines[:0])
	for _, l := range r.lines {
		r.emit(r.flow.paint(nil, l, r.pens))
		if n == r.leaf && l.from < l.to {
			r.noteStart(l)
		}
	}
}

// noteStart records a line of the open paragraph where the source could be
// cut: it begins with a letter, so that the rest cannot be taken for another
// kind of block.
func (r *renderer) noteStart(l line) {
	c := r.flow.cells[l.from]
	if c.src < 0 || !isLetter(r.flow.text[c.from:c.to]) {
		return
	}
	clean := c.kind == cellWide
	if l.from > 0 {
		prev := r.flow.cells[l.from-1].kind
		clean = clean || prev == cellSpace || prev == cellBreak
	}
	last := int(r.flow.cells[l.to-1].src)
	r.wrap = append(r.wrap, rowStart{row: len(r.out) - 1, src: int(c.src), last: last, clean: clean})
}

func (r *renderer) heading(n *ast.Heading) {
	b := []base{baseTitle, baseHeading, baseSubheading}[min(n.Level, 3)-1]
	r.flow.reset()
	if r.th.Glyphs.Marks {
		r.flow.addString(strings.Repeat("#", n.Level)+" ", r.heads)
	}
	r.in.write(n, b)
	r.flow.segment()
	r.emitFlow()
}

func (r *renderer) rule() {
	if g := r.th.Glyphs.Rule; g != "" {
		r.emit([]byte(r.paint(strings.Repeat(g, r.room()), r.pens.border)))
		return
	}
	r.emit([]byte(strings.Repeat("*", min(3, r.room()))))
}

func (r *renderer) quote(n ast.Node, c *chain) {
	f := frame{used: true}
	if g := r.th.Glyphs.Quote; g != "" {
		f.rest, f.width = r.paint(g, r.pens.quote)+" ", 2
	}
	r.push(f)
	r.children(n, c)
	r.pop()
}

func (r *renderer) list(n *ast.List, c *chain) {
	l := numbering{ordered: n.IsOrdered(), delim: n.Marker, next: n.Start}
	if c != nil {
		l.next = c.seam.ordinal
	}
	r.lists = append(r.lists, l)
	r.children(n, c)
	r.lists = r.lists[:len(r.lists)-1]
}

func (r *renderer) item(n ast.Node) {
	l := &r.lists[len(r.lists)-1]
	glyphs := r.th.Glyphs.Bullets
	mark := glyphs[(len(r.lists)-1)%len(glyphs)]
	width := 2
	if l.ordered {
		mark = strconv.Itoa(l.next) + string(l.delim)
		width = len(mark) + 1
	}
	l.next++
	r.push(frame{first: mark + " ", rest: strings.Repeat(" ", width), width: width})
	r.children(n, nil)
	r.pop()
}
