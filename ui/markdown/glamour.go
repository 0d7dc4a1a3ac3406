package markdown

import (
	"bufio"
	"bytes"
	"fmt"
	"image/color"
	"strconv"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	gm "github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"rookery/ui/theme"
)

// Glamour styles the text of every block. It does not lay blocks out: it pads
// each line to the full width, wraps list items below their marks, fuses the
// paragraphs of an item, moves code out of its item, and takes 0.5 to 5 ms for
// a kilobyte, where a frame has one.

// A base is the style of a block's text, which the styles of emphasis, links
// and code spans add to.
type base int

const (
	baseText    base = iota
	baseTitle        // a heading of level 1
	baseHeading      // of level 2
	baseSubheading
	baseColumn // the head of a column
	bases
)

// A typesetter has one Glamour renderer for each base in use. It is not safe
// for concurrent use.
type typesetter struct {
	th        theme.Theme
	renderers [bases]gm.Renderer
	out       bytes.Buffer
	w         *bufio.Writer
}

func newTypesetter(th theme.Theme) *typesetter {
	t := &typesetter{th: th}
	t.w = bufio.NewWriter(&t.out)
	return t
}

// renderer is the one for a base; to make one takes longer than a paragraph.
func (t *typesetter) renderer(b base) gm.Renderer {
	if t.renderers[b] == nil {
		style := [bases]lipgloss.Style{
			baseText: t.th.Text, baseTitle: t.th.Heading.Underline(true), baseHeading: t.th.Heading,
			baseSubheading: t.th.Heading.Italic(true), baseColumn: t.th.Text.Bold(true),
		}[b]
		styles := glamourStyles(t.th, style)
		if b == baseColumn {
			styles.Code.Bold = styles.Text.Bold
		}
		t.renderers[b] = gm.NewRenderer(gm.WithNodeRenderers(
			util.Prioritized(ansi.NewRenderer(ansi.Options{Styles: styles}), 1)))
	}
	return t.renderers[b]
}

// render returns the styled text of a block whose inline content is n's, on one
// line apart from the breaks in it. The result is valid until the next call.
func (t *typesetter) render(n ast.Node, source []byte, b base) ([]byte, error) {
	t.out.Reset()
	t.w.Reset(&t.out) // it may hold what a panic has left
	err := t.renderer(b).Render(t.w, source, n)
	return t.out.Bytes(), err
}

// glamourStyles are the theme's styles as Glamour takes them. It knows no faint
// text; that is done with pens.
func glamourStyles(th theme.Theme, text lipgloss.Style) ansi.StyleConfig {
	yes := true
	var c ansi.StyleConfig
	c.Text = primitive(text)
	c.Emph.Italic, c.Strong.Bold = &yes, &yes
	c.Strikethrough = c.Text
	c.Strikethrough.CrossedOut = &yes
	c.LinkText = primitive(th.Link)
	c.Code.StylePrimitive = primitive(th.Code)
	c.Code.Underline, c.Code.Italic = c.Text.Underline, c.Text.Italic
	if th.Glyphs.Marks {
		c.Code.Prefix, c.Code.Suffix = codeMark, codeMark
	}
	return c
}

// codeMark is on both sides of a code span where marks are kept.
const codeMark = "`"

func primitive(s lipgloss.Style) ansi.StylePrimitive {
	var p ansi.StylePrimitive
	yes := true
	if s.GetBold() {
		p.Bold = &yes
	}
	if s.GetItalic() {
		p.Italic = &yes
	}
	if s.GetUnderline() {
		p.Underline = &yes
	}
	p.Color = colorName(s.GetForeground())
	return p
}

// colorName writes a colour as Glamour reads it: the number of one of the
// terminal's own, or a hexadecimal one.
func colorName(c color.Color) *string {
	var name string
	switch c := c.(type) {
	case nil, lipgloss.NoColor:
		return nil
	case xansi.BasicColor:
		name = strconv.Itoa(int(c))
	default:
		r, g, b, _ := c.RGBA()
		name = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return &name
}
