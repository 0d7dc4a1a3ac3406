package ui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
)

// The candidates of the sampling panel: what the token after the head would be
// chosen from or, while an answer runs, what its latest token was. Nothing of
// this happens while the panel is closed.

// An outlookDialogue is the part of a dialogue that candidates come from.
// Outlook blocks and is called in commands only.
type outlookDialogue interface {
	RecentDistribution() *chat.Distribution
	NextDistribution(ctx context.Context) (*chat.Distribution, error)
}

func (opening) RecentDistribution() *chat.Distribution                       { return nil }
func (opening) NextDistribution(context.Context) (*chat.Distribution, error) { return nil, errOpening }

// lookEvery is how often the latest token of a running answer is looked at.
const lookEvery = 200 * time.Millisecond

// An distribution is what the sampling panel shows the candidates of.
type distribution struct {
	of     string    // place in the conversation, see placeOf; "" is none
	asked  bool      // a command is at work
	looked time.Time // when a running answer last was
}

// distributionMsg brings the outlook of a place.
type distributionMsg struct {
	of  string
	o   *chat.Distribution
	err error
}

// placeOf names what the next token of a conversation depends on, but for the
// parameters.
func placeOf(v chat.View) string {
	c := v.Conversation
	if v.Loading || c.Head == 0 {
		return ""
	}
	tokens := 0
	if n := len(v.Turns); n > 0 {
		tokens = len(v.Turns[n-1].Tokens)
	}
	return fmt.Sprint(c.ID, c.Head, tokens, c.Base, c.Adapter, c.Mix)
}

// lookAhead keeps the candidates up to date while the sampling panel is open.
func (m *Model) lookAhead() tea.Cmd {
	t := m.tab()
	switch {
	case m.panel.kind != samplingPanel:
		return nil
	case t.generating():
		m.lookAtRunning()
		return nil
	}
	place := placeOf(t.view)
	if m.distribution.asked || m.distribution.of == place {
		return nil
	}
	if m.distribution.of = place; place == "" {
		m.panel.sampling.SetProspect(nil, false)
		return nil
	}
	m.distribution.asked = true
	d, ctx := t.d, m.ctx
	return func() tea.Msg {
		o, err := d.NextDistribution(ctx)
		return distributionMsg{place, o, err}
	}
}

// lookAtRunning takes the latest outlook of a running answer, a few times a second.
func (m *Model) lookAtRunning() {
	now := m.clock()
	live := m.tab().view.Live
	if live == nil {
		return
	}
	if place := fmt.Sprint("running ", live.Turn.ID); m.distribution.of != place { // what was shown is passed
		m.distribution.of = place
		m.panel.sampling.SetProspect(nil, false)
	} else if now.Sub(m.distribution.looked) < lookEvery {
		return
	}
	m.distribution.looked = now
	if o := m.tab().d.RecentDistribution(); o != nil {
		m.panel.sampling.SetProspect(o, true)
	}
}

// onOutlook shows what was asked for, unless the conversation has gone on.
func (m *Model) onOutlook(msg distributionMsg) {
	m.distribution.asked = false
	if msg.of == m.distribution.of {
		if msg.err != nil || msg.o == nil {
			m.panel.sampling.SetProspect(nil, false)
		} else {
			m.panel.sampling.SetProspect(msg.o, false)
		}
	}
}
