package kit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/terminal"
	"rookery/ui/theme"
)

// Fit cuts a styled line to at most width cells.
func Fit(line string, width int) string {
	if width <= 0 {
		return ""
	}
	if ansi.StringWidth(line) <= width {
		return line
	}
	return ansi.Truncate(line, width, "…")
}

// Pad makes a styled line exactly width cells wide.
func Pad(line string, width int) string {
	line = Fit(line, width)
	return line + strings.Repeat(" ", max(0, width-ansi.StringWidth(line)))
}

// Spread puts left and right at the ends of a line; right goes first when
// there is no room for both.
func Spread(left, right string, width int) string {
	gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if gap < 1 || right == "" {
		return Fit(left, width)
	}
	return left + strings.Repeat(" ", gap) + right
}

// FitEnd cuts a text to a width and leaves its end, where names of one kind
// differ.
func FitEnd(text string, width int) string {
	if over := ansi.StringWidth(text) - width; over > 0 && width > 0 {
		return ansi.TruncateLeft(text, over+1, "…")
	}
	return Fit(text, width)
}

// besides cuts what is said about a title to the room beside it; where that
// is of no use, it is empty.
func besides(title, detail string, width int) string {
	const useful = 12
	room, needs := width-ansi.StringWidth(title)-1, ansi.StringWidth(detail)
	switch {
	case needs <= room:
		return detail
	case room < useful:
		return ""
	}
	return Fit(detail, room-1)
}

// Overlay draws a box of lines over a screen, in place.
func Overlay(screen []string, width int, box []string, x, y int) {
	for i, line := range box {
		if row := y + i; row >= 0 && row < len(screen) {
			end := x + ansi.StringWidth(line)
			left, right := Pad(ansi.Truncate(screen[row], x, ""), x), rightOf(Pad(screen[row], width), width, end)
			screen[row] = left + "\x1b[m" + line + "\x1b[m" + right
		}
	}
}

// rightOf is a line of a given width from a cell on. A wide character that
// the cut goes through becomes a space.
func rightOf(line string, width, from int) string {
	right := ansi.TruncateLeft(line, from, "")
	for cut := from + 1; ansi.StringWidth(right) > width-from && cut <= width; cut++ {
		right = strings.Repeat(" ", cut-from) + ansi.TruncateLeft(line, cut, "")
	}
	return right
}

// Clean makes text from outside safe to draw.
func Clean(text string) string { return terminal.Clean(text) }

// OneLine is text on a single line, safe to draw.
func OneLine(text string) string { return terminal.Line(text, 0) }

// Wrap breaks plain text into lines of at most width cells.
func Wrap(text string, width int) []string {
	return strings.Split(ansi.Wrap(Clean(text), max(width, 1), ""), "\n")
}

// OneLineOr is OneLine of a text, or another text in the place of an empty one.
func OneLineOr(text, none string) string {
	if text == "" {
		return none
	}
	return OneLine(text)
}

// FormatCount writes a number with its thousands apart: 14,000.
func FormatCount[N int | int64 | uint64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// FormatSize writes a number of bytes, in powers of 1000 as the command line and the
// configuration do: 1.2 MB.
func FormatSize(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// FormatRate writes tokens a second: 42.1, 1,234.
func FormatRate(r float64) string {
	if r >= 100 {
		return FormatCount(int(r + 0.5))
	}
	return fmt.Sprintf("%.1f", r)
}

// NormalizeLineEnds makes the line ends of a terminal's paste plain ones.
func NormalizeLineEnds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// JoinFitting joins parts on one line; those that do not fit are left out from
// the end.
func JoinFitting(parts []string, width int) string {
	line := parts[0]
	for _, p := range parts[1:] {
		if p == "" {
			continue
		}
		if next := line + " · " + p; ansi.StringWidth(next) <= width {
			line = next
		}
	}
	return Fit(line, width)
}

// ParseNumber reads the argument of a command; without one it is otherwise.
func ParseNumber(arg string, otherwise int) (int, error) {
	if arg == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", arg)
	}
	return n, nil
}

// Capitalize begins a text with a capital letter. Its first letter is of ASCII.
func Capitalize(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// PointAt draws the chosen row of a list over its width, with the pointer in its
// first cell. The other rows leave that cell blank.
func PointAt(th theme.Theme, line string, width int) string {
	return th.Chosen.Render(Pad(th.Glyphs.Cursor+ansi.Cut(line, 1, width), width))
}
