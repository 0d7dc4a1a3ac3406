package theme

// Glyphs are the characters that views draw with. Each is one cell wide,
// except where it says otherwise.
type Glyphs struct {
	Bullets  [3]string // of list items, by depth
	Said     string    // the bar before what the person said
	Quote    string    // the bar before quoted lines; may be empty
	Code     string    // the bar before lines of code; may be empty
	Rule     string    // repeated, a horizontal line; empty for none
	Vertical string    // between columns
	Cross    string    // where a rule meets a column
	Ellipsis string
	Cursor   string // the pointer at the chosen row
	Block    string // a full cell of a bar
	Track    string // an empty cell of a bar
	Up, Down string // more to see above or below
	Marks    bool   // keep the marks of the source (#, `) that say what a style says
	Formulas bool   // write mathematics in Unicode where that is possible
	Braille  bool   // graphs may use braille dots and block elements
}

// UnicodeGlyphs are for terminals that show Unicode: all that are in use.
func UnicodeGlyphs() Glyphs {
	return Glyphs{
		Bullets: [3]string{"•", "◦", "▪"},
		Said:    "▎", Quote: "│", Code: "│", Rule: "─", Vertical: "│", Cross: "┼",
		Ellipsis: "…", Cursor: "›", Block: "█", Track: "░", Up: "↑", Down: "↓",
		Formulas: true, Braille: true,
	}
}

// ASCIIGlyphs are for terminals and fonts that show nothing else.
func ASCIIGlyphs() Glyphs {
	return Glyphs{
		Bullets: [3]string{"-", "*", "+"},
		Said:    "|", Quote: ">", Code: "|", Rule: "-", Vertical: "|", Cross: "+",
		Ellipsis: "~", Cursor: ">", Block: "#", Track: ".", Up: "^", Down: "v",
	}
}

// SpokenGlyphs are for screen readers: nothing is drawn, and what a style
// would say is left in the text as the marks of its source.
func SpokenGlyphs() Glyphs {
	return Glyphs{
		Bullets:  [3]string{"-", "-", "-"},
		Said:     " ",
		Vertical: ",", Cross: ",",
		Ellipsis: "~", Cursor: "*", Block: "#", Track: " ", Up: "^", Down: "v",
		Marks: true,
	}
}
