package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
)

// draftEvery is how far behind the prompt its draft on disk may be. A large one
// may be further, by the time that it takes to write.
const draftEvery = 100 * time.Millisecond

// draftMsg says that it is time to save the drafts.
type draftMsg struct{}

// drafts are what the store has of the prompts that are being written.
type drafts struct {
	saved map[turn.ID]turn.Draft
	due   bool // a draftMsg is on its way
}

// noteDraft sees to it that what was typed in the active tab is saved soon.
func (m *Model) noteDraft() tea.Cmd {
	t := m.tab()
	if t.opening() || m.drafts.due || t.drafted == t.composer.Changes() {
		return nil
	}
	m.drafts.due = true
	return m.after(draftEvery+time.Duration(len(t.composer.Text()))*time.Microsecond, draftMsg{})
}

// saveDrafts saves what has changed since the last time.
func (m *Model) saveDrafts() {
	m.drafts.due = false
	for _, t := range m.tabs {
		if t.opening() || t.drafted == t.composer.Changes() {
			continue
		}
		t.drafted = t.composer.Changes()
		m.saveDraft(t.d.ID(), t.composer.Draft())
	}
}

// saveDraft saves one, or takes it away.
func (m *Model) saveDraft(id turn.ID, d turn.Draft) {
	if d == m.drafts.saved[id] {
		return
	}
	first := m.drafts.saved[id] == (turn.Draft{})
	if m.drafts.saved[id] = d; d == (turn.Draft{}) {
		delete(m.drafts.saved, id)
	}
	m.workspace.SaveDraft(id, d)
	if first { // its tab may be in no layout yet, and opens again for the draft
		m.saveLayout()
	}
}
