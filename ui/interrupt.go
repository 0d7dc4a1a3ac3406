package ui

import (
	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
)

// interrupt is ctrl+c: it copies what is marked; otherwise it stops the answer,
// then clears the prompt, then asks to quit, and quits.
func (m *Model) interrupt(string) tea.Cmd {
	t := m.tab()
	if copied := t.transcript.CopyMarked(); copied != nil {
		return copied(m)
	}
	key := m.keymap.Hint(m.focus, keys.Interrupt)
	if live := t.view.Live; live != nil && live.Turn.ID != t.stopped { // asked twice, the second press is for the next
		t.stopped = live.Turn.ID
		t.d.Stop()
		m.edited()
		return tea.Batch(m.look(), m.say("the answer is stopped"))
	}
	if !t.composer.Empty() {
		m.clearPrompt()
		return m.say("the prompt is cleared; " + m.keymap.Hint(keys.Composer, keys.HistoryPrev) + " brings it back, and " + key + " twice quits")
	}
	now := m.clock()
	if now.Sub(m.doubted) < noticeStays {
		return m.leave("")
	}
	m.doubted = now
	return m.say("press " + key + " again to quit")
}

// clearPrompt empties the prompt. What was written in it goes into the history.
func (m *Model) clearPrompt() {
	c := m.tab().composer
	if text := c.Unsent(); text != "" {
		m.history.Add(text)
		m.workspace.AddHistory(text)
	}
	c.Clear()
	m.edited()
}
