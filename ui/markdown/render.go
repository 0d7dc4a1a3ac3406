package markdown

import (
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"

	"rookery/ui/markdown/syntax"
	"rookery/ui/terminal"
	"rookery/ui/theme"
)

// Render renders a whole text to lines of at most width cells. It is safe for
// concurrent use.
func Render(text string, th theme.Theme, width int) []string {
	c := terminal.Cleaner{Show: true}
	src := c.Flush(c.Append(nil, text))
	r := newRenderer(th, width)
	r.exact = true
	doc := parse(src, nil)
	r.document(doc, src, seam{}, nil)
	return r.out
}

// A renderer turns blocks into lines. It is not safe for concurrent use.
type renderer struct {
	th    theme.Theme
	pens  *penCase
	width int

	src    []byte
	in     inliner
	flow   flow
	lines  []line // scratch
	buf    []byte // scratch
	heads  pen    // of the marks of headings, where they are kept
	frames []frame

	out  []string
	defs []parser.Reference

	exact   bool                 // code is coloured in its context, whatever that takes
	colours map[coloured]colours // of lines that were

	cells map[cellKey]flow // of tables
	lists []numbering

	began    bool // lines were rendered, here or before the seam
	wantGap  bool // a blank line comes before the next line,
	gapDepth int  // inside this many frames

	leaf   ast.Node   // what may still change; nil if nothing
	cut    cut        // where it begins
	wrap   []rowStart // its lines, if it is a paragraph,
	opener int        // and the first mark in it that may still pair up
}

// A frame is the mark of a container in front of its lines.
type frame struct {
	first, rest string // of the first line, of the others; painted
	width       int
	used        bool // the first line is out
}

// A seam is how the rest of a document follows what was rendered before it.
type seam struct {
	depth   int  // containers that go on: quotations and lists
	gap     bool // a blank line comes first, whatever comes,
	frames  int  // inside this many frames
	prev    bool // the block that comes is not the first in its container
	began   bool // lines come before
	ordinal int  // number of the next item, where an ordered list goes on
}

// A cut is where the open leaf begins in what was rendered.
type cut struct {
	seam seam
	rows int // lines in front of it
	defs int // link definitions in front of it
}

// A rowStart says where in the source a line of the open paragraph begins.
type rowStart struct {
	row, src int
	last     int  // where its last character is, or -1
	clean    bool // it begins with a word
}

func newRenderer(th theme.Theme, width int) *renderer {
	r := &renderer{th: th, pens: newPenCase(th), width: max(1, width)}
	r.heads = r.pens.ofStyle(th.Heading)
	r.in = inliner{flow: &r.flow, pens: r.pens, set: newTypesetter(th), marks: th.Glyphs.Marks, formulas: th.Glyphs.Formulas}
	return r
}

// document renders a syntax tree of src into out and defs. If leaf is
// not nil, cut says where it begins.
func (r *renderer) document(doc ast.Node, src []byte, s seam, leaf ast.Node) {
	r.src, r.in.src = src, src
	r.out, r.defs = nil, nil
	r.frames, r.wrap = r.frames[:0], r.wrap[:0]
	r.began, r.wantGap, r.gapDepth = s.began, false, 0
	r.leaf, r.cut = leaf, cut{}
	r.children(doc, &chain{seam: s, left: s.depth})
}

// A chain leads through the containers that go on from before a seam, down to
// the first block that is new.
type chain struct {
	seam seam
	left int // containers still to pass
}

// children renders the blocks in a container. The chain is nil in containers
// that begin here.
func (r *renderer) children(parent ast.Node, c *chain) {
	var prev ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		follows := prev != nil
		switch {
		case follows:
			if n.HasBlankPreviousLines() || spaced(prev) {
				r.gap(len(r.frames))
			}
		case c != nil && c.left == 0:
			follows = c.seam.prev
			if c.seam.gap {
				r.wantGap, r.gapDepth = true, c.seam.frames
			}
		}
		if n == r.leaf {
			r.cut = r.here(n, follows)
		}
		// The leaf may yet become another kind of block, so this is not part of
		// the cut.
		if follows && spaced(n) {
			r.gap(len(r.frames))
		}
		if prev == nil && c != nil && c.left > 0 {
			c.left--
			r.block(n, c)
		} else {
			r.block(n, nil)
		}
		prev = n
		if n.Kind() == ast.KindLinkReferenceDefinition {
			r.gap(len(r.frames))
		}
	}
}

