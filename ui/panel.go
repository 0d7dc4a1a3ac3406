package ui

import (
	"maps"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// The width that a panel takes beside the messages, its edge included.
const (
	panelNarrow = 36
	panelWide   = 60
	leastBeside = 90 // cells of a screen from which on both fit
)

// panelWidth is how wide a panel is on a screen, and whether it fits beside
// the messages.
func panelWidth(screen int) (width int, beside bool) {
	return min(max(2*screen/5, panelNarrow), panelWide), screen >= leastBeside
}

// A sidePanel is the place for one panel: beside the messages on a wide
// screen, over them on a narrow one.
type sidePanel struct {
	all           map[keys.ID]kit.Panel // by the action that shows each
	id            keys.ID               // of the open one; "": none
	width, height int
}

// addPanels takes over the panels and the strip of the rooms.
func (m *Model) addPanels() {
	m.panel.all = map[keys.ID]kit.Panel{}
	for _, f := range m.features {
		maps.Copy(m.panel.all, f.Panels)
		if f.Strip != nil {
			m.strip = f.Strip
		}
	}
}

// titled are the strip and the panels in the order of the action table.
func (m *Model) titled() []titled {
	var all []titled
	for _, a := range keys.Actions() {
		if p := m.panel.all[a.ID]; p != nil {
			all = append(all, p)
		}
	}
	return append(all, m.strip)
}

// current is the open panel, or nil.
func (p *sidePanel) current() kit.Panel { return p.all[p.id] }

func (p *sidePanel) open() bool { return p.id != "" }

// watches reports whether the panel changes by itself.
func (p *sidePanel) watches() bool {
	w, ok := p.current().(kit.Watcher)
	return ok && w.Watches()
}

// setSize gives the panel its place; a title and an edge go off.
func (p *sidePanel) setSize(width, height int) {
	p.width, p.height = width, height
	if c := p.current(); c != nil {
		c.SetSize(max(0, width-2), max(0, height-1))
	}
}

// draw returns as many lines as the panel is high.
func (p *sidePanel) draw(th theme.Theme, focused bool, hint string) []string {
	edge, title := th.Border, th.Muted
	if focused {
		edge, title = th.BorderFocus, th.Title
	}
	side := edge.Render(th.Glyphs.Vertical) + " "
	lines := []string{kit.Pad(side+kit.Spread(title.Render(p.current().Title()), hint, p.width-2), p.width)}
	for line := range strings.SplitSeq(p.current().Draw(), "\n") {
		lines = append(lines, kit.Pad(side+line, p.width))
	}
	return lines[:min(len(lines), p.height)]
}

// TogglePanel shows the panel of an action, or puts it away. The keyboard goes
// with it, unless it only shows.
func (m *Model) TogglePanel(id keys.ID) tea.Cmd {
	if m.panel.id == id {
		m.closePanel()
		return nil
	}
	m.closePanel()
	m.panel.id = id
	if !m.panel.watches() {
		m.setFocus(keys.Panel)
	}
	m.measure()
	return m.tick()
}

func (m *Model) closePanel() {
	if p, ok := m.panel.current().(kit.Typist); ok {
		p.StopTyping()
	}
	m.panel.id = ""
	if m.focus == keys.Panel {
		m.setFocus(keys.Composer)
	}
}

// focusPanel moves the keyboard between the panel and the prompt.
func (m *Model) focusPanel(string) tea.Cmd {
	switch {
	case !m.panel.open():
		return m.TogglePanel(keys.SamplingPanel)
	case m.focus == keys.Panel:
		m.setFocus(keys.Composer)
	default:
		m.setFocus(keys.Panel)
	}
	return nil
}

// panelKey offers a key to the strip or the panel that has the keyboard; it
// reports whether it was of use.
func (m *Model) panelKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if id, _ := m.keymap.Lookup(keys.Composer, msg.String()); id == keys.Stop && m.notice.failed {
		m.notice = notice{} // as its line says
		return nil, true
	}
	var p interface {
		HandleKey(k tea.KeyPressMsg) (kit.Action, bool)
	} = m.panel.current()
	if m.strip.Focused() {
		p = m.strip
	} else if !m.panel.open() {
		m.setFocus(keys.Composer)
		return nil, false
	}
	action, taken := p.HandleKey(msg)
	return m.carry(action), taken
}

// lookPanel lets the open panel take over what it shows.
func (m *Model) lookPanel() tea.Cmd {
	if !m.panel.open() {
		return nil
	}
	return m.panel.current().Look(m)
}

// pointed is the panel under the pointer if the mouse can change it, with the
// pointer's cell of it.
func (m *Model) pointed(mouse tea.Mouse) (p kit.Pointer, x, y int) {
	p, ok := m.panel.current().(kit.Pointer)
	if !ok {
		return nil, 0, 0
	}
	const edge, title = 2, 1
	return p, mouse.X - m.place.panel.x - edge, mouse.Y - m.place.panel.y - title
}
