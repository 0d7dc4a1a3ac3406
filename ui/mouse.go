package ui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

const wheelLines = 3

// onMouse gives the mouse to what is under it.
func (m *Model) onMouse(msg tea.MouseMsg) tea.Cmd {
	if m.tooSmall() {
		return nil
	}
	mouse := msg.Mouse()
	if len(m.dialogs) > 0 {
		return m.onDialogMouse(msg)
	}
	t := m.tab().transcript
	x, y := mouse.X-m.place.text.x, mouse.Y-m.place.text.y
	switch msg.(type) {
	case tea.MouseWheelMsg:
		m.onWheel(mouse)
	case tea.MouseClickMsg:
		return m.onClick(mouse, x, y)
	case tea.MouseMotionMsg:
		if p, x, y := m.pointed(mouse); p != nil && !t.Dragging() {
			return m.carry(p.Drag(x, y))
		}
		t.Drag(x, y)
	case tea.MouseReleaseMsg:
		if p, _, _ := m.pointed(mouse); p != nil {
			p.Release()
		}
		return m.carry(t.Release())
	}
	return nil
}

// onWheel scrolls what is under the pointer.
func (m *Model) onWheel(mouse tea.Mouse) {
	by := 1
	switch mouse.Button {
	case tea.MouseWheelDown:
	case tea.MouseWheelUp:
		by = -1
	default:
		return
	}
	if m.panel.open() && m.place.panel.has(mouse.X, mouse.Y) {
		m.panel.current().Wheel(by)
		return
	}
	m.tab().transcript.ScrollBy(by * wheelLines)
}

// onClick is a button going down.
func (m *Model) onClick(mouse tea.Mouse, x, y int) tea.Cmd {
	t := m.tab().transcript
	switch {
	case mouse.Y == 0:
		return m.onTabClick(mouse)
	case mouse.Button != tea.MouseLeft:
		return nil
	case m.panel.open() && m.place.panel.has(mouse.X, mouse.Y):
		m.setFocus(keys.Panel)
		if p, x, y := m.pointed(mouse); p != nil {
			return m.carry(p.Press(x, y))
		}
	case m.place.text.has(mouse.X, mouse.Y):
		t.Press(x, y)
	case mouse.Y >= m.place.heat && mouse.Y < m.place.rule:
		return m.carry(m.strip.Press(mouse.X, m.width))
	case mouse.Y >= m.place.composer && mouse.Y < m.place.hints:
		m.setFocus(keys.Composer)
	}
	return nil
}

// onTabClick switches, opens or, with the middle button, closes tabs.
func (m *Model) onTabClick(mouse tea.Mouse) tea.Cmd {
	strip := drawTabs(m.tabs, m.active, m.th, m.spin(), m.width)
	i, ok := strip.hit(mouse.X)
	switch {
	case !ok:
		return nil
	case i == newTabSpot && mouse.Button == tea.MouseLeft:
		return m.act(keys.NewTab, "")
	case i == newTabSpot:
		return nil
	}
	m.goTo(i)
	if mouse.Button == tea.MouseMiddle {
		return m.act(keys.CloseTab, "")
	}
	return nil
}

// onDialogMouse gives the mouse to the topmost dialog; a click beside it closes
// it, unless it stays.
func (m *Model) onDialogMouse(msg tea.MouseMsg) tea.Cmd {
	d := m.dialogs[len(m.dialogs)-1]
	mouse := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		by, ok := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[mouse.Button]
		if ok {
			b := d.Draw(m.th, m.keymap)
			return m.carry(d.Wheel(by, mouse.X-b.X, mouse.Y-b.Y))
		}
	case tea.MouseClickMsg:
		b := d.Draw(m.th, m.keymap)
		width := 0
		if len(b.Lines) > 0 {
			width = ansi.StringWidth(b.Lines[0])
		}
		inside := rect{b.X, b.Y, width, len(b.Lines)}.has(mouse.X, mouse.Y)
		if !inside && holdsWork(d) {
			return nil
		}
		if !inside {
			return m.carry(d.Press(keys.ListCancel, ""))
		}
		return m.carry(d.Click(mouse.X-b.X, mouse.Y-b.Y))
	}
	return nil
}

// holdsWork says that a click beside a dialog does not close it.
func holdsWork(d kit.Dialog) bool {
	h, ok := d.(kit.Holder)
	return ok && h.HoldsWork()
}
