package transcript

import (
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Draw returns exactly height lines. A block that cannot be drawn becomes plain.
func (t *Transcript) Draw() []string {
	for {
		lines, broken := t.drawLines()
		if broken == nil {
			return lines
		}
		t.showPlain(broken)
		t.index()
	}
}

func (t *Transcript) drawLines() (lines []string, broken *block) {
	var b *block
	defer func() {
		if cause := recover(); cause != nil {
			if b == nil || b.plain {
				panic(cause) // nothing simpler is left
			}
			broken = b
		}
	}()
	lines = make([]string, 0, t.height)
	top := t.top()
	place := t.locate(top)
	for n := top; n < t.total() && len(lines) < t.height; n++ {
		b = t.blocks[place.block]
		line := b.line(place.line, t.th)
		line = t.find.mark(line, place, t.th)
		line = t.marked.mark(line, n, t.th)
		edge := gutter(t.th, place.block == t.selected, b, place.line)
		lines = append(lines, kit.Fit(edge+line, t.width))
		if place.line++; place.line >= b.height() {
			place = anchor{block: place.block + 1}
		}
	}
	for len(lines) < t.height {
		lines = append(lines, "")
	}
	return lines, nil
}

// line is one line without its gutter, dim if it is ahead of the head.
func (b *block) line(i int, th theme.Theme) string {
	if b.ahead {
		return th.Muted.Render(ansi.Strip(b.lit(i, th)))
	}
	return b.lit(i, th)
}

// lit is a line as it is behind the head.
func (b *block) lit(i int, th theme.Theme) string {
	if i < len(b.head) {
		return b.head[i]
	}
	i -= len(b.head)
	if i < len(b.thinking) {
		return b.thinking[i]
	}
	i -= len(b.thinking)
	if n := b.reflected(); i < n {
		if i == n-1 {
			return ""
		}
		return th.Thought.Render(b.thought.lines[i])
	}
	i -= b.reflected()
	if i < b.body.Len() {
		return b.body.Line(i)
	}
	if i -= b.body.Len(); i < len(b.foot) {
		return b.foot[i]
	}
	return ""
}

// gutter is drawn before every line. It marks the selected message, what is
// ahead of the head, which colours may not tell, and what the person said.
func gutter(th theme.Theme, selected bool, b *block, line int) string {
	last := line == b.height()-1 // the blank one below
	switch {
	case selected && !last:
		return th.Accent.Render("▌") + " "
	case b.ahead:
		return th.Muted.Render("·") + " "
	case b.asks() && !last:
		return th.User.Render(th.Glyphs.Said) + " "
	}
	return "  "
}
