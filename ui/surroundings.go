package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/panel"
)

// What the monitor shows besides the engine's own figures. Nothing of this is
// read while the panel is closed.

// aroundEvery is how often GPUs, memory and disk are looked at.
const aroundEvery = time.Second

// An surroundings reads what is around the engine, in the background.
type surroundings struct {
	read   func() panel.Surroundings // may be nil; blocks
	asked  bool                      // a command is at work
	looked time.Time
}

// surroundingsMsg brings what was read.
type surroundingsMsg struct{ s panel.Surroundings }

// readSurroundings reads the surroundings once a second while the monitor is open.
func (m *Model) readSurroundings() tea.Cmd {
	a, now := &m.surroundings, m.clock()
	if a.read == nil || m.panel.kind != monitorPanel || a.asked || now.Sub(a.looked) < aroundEvery {
		return nil
	}
	a.asked, a.looked = true, now
	read := a.read
	return func() tea.Msg { return surroundingsMsg{read()} }
}

func (m *Model) onSurroundings(msg surroundingsMsg) {
	m.surroundings.asked = false
	m.panel.monitor.SetSurroundings(msg.s)
}

// The bounds of what is remembered of the pace of answers.
const (
	pacedAnswers = 64
	pacedParts   = 400 // of one answer
	paceSpan     = 500 * time.Millisecond
)

// paces are what the tokens of answers cost, as they were generated while the
// program ran; places are relative to the answer's beginning.
type paces struct {
	order []turn.ID // the answer begun last at the end
	parts map[turn.ID][]panel.Pace
	since map[turn.ID]paceMark // of running answers
}

// A paceMark is how far an answer was at a moment.
type paceMark struct {
	at        time.Time
	generated int
}

// note takes down how far a running answer is.
func (p *paces) note(live *chat.Live, now time.Time) {
	id, n := live.Turn.ID, live.Progress.Generated
	if p.parts == nil {
		p.parts, p.since = map[turn.ID][]panel.Pace{}, map[turn.ID]paceMark{}
	}
	mark, known := p.since[id]
	if !known || n < mark.generated { // it begins, or goes on
		p.begin(id)
		p.since[id] = paceMark{now, n}
		return
	}
	if n == 0 {
		p.since[id] = paceMark{now, 0}
	}
	took := now.Sub(mark.at)
	if n == mark.generated || took < paceSpan || len(p.parts[id]) >= pacedParts {
		return
	}
	if mark.generated > 0 { // before the first token the prompt was read
		from := len(live.Turn.Tokens)
		p.parts[id] = append(p.parts[id], panel.Pace{From: from + mark.generated, To: from + n, PerToken: took / time.Duration(n-mark.generated)})
	}
	p.since[id] = paceMark{now, n}
}

// begin makes room for an answer.
func (p *paces) begin(id turn.ID) {
	if _, known := p.parts[id]; known {
		return
	}
	p.parts[id] = nil
	if p.order = append(p.order, id); len(p.order) > pacedAnswers {
		delete(p.parts, p.order[0])
		delete(p.since, p.order[0])
		p.order = p.order[1:]
	}
}

// of is what the tokens of a conversation have cost: as it was noted or, of
// answers of other times, by what their turns say.
func (p *paces) of(v chat.View) []panel.Pace {
	var all []panel.Pace
	at := 0
	add := func(id turn.ID) bool {
		for _, part := range p.parts[id] {
			all = append(all, panel.Pace{From: at + part.From, To: at + part.To, PerToken: part.PerToken})
		}
		return len(p.parts[id]) > 0
	}
	for _, t := range v.Turns {
		u := t.Usage
		if t.Role == turn.RoleAssistant && !add(t.ID) && u.Generated > 1 && u.DecodeTime > 0 {
			all = append(all, panel.Pace{From: at, To: at + u.Generated, PerToken: u.DecodeTime / time.Duration(u.Generated)})
		}
		at += len(t.Tokens)
	}
	if v.Live != nil {
		add(v.Live.Turn.ID)
	}
	return all
}

// notePaces takes down how far the running answers are, and shows the monitor
// those of the conversation in sight.
func (m *Model) notePaces(now time.Time) {
	for _, t := range m.tabs {
		if t.view.Live != nil {
			m.paces.note(t.view.Live, now)
		}
	}
	if m.panel.kind == monitorPanel {
		m.panel.monitor.SetPaces(m.paces.of(m.tab().view))
	}
}
