package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/infer"
	"rookery/ui/kit"
)

// frameMsg says that something on the workspace has changed and that it is time to look.
type frameMsg struct{}

// tickMsg drives what moves without text arriving: spinners and rates.
type tickMsg struct{}

// frameLoop is what the frame loop remembers. There are two clocks: frames,
// which follow the workspace, and ticks, which run only while something moves.
type frameLoop struct {
	last    time.Time // when the last frame was looked at
	ticking bool
	beat    int // counts ticks, for spinners
}

// How often the screen is brought up to date, at most. What the workspace changes is
// looked at with Settings.FPS. What a key changes is drawn when the library next
// looks, which it does drawFPS times a second while something happens (see
// drawClock): at half the rate a key would wait for up to 22 ms.
const (
	drawFPS         = 90
	defaultFPS      = 30
	unfocusedFPS    = 10
	tickEvery       = 125 * time.Millisecond
	tickUnfocused   = time.Second
	tickPanel       = 500 * time.Millisecond // an open monitor while nothing runs
	statsEvery      = 250 * time.Millisecond
	rateStaysAtMost = 3 * time.Second // until the rates of the last second have come to zero
)

func (m *Model) frameInterval() time.Duration {
	fps := m.settings.fps()
	if m.blurred {
		fps = min(fps, unfocusedFPS)
	}
	return time.Second / time.Duration(fps)
}

// awaitChange waits for the workspace to change and for the next frame to be due.
// It costs nothing while nothing changes, and a burst of changes is one frame.
func (m *Model) awaitChange() tea.Cmd {
	changed, quit, due := m.workspace.Changes(), m.ctx.Done(), m.frames.last.Add(m.frameInterval())
	return func() tea.Msg {
		select {
		case <-changed:
		case <-quit:
			return nil
		}
		if wait := time.Until(due); wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-quit:
				return nil
			}
		}
		return frameMsg{}
	}
}

// showFrame looks at every open dialogue and at the engine.
func (m *Model) showFrame() tea.Cmd {
	m.frames.last = m.clock()
	cmd := m.look()
	if err := m.workspace.Trouble(); err != nil && err.Error() != m.trouble {
		m.trouble = err.Error()
		cmd = tea.Batch(cmd, m.fail(err))
	}
	m.measure()
	return tea.Batch(cmd, m.awaitChange(), m.tick())
}

// look takes over what has changed. Only the active tab's text is drawn; the
// others need no more than their label.
func (m *Model) look() tea.Cmd {
	var cmd tea.Cmd
	for i, t := range m.tabs {
		if t.opening() {
			continue
		}
		before := t.view
		t.view = t.d.View()
		if before.Live != nil && t.view.Live == nil && (i != m.active || m.blurred) {
			t.unread = true
			if m.blurred && m.settings.Bell {
				cmd = ring
			}
		}
		if i == m.active {
			t.transcript.Sync(t.shown())
		}
	}
	cmds := []tea.Cmd{cmd, m.reach(), m.awaited()}
	for _, f := range m.features {
		if f.Look != nil {
			cmds = append(cmds, f.Look(m))
		}
	}
	return tea.Batch(cmds...)
}

// ring asks the terminal for attention.
func ring() tea.Msg { return tea.RawMsg{Msg: "\a"} }

// moving reports whether something on the screen changes without the workspace.
func (m *Model) moving() bool {
	for _, t := range m.tabs {
		if t.generating() || t.view.Loading {
			return true
		}
	}
	return m.monitor.due || m.monitor.settling(m.clock()) || m.panel.watches() && !m.blurred
}

// tick starts the clock of what moves unless it runs or nothing moves.
func (m *Model) tick() tea.Cmd {
	if m.frames.ticking || m.leaving || !m.moving() {
		return nil
	}
	m.frames.ticking = true
	every := tickEvery
	switch {
	case m.blurred:
		every = tickUnfocused
	case !m.generating() && !m.monitor.due && !m.monitor.settling(m.clock()) && !m.tab().view.Loading:
		every = tickPanel
	}
	return m.after(every, tickMsg{})
}

// animate shows the next picture of what moves.
func (m *Model) animate() tea.Cmd {
	m.frames.ticking = false
	m.frames.beat++
	m.tab().transcript.Animate(m.spin())
	m.measure()
	return m.tick()
}

// generating reports whether any tab is.
func (m *Model) generating() bool {
	for _, t := range m.tabs {
		if t.generating() {
			return true
		}
	}
	return false
}

// spin is the present picture of the spinner.
func (m *Model) spin() string { return kit.SpinnerPicture(m.th, m.frames.beat) }

// measure takes the engine's figures, a few times a second at most.
func (m *Model) measure() {
	e := m.workspace.Engine()
	if e == nil {
		return
	}
	now := m.clock()
	soon := now.Sub(m.monitor.taken) < statsEvery
	if soon && m.monitor.due {
		return
	}
	latest, steps := e.Stats(), m.monitor.stats.Steps
	if soon {
		m.monitor.due = latest.Steps != steps // a short answer is over before the next look
		return
	}
	m.monitor.stats, m.monitor.taken, m.monitor.due = latest, now, false
	if s := m.monitor.stats; s.Steps != steps || s.Rows > 0 { // a request may be seen before its first step
		m.monitor.busy = now
	}
	for _, f := range m.features {
		if f.Measure != nil {
			f.Measure(m, m.monitor.stats)
		}
	}
}

// monitor is the strip's memory of the engine.
type monitor struct {
	stats infer.Stats
	taken time.Time
	busy  time.Time // when it was last seen at work
	due   bool      // steps were made since taken, too soon to be looked at
}

// settling reports whether rates are still on their way to zero.
func (m monitor) settling(now time.Time) bool {
	s := m.stats
	return (s.DecodeRate > 0 || s.PrefillRate > 0 || s.Rows > 0) && now.Sub(m.busy) < rateStaysAtMost
}
