package graph

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Options say how an area is drawn.
type Options struct {
	Style Style
	Max   float64 // the top of the scale; 0 takes a round number above the values
	// Label writes a number of the scale, which is then drawn at the left.
	Label func(v float64) string
}

// Area fills the area under the values, the last one at the right edge, in
// rows of exactly width cells. Values are not negative; those that do
// not fit are left out at the left, and NaN leaves a gap.
func Area(values []float64, width, rows int, o Options) []string {
	if width <= 0 || rows <= 0 {
		return nil
	}
	top := o.Max
	if top <= 0 {
		top = NiceMax(last(values, o.Style.Columns(width)), 0)
	}
	scale, gutter := scaleOf(top, rows, o.Label)
	if gutter > width/2 {
		scale, gutter = make([]string, rows), 0
	}
	width -= gutter
	p := plot{columns: heights(last(values, o.Style.Columns(width)), o.Style.Columns(width), top, rows*o.Style.steps()), style: o.Style}
	lines := make([]string, rows)
	var line []byte
	for y := range lines {
		line = append(line[:0], scale[y]...)
		lines[y] = string(p.row(line, rows-1-y))
	}
	return lines
}

// Sparkline draws values in one line of exactly width cells. A top of 0 takes
// the largest value.
func Sparkline(values []float64, width int, top float64, s Style) string {
	if width <= 0 {
		return ""
	}
	shown := last(values, s.Columns(width))
	if top <= 0 {
		top = largest(shown)
	}
	p := plot{columns: heights(shown, s.Columns(width), top, s.steps()), style: s}
	return string(p.row(nil, 0))
}

// A plot is a row of columns, each a number of steps high.
type plot struct {
	columns []int
	style   Style
}

// row appends the cells that are at cells above the ground.
func (p plot) row(dst []byte, at int) []byte {
	steps := p.style.steps()
	part := func(h int) int { return min(max(h-at*steps, 0), steps) }
	if p.style == Braille {
		for i := 0; i+1 < len(p.columns); i += 2 {
			pattern := dots[0][part(p.columns[i])] | dots[1][part(p.columns[i+1])]
			if pattern == 0 {
				dst = append(dst, ' ')
				continue
			}
			dst = utf8.AppendRune(dst, 0x2800|pattern)
		}
		return dst
	}
	for _, h := range p.columns {
		dst = utf8.AppendRune(dst, levels[p.style][part(h)])
	}
	return dst
}

// heights are the values in steps, with empty columns at the left up to n.
func heights(values []float64, n int, top float64, steps int) []int {
	out := make([]int, n)
	for i, v := range values {
		out[n-len(values)+i] = height(v, top, steps)
	}
	return out
}

// last are the last n values.
func last(values []float64, n int) []float64 {
	return values[max(0, len(values)-n):]
}

// scaleOf are the labels of a scale beside rows, of equal width: its
// top, its middle if there is room, and zero.
func scaleOf(top float64, rows int, label func(float64) string) (lines []string, width int) {
	lines = make([]string, rows)
	if label == nil {
		return lines, 0
	}
	lines[0] = label(top)
	if rows > 1 {
		lines[rows-1] = label(0)
	}
	if rows >= 5 && rows%2 == 1 {
		lines[rows/2] = label(top / 2)
	}
	for _, l := range lines {
		width = max(width, ansi.StringWidth(l))
	}
	for i, l := range lines {
		lines[i] = strings.Repeat(" ", width-ansi.StringWidth(l)) + l + " "
	}
	return lines, width + 1
}
