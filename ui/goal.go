package ui

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
)

// A goal is a turn that a tab is to show as soon as it has been read.
type goal struct {
	turn turn.ID
	text string // to be marked in it
}

// reach goes to the active tab's goal once the conversation is there. A turn
// on another line of the tree needs that line first.
func (m *Model) reach() tea.Cmd {
	t := m.tab()
	if t.goal == nil || t.view.Loading {
		return nil
	}
	g := *t.goal
	t.goal = nil
	if err := t.d.ShowTurn(g.turn); err != nil {
		return m.fail(err)
	}
	m.arrange() // a tab that was just opened has no size yet
	t.view = t.d.View()
	t.transcript.Sync(t.view)
	if t.transcript.ShowTurn(g.turn, g.text) {
		m.setFocus(keys.Transcript)
	}
	return nil
}
