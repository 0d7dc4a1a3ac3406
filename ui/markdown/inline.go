package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// An inliner writes the inline content of blocks to a flow.
type inliner struct {
	flow  *flow
	src   []byte
	marks bool // keep the back-quotes of code spans
	// opener is the offset of the first mark in text that could still pair up
	// with a later one, or len(src): in front of it the text can be cut.
	opener   int
	brackets []int // offsets of open square brackets
}

// start makes ready for the inline content of one block.
func (in *inliner) start() {
	in.flow.reset()
	in.opener, in.brackets = len(in.src), in.brackets[:0]
}

// firstOpener is the offset before which the text read since start is final.
func (in *inliner) firstOpener() int {
	if len(in.brackets) > 0 {
		return min(in.opener, in.brackets[0])
	}
	return in.opener
}

// children writes all children of n. Top says that they are not inside
// emphasis, a link or the like.
func (in *inliner) children(n ast.Node, p pen, top bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(c, p, top)
	}
}

func (in *inliner) node(n ast.Node, p pen, top bool) {
	switch n := n.(type) {
	case *ast.Text:
		in.literal(n, p, top)
	case *ast.CodeSpan:
		in.codeSpan(n, p)
	case *ast.Emphasis:
		if n.Level >= 2 {
			in.children(n, p|bold, false)
		} else {
			in.children(n, p|italic, false)
		}
	case *extast.Strikethrough:
		in.children(n, p|struck, false)
	case *ast.Link:
		in.children(n, p&^0xff|inkLink, false)
		in.destination(n, n.Destination)
	case *ast.Image:
		in.children(n, p&^0xff|inkLink, false)
		in.destination(n, n.Destination)
	case *ast.AutoLink:
		in.raw(n.Label(in.src), p&^0xff|inkLink)
	case *extast.TaskCheckBox:
		if n.IsChecked {
			in.flow.addString("[x] ", p)
		} else {
			in.flow.addString("[ ] ", p)
		}
	default:
		in.children(n, p, false)
	}
}

// destination says where a link leads, unless its text does.
func (in *inliner) destination(n ast.Node, dest []byte) {
	if len(dest) == 0 || dest[0] == '#' {
		return
	}
	var shown []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			shown = append(shown, c.Value(in.src)...)
		case *ast.AutoLink:
			shown = append(shown, c.Label(in.src)...)
		}
	}
	if bytes.Equal(shown, bytes.TrimPrefix(dest, []byte("mailto:"))) {
		return
	}
	if len(shown) > 0 {
		in.flow.addString(" ", inkMuted)
	}
	in.flow.addString("(", inkMuted)
	in.raw(dest, inkMuted)
	in.flow.addString(")", inkMuted)
}

func (in *inliner) codeSpan(n *ast.CodeSpan, p pen) {
	p = p&^0xff | inkSpan
	if in.marks {
		in.flow.addString("`", p)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			in.raw(t.Value(in.src), p)
		}
	}
	if in.marks {
		in.flow.addString("`", p)
	}
}

// raw writes text without escapes or entities, on one line.
func (in *inliner) raw(s []byte, p pen) {
	for len(s) > 0 {
		i := bytes.IndexAny(s, "\n\t")
		if i < 0 {
			break
		}
		in.flow.add(s[:i], p, -1)
		in.flow.addString(" ", p)
		s = s[i+1:]
	}
	in.flow.add(s, p, -1)
}

// literal writes text: backslash escapes and entities are resolved, <br> and
// the line breaks of the source break the line.
func (in *inliner) literal(n *ast.Text, p pen, top bool) {
	seg := n.Segment
	s := seg.Value(in.src)
	base := seg.Start - seg.Padding
	from := 0 // of text not yet written
	write := func(to int) {
		src := -1
		if top && base+from >= 0 {
			src = base + from
		}
		in.flow.add(s[from:to], p, src)
	}
	for i := 0; i < len(s); {
		out, n := in.special(s, i, base)
		if n == 0 {
			i++
			continue
		}
		write(i)
		in.flow.addString(out, p)
		i += n
		from = i
	}
	write(len(s))
	if n.SoftLineBreak() || n.HardLineBreak() {
		in.flow.addString("\n", p)
	}
}

// special returns what the n bytes at i show if that is not themselves.
func (in *inliner) special(s []byte, i, base int) (out string, n int) {
	switch s[i] {
	case '\\':
		if i+1 < len(s) && util.IsPunct(s[i+1]) {
			return string(s[i+1]), 2
		}
	case '\t', '\n':
		return " ", 1
	case '&':
		return entity(s[i:])
	case '<':
		return lineBreakTag(s[i:])
	case '[':
		in.brackets = append(in.brackets, base+i)
	case ']':
		if k := len(in.brackets); k > 0 {
			in.brackets = in.brackets[:k-1]
		}
	case '*', '_', '~', '`':
		if canOpen(s, i) {
			in.opener = min(in.opener, base+i)
		}
	}
	return "", 0
}

// canOpen says whether the mark at i could open emphasis, strikethrough or a
// code span that text to come would close.
func canOpen(s []byte, i int) bool {
	if s[i] == '`' {
		return true
	}
	next, _ := utf8.DecodeRune(s[i+1:])
	if unicode.IsSpace(next) {
		return false
	}
	if s[i] == '_' && i > 0 {
		prev, _ := utf8.DecodeLastRune(s[:i])
		return !unicode.IsLetter(prev) && !unicode.IsDigit(prev)
	}
	return true
}

// entity resolves a character reference. What it stands for is as little
// trusted as the text itself.
func entity(s []byte) (out string, n int) {
	end := bytes.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return "", 0
	}
	name := string(s[1:end])
	if name[0] != '#' {
		e, ok := util.LookUpHTML5EntityByName(name)
		if !ok {
			return "", 0
		}
		return oneLine(string(e.Characters)), end + 1
	}
	digits, base := name[1:], 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, base = digits[1:], 16
	}
	v, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return "", 0
	}
	r := rune(utf8.RuneError)
	if v > 0 && v <= unicode.MaxRune {
		r = rune(v)
	}
	return oneLine(string(r)), end + 1
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r = visible(r); r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, s)
}

// lineBreakTag recognises the one tag that means something in plain text.
func lineBreakTag(s []byte) (out string, n int) {
	for _, tag := range []string{"<br>", "<br/>", "<br />"} {
		if len(s) >= len(tag) && strings.EqualFold(string(s[:len(tag)]), tag) {
			return "\n", len(tag)
		}
	}
	return "", 0
}
