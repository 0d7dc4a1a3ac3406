package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"

	"rookery/ui/markdown/syntax"
	"rookery/ui/theme"
)

// A pen is a text style: an index into the escape sequences of a penCase. Pen
// 0 is plain text.
type pen uint16

// A penCase knows the escape sequence of every pen in use.
type penCase struct {
	sequences []string
	known     map[string]pen

	muted, quote, border pen
	code                 [syntax.Deleted + 1]pen
}

func newPenCase(th theme.Theme) *penCase {
	c := &penCase{sequences: []string{""}, known: map[string]pen{"": 0, "\x1b[m": 0, "\x1b[0m": 0}}
	c.muted, c.quote, c.border = c.ofStyle(th.Muted), c.ofStyle(th.Quote), c.ofStyle(th.Border)
	s := th.Syntax
	for class, style := range map[syntax.Class]lipgloss.Style{
		syntax.Code: th.Text, syntax.Keyword: s.Keyword, syntax.Type: s.Type, syntax.Function: s.Function,
		syntax.Builtin: s.Builtin, syntax.Name: s.Name, syntax.String: s.String, syntax.Number: s.Number,
		syntax.Comment: s.Comment, syntax.Operator: s.Operator, syntax.Heading: s.Heading,
		syntax.Inserted: s.Inserted, syntax.Deleted: s.Deleted,
	} {
		c.code[class] = c.ofStyle(style)
	}
	return c
}

// ofStyle is the pen of a style. The library only styles text, so style some
// and keep what is before it.
func (c *penCase) ofStyle(s lipgloss.Style) pen {
	sequence, _, _ := strings.Cut(s.Render("x"), "x")
	return c.ofSequence(sequence)
}

// ofSequence is the pen that an escape sequence switches to from no style.
func (c *penCase) ofSequence(sequence string) pen {
	p, ok := c.known[sequence]
	if !ok {
		p = pen(len(c.sequences))
		c.sequences = append(c.sequences, sequence)
		c.known[sequence] = p
	}
	return p
}