// here is the cut in front of n, which is about to be rendered.
func (r *renderer) here(n ast.Node, follows bool) cut {
	c := cut{rows: len(r.out), defs: len(r.defs)}
	c.seam = seam{gap: r.wantGap, frames: r.gapDepth, prev: follows, began: r.began}
	for p := n.Parent(); p != nil && p.Kind() != ast.KindDocument; p = p.Parent() {
		c.seam.depth++
	}
	if n.Kind() == ast.KindListItem {
		c.seam.ordinal = r.lists[len(r.lists)-1].next
	}
	return c
}

// block renders a block. If that panics, here or in a library, the block is
// shown as it stands.
func (r *renderer) block(n ast.Node, c *chain) {
	defer r.showSource(n, len(r.out), len(r.frames), len(r.lists))
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.ThematicBreak:
		r.rule()
	case *ast.List:
		r.list(n, c)
	case *ast.Blockquote:
		r.quote(n, c)
	case *ast.ListItem:
		r.item(n)
	case *ast.FencedCodeBlock:
		r.code(syntax.Find(string(n.Language(r.src))), n.Lines())
	case *ast.CodeBlock:
		r.code(nil, n.Lines())
	case *extast.Table:
		r.table(n)
	case *display:
		r.display(n)
	case *ast.LinkReferenceDefinition:
		r.defs = append(r.defs, parser.NewReference(n.Label, n.Destination, n.Title))
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n)
	}
}

// gap asks for a blank line before whatever comes next, inside depth frames.
func (r *renderer) gap(depth int) {
	if !r.wantGap || depth < r.gapDepth {
		r.wantGap, r.gapDepth = true, depth
	}
}

// push enters a container. If its mark leaves too little room, the mark gets a
// line of its own.
func (r *renderer) push(f frame) {
	if r.room()-f.width < minRoom {
		if f.first != "" && f.width <= r.room() {
			r.emit([]byte(f.first))
		}
		f = frame{}
	}
	r.frames = append(r.frames, f)
}

// minRoom is how many cells of text a container must leave.
const minRoom = 4

// pop leaves a container; if nothing was in it, its mark still shows.
func (r *renderer) pop() {
	f := r.frames[len(r.frames)-1]
	if !f.used && f.first != "" {
		r.emit(nil)
	}
	r.frames = r.frames[:len(r.frames)-1]
	if r.gapDepth > len(r.frames) {
		r.wantGap, r.gapDepth = false, 0 // nothing came after it
	}
}

// room is the number of cells inside all frames.
func (r *renderer) room() int {
	w := r.width
	for _, f := range r.frames {
		w -= f.width
	}
	return max(1, w)
}

// emit puts a line with the marks of its containers in front into out.
func (r *renderer) emit(content []byte) {
	if r.wantGap && r.began {
		if r.gapDepth == 0 || r.frames[r.gapDepth-1].used || r.frames[r.gapDepth-1].width == 0 {
			r.out = append(r.out, r.prefixed(r.gapDepth, nil))
		}
	}
	r.wantGap, r.began = false, true
	r.out = append(r.out, r.prefixed(len(r.frames), content))
}

func (r *renderer) prefixed(depth int, content []byte) string {
	r.buf = r.buf[:0]
	for i := range r.frames[:depth] {
		f := &r.frames[i]
		if f.used {
			r.buf = append(r.buf, f.rest...)
		} else {
			r.buf = append(r.buf, f.first...)
			f.used = true
		}
	}
	r.buf = append(r.buf, content...)
	end := len(r.buf)
	for end > 0 && r.buf[end-1] == ' ' {
		end--
	}
	return string(r.buf[:end])
}

// emitFlow breaks the flow into lines and emits them.
func (r *renderer) emitFlow() {
	r.lines = r.flow.lines(r.room(), r.lines[:0])
	for _, l := range r.lines {
		r.emit(r.flow.paint(nil, l, r.pens))
	}
}

// paint returns plain text in a pen, for marks.
func (r *renderer) paint(s string, p pen) string {
	if sequence := r.pens.sequences[p]; sequence != "" && s != "" {
		return sequence + s + "\x1b[m"
	}
	return s
}
