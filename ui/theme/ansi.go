package theme

import "charm.land/lipgloss/v2"

// ansiTheme uses colours 1 to 6 of the terminal, which every scheme keeps
// readable on its own background, and attributes. Black, white and the bright
// colours are left alone: each of them is invisible somewhere (bright black on
// Solarized dark, white on light schemes). Faint stands in for grey.
func ansiTheme(dark bool) Theme {
	plain := lipgloss.NewStyle()
	faint := plain.Faint(true)
	bold := plain.Bold(true)
	red := plain.Foreground(lipgloss.Red)
	green := plain.Foreground(lipgloss.Green)
	yellow := plain.Foreground(lipgloss.Yellow)
	blue := plain.Foreground(lipgloss.Blue)
	magenta := plain.Foreground(lipgloss.Magenta)
	cyan := plain.Foreground(lipgloss.Cyan)

	return Theme{
		Name: Default, Dark: dark,
		Text: plain, Muted: faint, Accent: magenta, Title: magenta.Bold(true), Key: bold,
		Error: red.Bold(true), Warning: yellow, Success: green,
		User: blue.Bold(true), Assistant: green.Bold(true), System: magenta.Bold(true),
		Thought: faint.Italic(true),
		Border:  faint, BorderFocus: magenta,
		Chosen:   magenta.Bold(true),
		Selected: plain.Reverse(true),
		Tab:      faint, TabActive: bold.Underline(true),
		SearchMatch: yellow.Bold(true).Underline(true), SearchCurrent: yellow.Bold(true).Reverse(true),
		Heading: magenta.Bold(true), Code: cyan, Link: blue.Underline(true), Quote: faint,
		Graph1: green, Graph2: blue, Graph3: magenta,
		Syntax: Syntax{
			Keyword: magenta, Type: yellow, Function: blue, Builtin: cyan, Name: blue,
			String: green, Number: cyan, Comment: faint.Italic(true), Operator: plain,
			Heading: bold, Inserted: green, Deleted: red,
		},
		Glyphs: UnicodeGlyphs(),
	}
}
