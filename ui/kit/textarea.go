package kit

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A TextArea is editable text of one or several lines. Its cursor moves by what a
// person sees as a character, and a key costs the line it is typed in, not
// the text: the text area of the Bubbles library lays out everything again
// with each key.
type TextArea struct {
	lines       []TextLine // at least one
	row, col    int        // the cursor: a line, and a character of it
	goal        int        // cell that moving up and down aims at, -1: the cursor's
	width       int
	top         int // first visible row of the window
	edits       int // grows with every change of the text
	changes     changes
	placeholder string
	ink, faint  lipgloss.Style
}

// NewTextArea is an empty text.
func NewTextArea(th theme.Theme, placeholder string) TextArea {
	a := TextArea{lines: []TextLine{NewTextLine("", 1)}, goal: -1, width: 1, placeholder: placeholder}
	a.SetTheme(th)
	return a
}

// SetTheme changes the looks.
func (a *TextArea) SetTheme(th theme.Theme) { a.ink, a.faint = th.Text, th.Muted }

// SetWidth sets where lines are broken; the cursor may stand one cell behind.
func (a *TextArea) SetWidth(width int) {
	width = max(width, 1)
	if width == a.width {
		return
	}
	a.width = width
	for i := range a.lines {
		a.lines[i].wrap(width)
	}
}

// Changes grows with every change of the text.
func (a *TextArea) Changes() int { return a.edits }

// LineCount is how many lines the text has.
func (a *TextArea) LineCount() int { return len(a.lines) }

// Value is the whole text.
func (a *TextArea) Value() string {
	all := make([]string, len(a.lines))
	for i, l := range a.lines {
		all[i] = l.text
	}
	return strings.Join(all, "\n")
}

// Empty says that there is no text.
func (a *TextArea) Empty() bool { return len(a.lines) == 1 && a.lines[0].text == "" }

// Set replaces the text and puts the cursor at its end.
func (a *TextArea) Set(text string) {
	a.replace(0, len(a.lines), []TextLine{NewTextLine("", a.width)})
	a.row, a.col, a.top, a.goal = 0, 0, 0, -1
	a.insert(text) // which belongs to the same change
	a.changes.undo[len(a.changes.undo)-1].fresh = len(a.lines)
}

// Insert puts text before the cursor.
func (a *TextArea) Insert(text string) {
	if text == "" {
		return
	}
	a.noteTyped(text)
	a.note(a.row, a.row+1, 1+strings.Count(Clean(text), "\n"))
	a.insert(text)
	a.changes.after = a.cursor()
}

// insert is Insert without a way back.
func (a *TextArea) insert(text string) {
	parts := strings.Split(Clean(text), "\n")
	line := a.lines[a.row]
	before, after := line.text[:line.offset(a.col)], line.text[line.offset(a.col):]
	parts[0] = before + parts[0]
	last := len(parts) - 1
	end := len(parts[last])
	parts[last] += after
	fresh := make([]TextLine, len(parts))
	for i, p := range parts {
		fresh[i] = NewTextLine(p, a.width)
	}
	a.put(a.row, a.row+1, fresh)
	a.row += last
	a.col = a.lines[a.row].character(end)
	a.goal = -1
}

// replace puts fresh lines in the place of those from first up to end, and can
// be taken back.
func (a *TextArea) replace(first, end int, fresh []TextLine) {
	a.note(first, end, len(fresh))
	a.put(first, end, fresh)
}

// put is replace without a way back.
func (a *TextArea) put(first, end int, fresh []TextLine) {
	a.edits++
	if len(fresh) == end-first {
		copy(a.lines[first:end], fresh)
		return
	}
	a.lines = append(a.lines[:first:first], append(fresh, a.lines[end:]...)...)
}

// Before is the text of the cursor's line up to the cursor.
func (a *TextArea) Before() string {
	line := &a.lines[a.row]
	return line.text[:line.offset(a.col)]
}

// UpToCursor is the text before the cursor.
func (a *TextArea) UpToCursor() string {
	var b strings.Builder
	for _, l := range a.lines[:a.row] {
		b.WriteString(l.text + "\n")
	}
	return b.String() + a.Before()
}

// A position is a place between two characters.
type position struct{ row, col int }

func (a *TextArea) cursor() position { return position{a.row, a.col} }

// delete removes what lies between two positions, in any order.
func (a *TextArea) delete(from, to position) {
	if to.row < from.row || to.row == from.row && to.col < from.col {
		from, to = to, from
	}
	if from == to {
		return
	}
	if from.row == to.row && to.col == from.col+1 {
		a.changes.run = deleting
	}
	first, last := &a.lines[from.row], &a.lines[to.row]
	at := first.offset(from.col)
	joined := NewTextLine(first.text[:at]+last.text[last.offset(to.col):], a.width)
	a.replace(from.row, to.row+1, []TextLine{joined})
	a.row, a.goal = from.row, -1
	a.col = a.lines[a.row].character(at)
	a.changes.after = a.cursor()
}

// DeleteBefore removes some bytes of the cursor's line before the cursor.
func (a *TextArea) DeleteBefore(bytes int) {
	line := &a.lines[a.row]
	a.delete(position{a.row, line.character(max(0, line.offset(a.col)-bytes))}, a.cursor())
}

