package theme

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// A Theme is a set of styles and glyphs. It is a plain value: copy it, but do
// not change the styles of a theme that is in use.
type Theme struct {
	Name string
	Dark bool

	Text    lipgloss.Style // ordinary text: the terminal's own colour
	Muted   lipgloss.Style // what may be overlooked: hints, units, times
	Accent  lipgloss.Style // what the program itself wants to say
	Title   lipgloss.Style // of a panel
	Key     lipgloss.Style // a key in a hint
	Error   lipgloss.Style
	Warning lipgloss.Style
	Success lipgloss.Style

	User      lipgloss.Style // the name above what a person said
	Assistant lipgloss.Style // the name above what the model said
	System    lipgloss.Style
	Thought   lipgloss.Style // the model thinking aloud

	Border      lipgloss.Style
	BorderFocus lipgloss.Style
	Chosen      lipgloss.Style // the chosen row of a list, which has a pointer too
	Selected    lipgloss.Style // marked text, and the cell that a cursor is on
	Tab         lipgloss.Style
	TabActive   lipgloss.Style

	SearchMatch   lipgloss.Style
	SearchCurrent lipgloss.Style // the match that the view stands on

	Heading lipgloss.Style
	Code    lipgloss.Style // a code span
	Link    lipgloss.Style
	Quote   lipgloss.Style

	Graph1 lipgloss.Style // the series of graphs, in the order they are drawn
	Graph2 lipgloss.Style
	Graph3 lipgloss.Style

	Syntax Syntax
	Glyphs Glyphs
}

// Syntax are the styles of highlighted code.
type Syntax struct {
	Keyword  lipgloss.Style
	Type     lipgloss.Style
	Function lipgloss.Style
	Builtin  lipgloss.Style // built-in names and constants
	Name     lipgloss.Style // tags and attributes of markup
	String   lipgloss.Style
	Number   lipgloss.Style
	Comment  lipgloss.Style
	Operator lipgloss.Style
	Heading  lipgloss.Style // of markup inside a code block
	Inserted lipgloss.Style // lines of a diff
	Deleted  lipgloss.Style
}

// Default is the name of the theme that fits every terminal.
const Default = "ansi"

// New returns the theme of that name for a dark or a light background.
func New(name string, dark bool) (Theme, error) {
	if name == "" || name == Default {
		return ansiTheme(dark), nil
	}
	for _, p := range palettes {
		if p.name == name {
			return p.theme(dark), nil
		}
	}
	return Theme{}, fmt.Errorf("no theme is called %q: choose one of %s", name, strings.Join(Names(), ", "))
}

// Names are the themes that New knows, the default one first.
func Names() []string {
	names := []string{Default}
	for _, p := range palettes {
		names = append(names, p.name)
	}
	return names
}

// WithGlyphs returns the theme with other drawing characters.
func (t Theme) WithGlyphs(g Glyphs) Theme {
	t.Glyphs = g
	return t
}
