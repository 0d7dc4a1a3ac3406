package ui

import (
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// An area is editable text of one or several lines. It is a textarea that is
// as high as its text; what the screen has room for is cut out of it.
type area struct {
	text    textarea.Model
	drawn   []string // of the whole text, nil when it has changed
	top     int      // first line of the window
	changes int      // grows with every change of the text
}

// editing are the keys that the textarea knows for the editing actions: the
// action table decides which keys mean them.
var editing = map[keys.ID]tea.KeyPressMsg{
	keys.CharLeft:       {Code: tea.KeyLeft},
	keys.CharRight:      {Code: tea.KeyRight},
	keys.WordLeft:       {Code: tea.KeyLeft, Mod: tea.ModAlt},
	keys.WordRight:      {Code: tea.KeyRight, Mod: tea.ModAlt},
	keys.LineStart:      {Code: tea.KeyHome},
	keys.LineEnd:        {Code: tea.KeyEnd},
	keys.DeleteLeft:     {Code: tea.KeyBackspace},
	keys.DeleteRight:    {Code: tea.KeyDelete},
	keys.DeleteWord:     {Code: tea.KeyBackspace, Mod: tea.ModAlt},
	keys.DeleteWordNext: {Code: tea.KeyDelete, Mod: tea.ModAlt},
	keys.DeleteToStart:  {Code: 'u', Mod: tea.ModCtrl},
	keys.DeleteToEnd:    {Code: 'k', Mod: tea.ModCtrl},
}

func newArea(th theme.Theme, placeholder string) area {
	t := textarea.New()
	t.Prompt, t.Placeholder, t.ShowLineNumbers = "", placeholder, false
	t.MaxHeight, t.MaxWidth, t.DynamicHeight = 0, 0, true
	t.SetVirtualCursor(false)
	t.Focus()
	a := area{text: t}
	a.setTheme(th)
	return a
}

func (a *area) setTheme(th theme.Theme) {
	plain := textarea.StyleState{Text: th.Text, CursorLine: th.Text, Placeholder: th.Muted, Prompt: lipgloss.NewStyle()}
	a.text.SetStyles(textarea.Styles{Focused: plain, Blurred: plain, Cursor: textarea.CursorStyle{Shape: tea.CursorBar, Blink: true}})
	a.drawn = nil
}

func (a *area) setWidth(width int) {
	if width != a.text.Width() {
		a.text.SetWidth(max(width, 1))
		a.drawn = nil
	}
}

// edit carries out an editing action; it reports false for any other.
func (a *area) edit(id keys.ID) bool {
	press, ok := editing[id]
	if ok {
		a.text, _ = a.text.Update(press)
		a.changed()
	}
	return ok
}

func (a *area) insert(text string) {
	a.text.InsertString(text)
	a.changed()
}

func (a *area) set(text string) {
	a.text.SetValue(text)
	a.text.MoveToEnd()
	a.changed()
}

func (a *area) changed() {
	a.drawn = nil
	a.changes++
}

func (a *area) value() string { return a.text.Value() }

func (a *area) empty() bool { return a.text.LineCount() == 1 && a.text.Length() == 0 }

// up moves the cursor up a line on the screen; it reports false on the first.
func (a *area) up() bool {
	if a.text.Line() == 0 && a.text.LineInfo().RowOffset == 0 {
		return false
	}
	a.text.CursorUp()
	return true
}

// down is up's other direction.
func (a *area) down() bool {
	info := a.text.LineInfo()
	if a.text.Line() == a.text.LineCount()-1 && info.RowOffset+1 >= info.Height {
		return false
	}
	a.text.CursorDown()
	return true
}

// rows is how many lines the text takes on the screen.
func (a *area) rows() int { return a.text.Height() }

// before is the text of the cursor's line up to the cursor.
func (a *area) before() string {
	lines := strings.Split(a.value(), "\n")
	line := []rune(lines[min(a.text.Line(), len(lines)-1)])
	return string(line[:min(a.text.Column(), len(line))])
}

// deleteBefore deletes some characters before the cursor, in its line.
func (a *area) deleteBefore(n int) {
	for range n {
		a.edit(keys.DeleteLeft)
	}
}

// scroll moves the window so that the cursor is in it.
func (a *area) scroll(height int) {
	row := a.cursorRow()
	a.top = max(min(a.top, row), row-height+1)
	a.top = max(0, min(a.top, a.rows()-height))
}

func (a *area) cursorRow() int {
	if c := a.text.Cursor(); c != nil {
		return c.Y
	}
	return 0
}

// draw returns the window's lines, at most height, and the cursor in it. Call
// scroll before, when the text or the height may have changed.
func (a *area) draw(height int) (lines []string, x, y int) {
	if a.drawn == nil {
		a.drawn = strings.Split(strings.TrimRight(a.text.View(), "\n"), "\n")
	}
	end := min(len(a.drawn), a.top+height)
	lines = a.drawn[min(a.top, end):end]
	if c := a.text.Cursor(); c != nil {
		x, y = min(c.X, max(0, a.text.Width()-1)), c.Y-a.top
	}
	return lines, x, min(max(y, 0), max(0, height-1))
}
