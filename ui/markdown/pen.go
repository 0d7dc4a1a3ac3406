package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"

	"rookery/ui/markdown/syntax"
	"rookery/ui/theme"
)

// A pen is a text style: an ink in the low byte, emphasis in the high one.
type pen uint16

// The inks. Those of highlighted code follow: inkCode + class.
const (
	inkText pen = iota
	inkMuted
	inkHeading
	inkLink
	inkQuote
	inkBorder
	inkSpan // a code span
	inkCode // + syntax.Class
)

// The emphases.
const (
	bold pen = 1 << (8 + iota)
	italic
	struck
	underlined
)

func codePen(c syntax.Class) pen { return inkCode + pen(c) }

// A penCase knows the escape sequence of every pen of a theme.
type penCase struct {
	th  theme.Theme
	seq map[pen]string
}

func newPenCase(th theme.Theme) penCase { return penCase{th: th, seq: map[pen]string{}} }

// sequence switches the terminal from no style to that of p. It is empty for
// plain text.
func (c penCase) sequence(p pen) string {
	seq, ok := c.seq[p]
	if !ok {
		// The library only styles text, so style some and keep what is before it.
		seq, _, _ = strings.Cut(c.style(p).Render("x"), "x")
		c.seq[p] = seq
	}
	return seq
}

func (c penCase) style(p pen) lipgloss.Style {
	s := c.ink(p & 0xff)
	if p&bold != 0 {
		s = s.Bold(true)
	}
	if p&italic != 0 {
		s = s.Italic(true)
	}
	if p&struck != 0 {
		s = s.Strikethrough(true)
	}
	if p&underlined != 0 {
		s = s.Underline(true)
	}
	return s
}

func (c penCase) ink(p pen) lipgloss.Style {
	switch p {
	case inkMuted:
		return c.th.Muted
	case inkHeading:
		return c.th.Heading
	case inkLink:
		return c.th.Link
	case inkQuote:
		return c.th.Quote
	case inkBorder:
		return c.th.Border
	case inkSpan:
		return c.th.Code
	case inkText:
		return c.th.Text
	}
	s := c.th.Syntax
	switch syntax.Class(p - inkCode) {
	case syntax.Keyword:
		return s.Keyword
	case syntax.Type:
		return s.Type
	case syntax.Function:
		return s.Function
	case syntax.Builtin:
		return s.Builtin
	case syntax.Name:
		return s.Name
	case syntax.String:
		return s.String
	case syntax.Number:
		return s.Number
	case syntax.Comment:
		return s.Comment
	case syntax.Operator:
		return s.Operator
	case syntax.Heading:
		return s.Heading
	case syntax.Inserted:
		return s.Inserted
	case syntax.Deleted:
		return s.Deleted
	}
	return c.th.Text
}
