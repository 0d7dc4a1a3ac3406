package markdown

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"rookery/ui/markdown/syntax"
	"rookery/ui/theme"
)

// A pen is a text style: an index into the escape sequences of a penCase. Pen
// 0 is plain text.
type pen uint16

// An emphasis is a pen that is to be bold, italic or both.
type emphasis struct {
	pen  pen
	bits byte
}

// A penCase knows the escape sequence of every pen in use.
type penCase struct {
	sequences []string
	known     map[string]pen

	emphases map[emphasis]pen

	muted, quote, border pen
	code                 [syntax.Deleted + 1]pen
}

func newPenCase(th theme.Theme) *penCase {
	c := &penCase{sequences: []string{""}, known: map[string]pen{"": 0, "\x1b[m": 0, "\x1b[0m": 0}, emphases: map[emphasis]pen{}}
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

// emphasized is a pen with emphasis added, unless it has that already.
func (c *penCase) emphasized(p pen, bits byte) pen {
	if bits == 0 {
		return p
	}
	key := emphasis{p, bits}
	q, ok := c.emphases[key]
	if !ok {
		parameters := strings.TrimSuffix(strings.TrimPrefix(c.sequences[p], "\x1b["), "m")
		attributes, _, _ := strings.Cut(parameters, "38") // colours have any number
		for i, name := range []string{"1", "3"} {         // bold, italic
			if bits&(1<<i) != 0 && !slices.Contains(strings.Split(attributes, ";"), name) {
				parameters = strings.TrimSuffix(name+";"+parameters, ";")
			}
		}
		q = c.ofSequence("\x1b[" + parameters + "m")
		c.emphases[key] = q
	}
	return q
}
