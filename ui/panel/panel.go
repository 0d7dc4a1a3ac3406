package panel

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/graph"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// The panels and what the mouse and typing can change of them.
var (
	_ kit.Panel   = (*Monitor)(nil)
	_ kit.Watcher = (*Monitor)(nil)
	_ interface {
		kit.Panel
		kit.Pointer
		kit.Typist
	} = (*Mixer)(nil)
	_ interface {
		kit.Panel
		kit.Pointer
		kit.Typist
	} = (*Sampling)(nil)
	_ interface {
		kit.Panel
		kit.Pointer
	} = (*Adapters)(nil)
	_ kit.Strip = (*heat)(nil)
)

// A frame is what all panels have: a size and a theme.
type frame struct {
	th            theme.Theme
	width, height int
}

func (f *frame) SetTheme(th theme.Theme) { f.th = th }

func (f *frame) SetSize(width, height int) { f.width, f.height = max(0, width), max(0, height) }

// style is how graphs are drawn in the theme.
func (f *frame) style() graph.Style {
	if f.th.Glyphs.Braille {
		return graph.Braille
	}
	return graph.ASCII
}

// bar is a bar of exactly width cells, filled to a share between 0 and 1.
func (f *frame) bar(share float64, width int) string {
	style := graph.Blocks
	if !f.th.Glyphs.Braille {
		style = graph.ASCII
	}
	return graph.Bar(share, width, style)
}

// drawsGraphs says whether pictures make sense; they do not to a screen reader.
func (f *frame) drawsGraphs() bool { return !f.th.Glyphs.Marks }

// fill makes lines exactly as large as the panel.
func (f *frame) fill(lines []string) string {
	out := make([]string, f.height)
	for i := range out {
		l := ""
		if i < len(lines) {
			l = lines[i]
		}
		out[i] = fit(l, f.width, f.th.Glyphs.Ellipsis)
	}
	return strings.Join(out, "\n")
}

// fit cuts or pads a line, which may be styled, to exactly width cells.
func fit(s string, width int, ellipsis string) string {
	if ansi.StringWidth(s) > width {
		s = ansi.Truncate(s, width, ellipsis)
	}
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// spread puts two texts at the ends of a line. The left one gives way.
func spread(left, right string, width int, ellipsis string) string {
	room := width - ansi.StringWidth(right) - 1
	if room < 1 {
		return fit(left, width, ellipsis)
	}
	return fit(left, room, ellipsis) + " " + right
}
