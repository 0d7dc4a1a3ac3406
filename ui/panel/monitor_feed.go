package panel

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/kit"
)

// What is fed to the monitor: the engine's figures and the pace of answers all
// the time, what is around the engine while it is open.

// surroundingsEvery is how often GPUs, memory and disk are looked at.
const surroundingsEvery = time.Second

// Watches says that the monitor changes by itself.
func (m *Monitor) Watches() bool { return true }

// Look reads what is around the engine, once a second.
func (m *Monitor) Look(h kit.Host) tea.Cmd {
	if m.read == nil || m.reading || h.Now().Sub(m.readAt) < surroundingsEvery {
		return nil
	}
	m.reading, m.readAt = true, h.Now()
	return kit.Await(func() (Surroundings, error) { return m.read(), nil }, func(_ kit.Host, s Surroundings, _ error) tea.Cmd {
		m.reading = false
		m.SetSurroundings(s)
		return nil
	})
}

// measure takes the engine's figures, and how far the running answers are.
func (m *Monitor) measure(h kit.Host, s infer.Stats) {
	if model := h.Model(); model != nil {
		const float = 4
		m.state = float * int64(model.Shape.StateLen())
	}
	now := h.Now()
	m.Push(now, s)
	for _, t := range h.Tabs() {
		if live := t.View().Live; live != nil {
			m.noted.note(live, now)
		}
	}
	m.SetPaces(m.noted.of(h.Tab().View()))
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
	parts map[turn.ID][]Pace
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
		p.parts, p.since = map[turn.ID][]Pace{}, map[turn.ID]paceMark{}
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
		p.parts[id] = append(p.parts[id], Pace{From: from + mark.generated, To: from + n, PerToken: took / time.Duration(n-mark.generated)})
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
func (p *paces) of(v chat.View) []Pace {
	var all []Pace
	at := 0
	add := func(id turn.ID) bool {
		for _, part := range p.parts[id] {
			all = append(all, Pace{From: at + part.From, To: at + part.To, PerToken: part.PerToken})
		}
		return len(p.parts[id]) > 0
	}
	for _, t := range v.Turns {
		u := t.Usage
		if t.Role == turn.RoleAssistant && !add(t.ID) && u.Rate() > 0 {
			all = append(all, Pace{From: at, To: at + u.Generated, PerToken: u.DecodeTime / time.Duration(u.Generated-1)})
		}
		at += len(t.Tokens)
	}
	if v.Live != nil {
		add(v.Live.Turn.ID)
	}
	return all
}