// motions are the places that editing actions move to, or delete up to.
var motions = map[keys.ID]func(a *TextArea) position{
	keys.CharLeft: (*TextArea).left, keys.CharRight: (*TextArea).right,
	keys.WordLeft: (*TextArea).wordLeft, keys.WordRight: (*TextArea).wordRight,
	keys.LineStart: (*TextArea).lineStart, keys.LineEnd: (*TextArea).lineEnd,
}

var deletions = map[keys.ID]func(a *TextArea) position{
	keys.DeleteLeft: (*TextArea).left, keys.DeleteRight: (*TextArea).right,
	keys.DeleteWord: (*TextArea).wordLeft, keys.DeleteWordNext: (*TextArea).wordRight,
	keys.DeleteToStart: (*TextArea).lineStart, keys.DeleteToEnd: (*TextArea).lineEnd,
}

// IsEdit reports whether an action is one of text editing.
func IsEdit(id keys.ID) bool { return motions[id] != nil || deletions[id] != nil }

// Edit carries out an editing action; it reports false for any other.
func (a *TextArea) Edit(id keys.ID) bool {
	if to, ok := motions[id]; ok {
		p := to(a)
		a.row, a.col, a.goal = p.row, p.col, -1
		return true
	}
	to, ok := deletions[id]
	if ok {
		p := to(a)
		if p == a.cursor() && id == keys.DeleteToStart { // at the edge of a line, its end goes
			p = a.left()
		}
		if p == a.cursor() && id == keys.DeleteToEnd {
			p = a.right()
		}
		a.delete(a.cursor(), p)
	}
	return ok
}

func (a *TextArea) left() position {
	switch {
	case a.col > 0:
		return position{a.row, a.col - 1}
	case a.row > 0:
		return position{a.row - 1, a.lines[a.row-1].len()}
	}
	return a.cursor()
}

func (a *TextArea) right() position {
	switch {
	case a.col < a.lines[a.row].len():
		return position{a.row, a.col + 1}
	case a.row < len(a.lines)-1:
		return position{a.row + 1, 0}
	}
	return a.cursor()
}

func (a *TextArea) wordLeft() position {
	line, col := &a.lines[a.row], a.col
	if col == 0 {
		return a.left()
	}
	for col > 0 && line.space(col-1) {
		col--
	}
	for col > 0 && !line.space(col-1) {
		col--
	}
	return position{a.row, col}
}

func (a *TextArea) wordRight() position {
	line, col := &a.lines[a.row], a.col
	if col == line.len() {
		return a.right()
	}
	for col < line.len() && line.space(col) {
		col++
	}
	for col < line.len() && !line.space(col) {
		col++
	}
	return position{a.row, col}
}

func (a *TextArea) lineStart() position { return position{a.row, 0} }
func (a *TextArea) lineEnd() position   { return position{a.row, a.lines[a.row].len()} }

// Up moves the cursor up a row of the screen; it reports false on the first.
func (a *TextArea) Up() bool { return a.vertical(-1) }

// Down is up's other direction.
func (a *TextArea) Down() bool { return a.vertical(1) }

func (a *TextArea) vertical(by int) bool {
	line := &a.lines[a.row]
	row := line.rowOf(a.col)
	if a.goal < 0 {
		a.goal = line.cell(row, a.col)
	}
	to := row + by
	switch {
	case to < 0 && a.row == 0 || to >= len(line.rows) && a.row == len(a.lines)-1:
		return false
	case to < 0:
		a.row--
		to = len(a.lines[a.row].rows) - 1
	case to >= len(line.rows):
		a.row++
		to = 0
	}
	a.col = a.lines[a.row].at(to, a.goal)
	return true
}

// Rows is how many rows the text takes on the screen.
func (a *TextArea) Rows() int {
	n := 0
	for i := range a.lines {
		n += len(a.lines[i].rows)
	}
	return n
}

// place is the cursor's row and cell in the whole text.
func (a *TextArea) place() (row, cell int) {
	for i := range a.row {
		row += len(a.lines[i].rows)
	}
	r := a.lines[a.row].rowOf(a.col)
	return row + r, a.lines[a.row].cell(r, a.col)
}

// Scroll moves the window so that the cursor is in it.
func (a *TextArea) Scroll(height int) {
	row, _ := a.place()
	a.top = max(min(a.top, row), row-height+1)
	a.top = max(0, min(a.top, a.Rows()-height))
}

// Draw returns the rows in the window, at most height, and where the cursor is
// in it. Call scroll before, when the text or the height may have changed.
func (a *TextArea) Draw(height int) (lines []string, x, y int) {
	if a.Empty() {
		return []string{a.faint.Render(Fit(a.placeholder, a.width))}, 0, 0
	}
	n := 0
	for i := range a.lines {
		for r := range a.lines[i].rows {
			if n >= a.top && n < a.top+height {
				lines = append(lines, a.ink.Render(ansi.Truncate(a.lines[i].rowText(r), a.width, "")))
			}
			n++
		}
	}
	row, cell := a.place()
	return lines, min(cell, a.width), min(max(row-a.top, 0), max(0, height-1))
}
