package ui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
)

// A binnedTab is a conversation in the bin and, if it was open, its tab.
type binnedTab struct {
	c      turn.Conversation
	at     int // where its tab was; -1: it had none
	prompt *composer
}

// throwAway puts a conversation into the bin. One that is open is stopped,
// and its tab is closed.
func (m *Model) throwAway(c turn.Conversation) tea.Cmd {
	thrown := binnedTab{c: c, at: -1}
	for i, t := range m.tabs {
		if t.d.ID() == c.ID {
			thrown.at, thrown.prompt = i, t.composer
			break
		}
	}
	said := "“" + titleOf(c) + "” is in the bin; "
	if thrown.at >= 0 {
		m.dropTab(thrown.at)
		said = "“" + titleOf(c) + "” is in the bin and its tab is closed; "
	}
	m.forget(c.ID)
	m.binned = append(m.binned, thrown)
	if s := m.openConversationList(); s != nil {
		s.alter(c.ID, func(c *turn.Conversation) { c.Deleted = m.clock() })
		said += m.keymap.Hint(keys.List, keys.ListUndo) + " undoes it"
	} else {
		said += m.hintFor(keys.UndeleteConversation) + " undoes it"
	}
	return func() tea.Msg { return shelvedMsg{said, m.workspace.MoveToBin(m.ctx, c.ID)} }
}

// dropTab takes a tab away without shutting its dialogue.
func (m *Model) dropTab(i int) {
	m.tabs = slices.Delete(m.tabs, i, i+1)
	if len(m.tabs) == 0 {
		m.tabs = append(m.tabs, m.openTab(m.workspace.New()))
	}
	active := m.active
	if i < active {
		active--
	}
	m.goTo(min(active, len(m.tabs)-1))
}

// takeBackLast takes out of the bin what was thrown into it last.
func (m *Model) takeBackLast(string) tea.Cmd {
	if len(m.binned) == 0 {
		return m.fail(errors.New("nothing was deleted since the start; the bin in " + m.hintFor(keys.Conversations) + " has what was deleted before"))
	}
	return m.takeBack(m.unthrow(m.binned[len(m.binned)-1].c))
}

// unthrow takes a conversation from those that can be taken back by undoing.
func (m *Model) unthrow(c turn.Conversation) binnedTab {
	thrown := binnedTab{c: c, at: -1}
	m.binned = slices.DeleteFunc(m.binned, func(t binnedTab) bool {
		if t.c.ID == c.ID {
			thrown = t
		}
		return t.c.ID == c.ID
	})
	return thrown
}

func (m *Model) takeBack(thrown binnedTab) tea.Cmd {
	return func() tea.Msg { return takenBackMsg{thrown, m.workspace.RestoreFromBin(m.ctx, thrown.c.ID)} }
}

// onTakenBack opens the tab again that was closed with the conversation.
func (m *Model) onTakenBack(msg takenBackMsg) tea.Cmd {
	if msg.err != nil {
		m.binned = append(m.binned, msg.thrown)
		return m.fail(msg.err)
	}
	if s := m.openConversationList(); s != nil {
		s.want = msg.thrown.c.ID
	}
	var open tea.Cmd
	if msg.thrown.at >= 0 {
		open = m.openStored(msg.thrown.c.ID, msg.thrown.at)
		if m.tab().composer.Empty() {
			m.tab().composer = msg.thrown.prompt
			m.tab().composer.SetTheme(m.th)
		}
	}
	return tea.Batch(m.say("“"+titleOf(msg.thrown.c)+"” is back"), open, m.readConversationList())
}

// forget takes a conversation from those that can be reopened.
func (m *Model) forget(id turn.ID) {
	m.closed = slices.DeleteFunc(m.closed, func(c closedTab) bool { return c.id == id })
}
