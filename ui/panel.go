package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/panel"
	"rookery/ui/theme"
)

// The width that a panel takes beside the messages, its edge included.
const (
	panelNarrow = 44
	panelWide   = 60
)

// panelWidth is how wide a panel is on a screen, and whether it fits beside
// the messages.
func panelWidth(screen int) (width int, beside bool) {
	return min(max(screen/3, panelNarrow), panelWide), screen >= 2*panelNarrow+20
}

type panelKind int

const (
	noPanel panelKind = iota
	samplingPanel
	monitorPanel
	mixerPanel
	adaptersPanel
)

// A sidePanel is the place for one panel: beside the messages on a wide
// screen, over them on a narrow one. The panels themselves live as long as the
// program, so that the monitor remembers.
type sidePanel struct {
	kind          panelKind
	sampling      *panel.Sampling
	monitor       *panel.Monitor
	mixer         *panel.Mixer
	adapters      *panel.Adapters
	width, height int
}

func newSidePanel(th theme.Theme, model *infer.Model) sidePanel {
	monitor := panel.NewMonitor(th)
	if model != nil {
		const float = 4
		monitor.SetStateBytes(float * int64(model.Shape.StateLen()))
	}
	var name func(int32) string
	if model != nil && model.Tokenizer != nil {
		name = func(id int32) string { return string(model.Tokenizer.Bytes(id)) }
	}
	return sidePanel{sampling: panel.NewSampling(th, prompt.Presets(model), name), monitor: monitor, mixer: panel.NewMixer(th), adapters: panel.NewAdapters(th)}
}

// current is the open panel, or nil.
func (p *sidePanel) current() panel.Panel {
	switch p.kind {
	case samplingPanel:
		return p.sampling
	case monitorPanel:
		return p.monitor
	case mixerPanel:
		return p.mixer
	case adaptersPanel:
		return p.adapters
	}
	return nil
}

func (p *sidePanel) open() bool { return p.kind != noPanel }

// watches reports whether the panel changes by itself.
func (p *sidePanel) watches() bool { return p.kind == monitorPanel }

func (p *sidePanel) setTheme(th theme.Theme) {
	p.sampling.SetTheme(th)
	p.monitor.SetTheme(th)
	p.mixer.SetTheme(th)
	p.adapters.SetTheme(th)
}

// setSize gives the panel its place; a title and an edge go off.
func (p *sidePanel) setSize(width, height int) {
	p.width, p.height = width, height
	if c := p.current(); c != nil {
		c.SetSize(max(0, width-2), max(0, height-1))
	}
}

// add gives the monitor a sample.
func (p *sidePanel) add(s infer.Stats, now time.Time) { p.monitor.Push(now, s) }

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

// togglePanel opens a panel with the keyboard, or closes it. The monitor only
// shows: the keyboard stays with the prompt.
func (m *Model) togglePanel(kind panelKind) tea.Cmd {
	if m.panel.kind == kind {
		m.closePanel()
		return nil
	}
	m.closePanel()
	m.panel.kind = kind
	m.syncPanel()
	if kind != monitorPanel {
		m.setFocus(keys.Panel)
	}
	m.measure()
	return m.tick()
}

func (m *Model) closePanel() {
	if p, ok := m.panel.current().(panel.Typist); ok {
		p.StopTyping()
	}
	m.panel.kind = noPanel
	if m.focus == keys.Panel {
		m.setFocus(keys.Composer)
	}
}

// focusPanel moves the keyboard between the panel and the prompt.
func (m *Model) focusPanel(string) tea.Cmd {
	switch {
	case !m.panel.open():
		return m.togglePanel(samplingPanel)
	case m.focus == keys.Panel:
		m.setFocus(keys.Composer)
	default:
		m.setFocus(keys.Panel)
	}
	return nil
}

// panelKey offers a key to the panel; it reports whether it was of use.
func (m *Model) panelKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if id, _ := m.keymap.Lookup(keys.Composer, msg.String()); id == keys.Stop && m.notice.failed {
		m.notice = notice{} // as its line says
		return nil, true
	}
	if m.heat.focused {
		return nil, m.heatKey(msg)
	}
	p := m.panel.current()
	if p == nil {
		m.setFocus(keys.Composer)
		return nil, false
	}
	action, taken := p.HandleKey(msg)
	return m.panelAsks(action), taken
}

// panelAsks does what a panel asks for.
func (m *Model) panelAsks(action panel.Action) tea.Cmd {
	switch action := action.(type) {
	case panel.Close:
		m.closePanel()
	case panel.SetSampling:
		err := m.tab().d.SetSampling(action.Params, action.Preset)
		return tea.Batch(m.report("", err), m.look())
	case panel.SetMix:
		return m.setMix(action.Mix)
	case panel.AddState:
		return m.addToMix()
	case panel.MixPresets:
		return m.savedMixes("")
	case panel.SaveMix:
		return m.saveMix("")
	}
	return m.adapterAsks(action)
}

// pointed is the panel under the pointer if the mouse can change it, with the
// pointer's cell of it.
func (m *Model) pointed(mouse tea.Mouse) (p panel.Pointer, x, y int) {
	if !m.panel.open() {
		return nil, 0, 0
	}
	p, ok := m.panel.current().(panel.Pointer)
	if !ok {
		return nil, 0, 0
	}
	const edge, title = 2, 1
	return p, mouse.X - m.place.panel.x - edge, mouse.Y - m.place.panel.y - title
}

// syncPanel tells the open panel what the conversation uses.
func (m *Model) syncPanel() {
	switch m.panel.kind {
	case mixerPanel:
		m.syncMixer()
	case adaptersPanel:
		m.syncAdapters()
	}
	if m.panel.kind != samplingPanel {
		return
	}
	v := m.tab().view
	m.panel.sampling.Set(v.Conversation.Sampling, v.Conversation.Preset)
	for i := len(v.Turns) - 1; i >= 0; i-- {
		if v.Turns[i].Role == turn.RoleAssistant {
			m.panel.sampling.SetLastSeed(v.Turns[i].Sampling.Seed)
			break
		}
	}
}

// TogglePanel shows the panel of an action, or puts it away.
func (m *Model) TogglePanel(id keys.ID) tea.Cmd {
	return m.togglePanel(map[keys.ID]panelKind{
		keys.SamplingPanel: samplingPanel, keys.MonitorPanel: monitorPanel, keys.Mix: mixerPanel, keys.Adapters: adaptersPanel,
	}[id])
}
