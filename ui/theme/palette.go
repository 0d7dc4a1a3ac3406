package theme

import "charm.land/lipgloss/v2"

// A palette is a truecolour theme: a column of colours for dark backgrounds
// and one for light ones. Like every theme it keeps the terminal's background,
// so each colour has a contrast of at least 4.5 to 1 against black or white
// respectively, and grey at least 3 to 1.
type palette struct {
	name        string
	dark, light tones
}

// tones are hexadecimal colours by the part they play.
type tones struct {
	grey, red, green, yellow, blue, violet, cyan, orange string
	selection                                            string // a background
}

var palettes = []palette{
	{
		name: "rook",
		dark: tones{
			grey: "#8a8f98", red: "#f2777a", green: "#8fc98b", yellow: "#e6c07b", blue: "#7fb2f0",
			violet: "#c49df0", cyan: "#6fcbd0", orange: "#f0a573", selection: "#3a4050",
		},
		light: tones{
			grey: "#6b7078", red: "#b3261e", green: "#2a7030", yellow: "#7d5a00", blue: "#1f5fae",
			violet: "#7339ac", cyan: "#0b6e77", orange: "#a04a00", selection: "#d5deee",
		},
	},
	{
		// After the palette of Okabe and Ito, which stays distinct with the
		// common kinds of colour blindness; red and green never oppose each other.
		name: "contrast",
		dark: tones{
			grey: "#a8a8a8", red: "#ff8a5c", green: "#56c4ff", yellow: "#f0e442", blue: "#74b9ff",
			violet: "#e79cc8", cyan: "#3fd6ac", orange: "#ffb53d", selection: "#004b78",
		},
		light: tones{
			grey: "#5c5c5c", red: "#a83d00", green: "#005f94", yellow: "#6b5f00", blue: "#00518c",
			violet: "#8f2f68", cyan: "#006b50", orange: "#8a5200", selection: "#ffe9a8",
		},
	},
}

func (p palette) theme(dark bool) Theme {
	c := p.light
	if dark {
		c = p.dark
	}
	plain := lipgloss.NewStyle()
	ink := func(hex string) lipgloss.Style { return plain.Foreground(lipgloss.Color(hex)) }
	grey, violet, blue := ink(c.grey), ink(c.violet), ink(c.blue)

	return Theme{
		Name: p.name, Dark: dark,
		Text: plain, Muted: grey, Accent: violet, Title: violet.Bold(true), Key: plain.Bold(true),
		Error: ink(c.red).Bold(true), Warning: ink(c.yellow), Success: ink(c.green),
		User: blue.Bold(true), Assistant: ink(c.green).Bold(true), System: violet.Bold(true),
		Thought: grey.Italic(true),
		Border:  grey, BorderFocus: violet,
		Chosen:   plain.Background(lipgloss.Color(c.selection)).Bold(true),
		Selected: plain.Background(lipgloss.Color(c.selection)).Bold(true),
		Tab:      grey, TabActive: plain.Bold(true).Underline(true),
		SearchMatch: ink(c.yellow).Bold(true).Underline(true), SearchCurrent: ink(c.yellow).Bold(true).Reverse(true),
		Heading: violet.Bold(true), Code: ink(c.cyan), Link: blue.Underline(true), Quote: grey,
		Graph1: ink(c.green), Graph2: blue, Graph3: ink(c.orange),
		Syntax: Syntax{
			Keyword: violet, Type: ink(c.yellow), Function: blue, Builtin: ink(c.cyan), Name: blue,
			String: ink(c.green), Number: ink(c.orange), Comment: grey.Italic(true), Operator: plain,
			Heading: plain.Bold(true), Inserted: ink(c.green), Deleted: ink(c.red),
		},
		Glyphs: UnicodeGlyphs(),
	}
}
