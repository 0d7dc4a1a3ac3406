package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// The smallest screen that anything can be shown on.
const (
	minWidth  = 40
	minHeight = 10
)

// A layout is where everything is, in rows of the screen:
//
//	tabs
//	transcript        | panel, on a wide screen
//	heat strip of a mix
//	rule
//	composer
//	hints
//	monitor strip, if there is room
type layout struct {
	text     rect // the transcript
	panel    rect
	rule     int
	composer int // first row
	rows     int // of the composer
	heat     int // first row of the strip of a room, if it has any
	hints    int // first row of the hints or the notice
	strip    int // -1: none
}

// rect is a rectangle in cells.
type rect struct{ x, y, width, height int }

func (a rect) has(x, y int) bool {
	return x >= a.x && x < a.x+a.width && y >= a.y && y < a.y+a.height
}

// tooSmall reports whether the screen cannot show the program.
func (m *Model) tooSmall() bool { return m.width < minWidth || m.height < minHeight }

// arrange gives everything its place. It runs after every message, so that
// nothing needs to be computed while drawing.
func (m *Model) arrange() {
	if m.width <= 0 || m.height <= 0 {
		return
	}
	l := layout{strip: -1, rows: m.tab().composer.SetSize(m.width, m.height/3)}
	bottom := m.height
	if m.height >= 14 {
		bottom--
		l.strip = bottom
	}
	l.hints = bottom - len(m.hintLines())
	l.composer = l.hints - l.rows
	l.rule = l.composer - 1
	m.strip.Look(m)
	l.heat = l.rule - m.strip.Rows(m.width, m.height)
	l.text = rect{0, 1, m.width, max(1, l.heat-1)}
	l.panel = l.text
	if width, beside := panelWidth(m.width); m.panel.open() && beside {
		l.text.width -= width
		l.panel.x, l.panel.width = l.text.width, width
	}
	m.place = l
	m.tab().transcript.SetSize(l.text.width, l.text.height, l.rule)
	m.panel.setSize(l.panel.width, l.panel.height)
	for _, d := range m.dialogs {
		d.Resize(m.width, m.height)
	}
}

// View puts the screen together. It changes nothing.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen, v.ReportFocus = true, true
	v.WindowTitle = "rookery: " + m.tab().title()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.width <= 0 || m.height <= 0 || m.leaving {
		return v
	}
	lines, x, y := m.draw()
	content := strings.Join(lines, "\n")
	if m.ascii {
		content = plainer.Replace(content)
	}
	v.SetContent(content)
	if x >= 0 && x < m.width && y >= 0 && y < m.height {
		v.Cursor = tea.NewCursor(x, y)
		v.Cursor.Shape = tea.CursorBar
	}
	return v
}

// draw returns the lines of the screen and where the cursor is, -1 for nowhere.
func (m *Model) draw() (lines []string, x, y int) {
	if m.tooSmall() {
		return m.drawTooSmall(), -1, -1
	}
	l := m.place
	lines = make([]string, 0, m.height)
	lines = append(lines, drawTabs(m.tabs, m.active, m.th, m.spin(), m.width).line)
	lines = append(lines, m.drawText(l)...)
	lines = append(lines, m.strip.Draw(m.th, m.width, m.height)...)
	lines = append(lines, m.drawRule())
	written, cx, cy := m.tab().composer.Draw(m.focus == keys.Composer)
	lines = append(lines, written...)
	lines = append(lines, m.hintLines()...)
	if l.strip >= 0 {
		lines = append(lines, m.drawStrip())
	}
	x, y = cx, cy+l.composer
	if m.focus != keys.Composer {
		x, y = -1, -1
	}
	if menu := m.tab().composer.DrawMenu(m.width); len(menu) > 0 && m.focus == keys.Composer {
		menu = menu[:min(len(menu), l.rule)]
		kit.Overlay(lines, m.width, menu, 0, l.rule-len(menu))
	}
	for _, d := range m.dialogs {
		b := d.Draw(m.th, m.keymap)
		for i := range b.Lines {
			b.Lines[i] = kit.Fit(b.Lines[i], m.width-b.X)
		}
		kit.Overlay(lines, m.width, b.Lines, b.X, b.Y)
		x, y = b.CursorX, b.CursorY
	}
	return lines, x, y
}

// drawText is the transcript, beside or below the panel.
func (m *Model) drawText(l layout) []string {
	if m.panel.open() && l.panel.width == m.width {
		return m.drawPanel()
	}
	t := m.tab()
	var lines []string
	if t.empty() {
		lines = m.drawEmpty(l.text.width, l.text.height)
	} else {
		lines = t.transcript.Draw()
	}
	if m.panel.open() {
		for i, side := range m.drawPanel() {
			lines[i] = kit.Pad(lines[i], l.text.width) + side
		}
	}
	return lines
}

// drawPanel is the panel with the key that closes it.
func (m *Model) drawPanel() []string {
	hint := kit.HintLine(m.th, 20, m.keymap.Hint(keys.Composer, m.panel.id), "closes")
	return m.panel.draw(m.th, m.focus == keys.Panel && !m.strip.Focused(), hint)
}

// drawEmpty greets, or says that something is on its way.
func (m *Model) drawEmpty(width, height int) []string {
	var content []string
	if m.tab().view.Loading {
		content = []string{m.th.Muted.Render(m.spin() + " Opening the conversations")}
	} else {
		content = m.greeting(min(width-4, 76))
	}
	lines := make([]string, height)
	top := max(0, (height-len(content))/2)
	for i, line := range content {
		if top+i < height {
			lines[top+i] = kit.Fit("  "+line, width)
		}
	}
	return lines
}

func (m *Model) drawTooSmall() []string {
	lines := make([]string, m.height)
	for i, line := range kit.Wrap("The window is too small: rookery needs 40 columns and 10 rows.", m.width) {
		if i < m.height {
			lines[i] = kit.Fit(line, m.width)
		}
	}
	return lines
}
