package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// An area is editable text of one or several lines. Its cursor moves by what a
// person sees as a character, and a key costs the line it is typed in, not
// the text: the text area of the Bubbles library lays out everything again
// with each key.
type area struct {
	lines       []textLine // at least one
	row, col    int        // the cursor: a line, and a character of it
	goal        int        // cell that moving up and down aims at, -1: the cursor's
	width       int
	top         int // first visible row of the window
	changes     int // grows with every change of the text
	placeholder string
	ink, faint  lipgloss.Style
}

func newArea(th theme.Theme, placeholder string) area {
	a := area{lines: []textLine{newTextLine("", 1)}, goal: -1, width: 1, placeholder: placeholder}
	a.setTheme(th)
	return a
}

func (a *area) setTheme(th theme.Theme) { a.ink, a.faint = th.Text, th.Muted }

// setWidth sets where lines are broken; the cursor may stand one cell behind.
func (a *area) setWidth(width int) {
	width = max(width, 1)
	if width == a.width {
		return
	}
	a.width = width
	for i := range a.lines {
		a.lines[i].wrap(width)
	}
}

// value is the whole text.
func (a *area) value() string {
	all := make([]string, len(a.lines))
	for i, l := range a.lines {
		all[i] = l.text
	}
	return strings.Join(all, "\n")
}

func (a *area) empty() bool { return len(a.lines) == 1 && a.lines[0].text == "" }

// set replaces the text and puts the cursor at its end.
func (a *area) set(text string) {
	a.lines, a.row, a.col, a.top = []textLine{newTextLine("", a.width)}, 0, 0, 0
	a.insert(text)
}

// insert puts text before the cursor.
func (a *area) insert(text string) {
	parts := strings.Split(clean(text), "\n")
	line := a.lines[a.row]
	before, after := line.text[:line.offset(a.col)], line.text[line.offset(a.col):]
	parts[0] = before + parts[0]
	last := len(parts) - 1
	end := len(parts[last])
	parts[last] += after
	fresh := make([]textLine, len(parts))
	for i, p := range parts {
		fresh[i] = newTextLine(p, a.width)
	}
	a.replace(a.row, a.row+1, fresh)
	a.row += last
	a.col = a.lines[a.row].character(end)
	a.goal = -1
}

// replace puts fresh lines in the place of those from first up to end.
func (a *area) replace(first, end int, fresh []textLine) {
	a.changes++
	if len(fresh) == end-first {
		copy(a.lines[first:end], fresh)
		return
	}
	a.lines = append(a.lines[:first:first], append(fresh, a.lines[end:]...)...)
}

// before is the text of the cursor's line up to the cursor.
func (a *area) before() string {
	line := &a.lines[a.row]
	return line.text[:line.offset(a.col)]
}

// upToCursor is the text before the cursor.
func (a *area) upToCursor() string {
	var b strings.Builder
	for _, l := range a.lines[:a.row] {
		b.WriteString(l.text + "\n")
	}
	return b.String() + a.before()
}

// A position is a place between two characters.
type position struct{ row, col int }

func (a *area) cursor() position { return position{a.row, a.col} }

// delete removes what lies between two positions, in any order.
func (a *area) delete(from, to position) {
	if to.row < from.row || to.row == from.row && to.col < from.col {
		from, to = to, from
	}
	if from == to {
		return
	}
	first, last := &a.lines[from.row], &a.lines[to.row]
	at := first.offset(from.col)
	joined := newTextLine(first.text[:at]+last.text[last.offset(to.col):], a.width)
	a.replace(from.row, to.row+1, []textLine{joined})
	a.row, a.goal = from.row, -1
	a.col = a.lines[a.row].character(at)
}

// deleteBefore removes some bytes of the cursor's line before the cursor.
func (a *area) deleteBefore(bytes int) {
	line := &a.lines[a.row]
	a.delete(position{a.row, line.character(max(0, line.offset(a.col)-bytes))}, a.cursor())
}

// motions are the places that editing actions move to, or delete up to.
var motions = map[keys.ID]func(a *area) position{
	keys.CharLeft: (*area).left, keys.CharRight: (*area).right,
	keys.WordLeft: (*area).wordLeft, keys.WordRight: (*area).wordRight,
	keys.LineStart: (*area).lineStart, keys.LineEnd: (*area).lineEnd,
}

var deletions = map[keys.ID]func(a *area) position{
	keys.DeleteLeft: (*area).left, keys.DeleteRight: (*area).right,
	keys.DeleteWord: (*area).wordLeft, keys.DeleteWordNext: (*area).wordRight,
	keys.DeleteToStart: (*area).lineStart, keys.DeleteToEnd: (*area).lineEnd,
}

// edits reports whether an action is one of text editing.
func edits(id keys.ID) bool { return motions[id] != nil || deletions[id] != nil }

// edit carries out an editing action; it reports false for any other.
func (a *area) edit(id keys.ID) bool {
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

func (a *area) left() position {
	switch {
	case a.col > 0:
		return position{a.row, a.col - 1}
	case a.row > 0:
		return position{a.row - 1, a.lines[a.row-1].len()}
	}
	return a.cursor()
}

func (a *area) right() position {
	switch {
	case a.col < a.lines[a.row].len():
		return position{a.row, a.col + 1}
	case a.row < len(a.lines)-1:
		return position{a.row + 1, 0}
	}
	return a.cursor()
}

func (a *area) wordLeft() position {
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

func (a *area) wordRight() position {
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

func (a *area) lineStart() position { return position{a.row, 0} }
func (a *area) lineEnd() position   { return position{a.row, a.lines[a.row].len()} }

// up moves the cursor up a row of the screen; it reports false on the first.
func (a *area) up() bool { return a.vertical(-1) }

// down is up's other direction.
func (a *area) down() bool { return a.vertical(1) }

func (a *area) vertical(by int) bool {
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

// rows is how many rows the text takes on the screen.
func (a *area) rows() int {
	n := 0
	for i := range a.lines {
		n += len(a.lines[i].rows)
	}
	return n
}

// place is the cursor's row and cell in the whole text.
func (a *area) place() (row, cell int) {
	for i := range a.row {
		row += len(a.lines[i].rows)
	}
	r := a.lines[a.row].rowOf(a.col)
	return row + r, a.lines[a.row].cell(r, a.col)
}

// scroll moves the window so that the cursor is in it.
func (a *area) scroll(height int) {
	row, _ := a.place()
	a.top = max(min(a.top, row), row-height+1)
	a.top = max(0, min(a.top, a.rows()-height))
}

// draw returns the rows in the window, at most height, and where the cursor is
// in it. Call scroll before, when the text or the height may have changed.
func (a *area) draw(height int) (lines []string, x, y int) {
	if a.empty() {
		return []string{a.faint.Render(fit(a.placeholder, a.width))}, 0, 0
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
