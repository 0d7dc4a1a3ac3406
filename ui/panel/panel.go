package panel

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/infer/sampler"
	"rookery/ui/graph"
	"rookery/ui/theme"
)

// A Panel is a rectangle with a mind of its own.
type Panel interface {
	Title() string
	SetTheme(theme.Theme)
	// SetSize sets the size of what Draw returns, in cells.
	SetSize(width, height int)
	// Draw returns as many lines as the panel is high, each exactly as wide as
	// the panel. It changes nothing.
	Draw() string
	// HandleKey says what a key asks for, if anything, and whether the panel
	// has use for the key at all.
	HandleKey(tea.KeyPressMsg) (Action, bool)
}

// An Action is what a panel asks the program to do.
type Action interface{ action() }

// SetSampling asks to sample with these parameters from the next token on.
type SetSampling struct {
	Params sampler.Params
	Preset string // the name of the preset that they are, or empty
}

// Close asks to put the panel away.
type Close struct{}

func (SetSampling) action() {}
func (Close) action()       {}

// A Pointer is a panel that the mouse can change. Places are cells of what
// Draw returns.
type Pointer interface {
	// Press is the left button going down.
	Press(x, y int) Action
	// Drag is the pointer moving while it is down.
	Drag(x, y int) Action
	// Release is the button going up.
	Release()
}

// A Typist is a panel that numbers are typed into.
type Typist interface {
	// StopTyping forgets what was typed and what was wrong with it: the panel is
	// put away.
	StopTyping()
}

// The panels keep the contract.
var (
	_ Panel   = (*Sampling)(nil)
	_ Panel   = (*Monitor)(nil)
	_ Panel   = (*Mixer)(nil)
	_ Pointer = (*Mixer)(nil)
	_ Typist  = (*Mixer)(nil)
	_ Typist  = (*Sampling)(nil)
	_ Pointer = (*Sampling)(nil)
	_ Panel   = (*Adapters)(nil)
	_ Pointer = (*Adapters)(nil)
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
