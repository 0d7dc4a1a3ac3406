package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// An inliner writes the inline content of blocks to a flow. It resolves what
// is not text and leaves the styles to Glamour, which would resolve entities
// without a semicolon and in code, and drop what it does not know.
type inliner struct {
	flow     *flow
	pens     *penCase
	set      *typesetter
	marks    bool // keep the back-quotes of code spans
	formulas bool // write formulas in Unicode
	src      []byte

	text     []byte // the resolved text, which the tree refers to afterwards
	shown    int    // bytes of it, as Glamour will write it
	emphasis byte   // bold and italic, around what is resolved
	flat     bool   // inside strikethrough, of which Glamour reads only the text
	verbatim bool   // put keeps backslashes as they are
	// opener is the offset of the first mark in text that could still pair up
	// with a later one, or len(src): in front of it the text can be cut.
	opener   int
	brackets []int // offsets of open square brackets
}

// Glamour has no style for muted text, and drops emphasis round code and links.
// Control characters, which no text has, say where there is some.
const (
	mutedOn  = '\x0e'
	mutedOff = '\x0f'
	emphatic = '\x10' // plus bold and italic: of the text that follows
	bold     = 1
	italic   = 2
)

// write writes the inline content of n, which is used up, to the flow.
func (in *inliner) write(n ast.Node, b base) {
	f := in.flow
	start, marks := len(f.text), len(f.marks)
	in.text, in.shown, in.emphasis, in.flat, in.verbatim = in.text[:0], start, 0, false, false
	in.opener, in.brackets = len(in.src), in.brackets[:0]
	in.resolve(n, true)
	whole := ast.NewTextBlock() // of which Glamour writes the children only
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		whole.AppendChild(whole, c)
	}
	styled, err := in.set.render(whole, in.text, b)
	if err != nil {
		panic(err) // the block is then shown as it stands
	}
	f.addStyled(styled, in.pens)
	if len(f.text) != in.shown {
		f.marks = append(f.marks[:marks], mark{start, -1})
	}
}

// firstOpener is the offset before which the text last written is final.
func (in *inliner) firstOpener() int {
	if len(in.brackets) > 0 {
		return min(in.opener, in.brackets[0])
	}
	return in.opener
}

// resolve turns the content of n into what Glamour writes as it is meant. Top
// says that it is not inside emphasis, a link or the like.
func (in *inliner) resolve(n ast.Node, top bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch old := c.(type) {
		case *ast.Text:
			in.literal(old, top)
		case *ast.CodeSpan:
			in.codeSpan(old)
		case *ast.Link:
			in.link(old, old.Destination)
		case *ast.Image:
			link := ast.NewLink()
			for child := old.FirstChild(); child != nil; child = old.FirstChild() {
				link.AppendChild(link, child)
			}
			c = replace(n, c, link)
			in.link(link, old.Destination)
		case *ast.AutoLink:
			link := ast.NewLink()
			c = replace(n, c, link)
			in.hide(link)
			link.AppendChild(link, in.made(func() { in.raw(old.Label(in.src)) }))
		case *extast.TaskCheckBox:
			box := "[ ] "
			if old.IsChecked {
				box = "[x] "
			}
			c = replace(n, c, in.made(func() { in.put([]byte(box), -1) }))
		case *formula:
			shown := old.source
			if in.formulas && old.unicode != "" {
				shown = []byte(old.unicode)
			}
			c = replace(n, c, in.made(func() { in.raw(shown) }))
		case *extast.Strikethrough:
			outer := in.flat
			in.flat = true
			in.resolve(c, false)
			in.flat = outer
		case *ast.Emphasis:
			outer := in.emphasis
			in.emphasis |= italic
			if old.Level > 1 {
				in.emphasis = outer | bold
			}
			in.resolve(c, false)
			in.emphasis = outer
		default:
			in.resolve(c, false)
		}
	}
}

func replace(parent, old, by ast.Node) ast.Node {
	parent.ReplaceChild(parent, old, by)
	return by
}

// made is a text of what f puts.
func (in *inliner) made(f func()) *ast.Text {
	start := len(in.text)
	f()
	return ast.NewTextSegment(text.NewSegment(start, len(in.text)))
}

// put writes text that stands at src in the source, or nowhere if src < 0, as
// Glamour will read it: it resolves entities and escapes.
func (in *inliner) put(s []byte, src int) {
	if len(s) == 0 {
		return
	}
	in.flow.marks = append(in.flow.marks, mark{in.shown, src})
	in.shown += len(s)
	if in.emphasis > 0 || in.flat {
		in.text = append(in.text, emphatic+in.emphasis)
	}
	for _, c := range s {
		switch {
		case c == '&':
			in.text = append(in.text, "&amp;"...)
		case c == '\\' && !in.verbatim:
			in.text = append(in.text, `\\`...)
		default:
			in.text = append(in.text, c)
		}
	}
}

// hide keeps Glamour from writing where a link leads, its own way.
func (in *inliner) hide(l *ast.Link) { l.Destination = []byte("#") }

// link writes the text of a link, and where it leads unless the text says so.
func (in *inliner) link(l *ast.Link, dest []byte) {
	in.hide(l)
	var shown []byte
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			shown = append(shown, c.Value(in.src)...)
		case *ast.AutoLink:
			shown = append(shown, c.Label(in.src)...)
		}
	}
	before := in.shown
	in.resolve(l, false)
	if len(dest) == 0 || dest[0] == '#' || bytes.Equal(shown, bytes.TrimPrefix(dest, []byte("mailto:"))) {
		return
	}
	l.AppendChild(l, in.made(func() {
		in.text = append(in.text, mutedOn)
		if in.shown > before {
			in.put([]byte(" "), -1)
		}
		in.put([]byte("("), -1)
		in.raw(dest)
		in.put([]byte(")"), -1)
		in.text = append(in.text, mutedOff)
	}))
}

// codeSpan writes code. Glamour resolves entities in it, but escapes only where
// it takes the code for text.
func (in *inliner) codeSpan(n *ast.CodeSpan) {
	var code []byte
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		if t, ok := c.(*ast.Text); ok {
			code = append(code, t.Value(in.src)...)
		}
		n.RemoveChild(n, c)
	}
	marks := 0
	if in.marks && !in.flat {
		marks = len(codeMark)
	}
	in.shown += marks
	in.verbatim = !in.flat && n.Parent().Kind() != ast.KindLink
	n.AppendChild(n, in.made(func() { in.raw(code) }))
	in.verbatim = false
	in.shown += marks
}

// raw writes text without escapes or entities, on one line.
func (in *inliner) raw(s []byte) { in.put([]byte(oneLine(string(s))), -1) }

// literal writes text: backslash escapes and entities are resolved, <br> and
// the line breaks of the source break the line.
func (in *inliner) literal(n *ast.Text, top bool) {
	s, base := n.Segment.Value(in.src), n.Segment.Start-n.Segment.Padding
	start, from := len(in.text), 0 // from is where text begins that is not yet written
	write := func(to int) {
		src := -1
		if top && base+from >= 0 {
			src = base + from
		}
		in.put(s[from:to], src)
	}
	for i := 0; i < len(s); {
		out, n := in.special(s, i, base)
		if n == 0 {
			i++
			continue
		}
		write(i)
		in.put([]byte(out), -1)
		i += n
		from = i
	}
	write(len(s))
	if n.SoftLineBreak() || n.HardLineBreak() {
		in.put([]byte("\n"), -1)
	}
	n.SetSoftLineBreak(false)
	n.SetHardLineBreak(false)
	n.Segment = text.NewSegment(start, len(in.text))
}
