package kit

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A TextLine is a line of an area: its characters as a person sees them
// (grapheme clusters), and where it is broken to fit the width.
type TextLine struct {
	text  string
	chars []character
	rows  []int // the first character of each row
}

// A character is where a grapheme cluster begins, in bytes, and its cells.
type character struct {
	at    int
	cells int
}

// NewTextLine breaks a text without line ends into rows of a width.
func NewTextLine(text string, width int) TextLine {
	l := TextLine{text: text, chars: make([]character, 0, len(text))}
	for at := 0; at < len(text); {
		cluster, cells := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
		l.chars = append(l.chars, character{at, cells})
		at += len(cluster)
	}
	l.wrap(width)
	return l
}

// wrap breaks the line after spaces where it can. Spaces that do not fit stay
// at the end of their row, out of sight.
func (l *TextLine) wrap(width int) {
	l.rows = append(l.rows[:0], 0)
	cells, start, breakAt := 0, 0, -1
	for i, c := range l.chars {
		space := l.space(i)
		if cells+c.cells > width && !space && i > start {
			start = i
			if breakAt > l.rows[len(l.rows)-1] {
				start = breakAt
			}
			l.rows = append(l.rows, start)
			cells, breakAt = 0, -1
			for _, moved := range l.chars[start:i] {
				cells += moved.cells
			}
		}
		cells += c.cells
		if space {
			breakAt = i + 1
		}
	}
}

func (l *TextLine) len() int { return len(l.chars) }

// offset is where a character begins, in bytes; the end of the line for one behind it.
func (l *TextLine) offset(char int) int {
	if char >= len(l.chars) {
		return len(l.text)
	}
	return l.chars[char].at
}

// character is the first character that begins at an offset or after it.
func (l *TextLine) character(offset int) int {
	return sort.Search(len(l.chars), func(i int) bool { return l.chars[i].at >= offset })
}

// space reports whether a character is one.
func (l *TextLine) space(char int) bool {
	r, _ := utf8.DecodeRuneInString(l.text[l.chars[char].at:])
	return unicode.IsSpace(r)
}

// rowOf is the row that a character, or the end of the line, is in.
func (l *TextLine) rowOf(char int) int {
	return max(0, sort.Search(len(l.rows), func(i int) bool { return l.rows[i] > char })-1)
}

// end is the character behind a row's last one.
func (l *TextLine) end(row int) int {
	if row+1 < len(l.rows) {
		return l.rows[row+1]
	}
	return len(l.chars)
}

// cell is how far from its row's start a character is.
func (l *TextLine) cell(row, char int) int {
	cells := 0
	for _, c := range l.chars[l.rows[row]:min(char, len(l.chars))] {
		cells += c.cells
	}
	return cells
}

// at is the character of a row that is nearest to a cell, before it.
func (l *TextLine) at(row, cell int) int {
	cells, end := 0, l.end(row)
	for i := l.rows[row]; i < end; i++ {
		cells += l.chars[i].cells
		if cells > cell {
			return i
		}
	}
	if row+1 < len(l.rows) && end > l.rows[row] {
		return end - 1 // the end itself is the next row's
	}
	return end
}

// RowCount is how many rows the line is broken into.
func (l *TextLine) RowCount() int { return len(l.rows) }

// RowStart is the byte at which a row begins.
func (l *TextLine) RowStart(row int) int { return l.offset(l.rows[row]) }

// RowEnd is the byte at which a row ends.
func (l *TextLine) RowEnd(row int) int { return l.offset(l.end(row)) }

// KeepRows cuts off what is behind the first n rows.
func (l *TextLine) KeepRows(n int) {
	char := l.rows[n]
	l.text, l.chars, l.rows = l.text[:l.offset(char)], l.chars[:char], l.rows[:n]
}

// rowText is what a row shows.
func (l *TextLine) rowText(row int) string {
	text := l.text[l.offset(l.rows[row]):l.offset(l.end(row))]
	if row+1 < len(l.rows) {
		return strings.TrimRight(text, " ")
	}
	return text
}
