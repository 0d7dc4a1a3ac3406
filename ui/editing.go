package ui

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
)

// edited says which turn the composer changes.
type edited struct {
	turn   turn.ID
	answer bool
}

func (e edited) what() string {
	switch {
	case e.answer:
		return "an answer"
	case e.turn != 0:
		return "a prompt"
	}
	return "the last prompt"
}

// nextKeys are what to do with the changed text.
func (e edited) nextKeys() []nextKey {
	if e.answer {
		return []nextKey{next("keep the edited answer", keys.Send), next("continue from the cursor", keys.Continue), next("leave it as it was", keys.Stop)}
	}
	return []nextKey{next("send the edited prompt", keys.Send), next("leave it as it was", keys.Stop)}
}

// edit puts a turn's text into the composer to be changed.
func (m *Model) edit(text string, e edited) {
	c := m.tab().composer
	c.open(text)
	c.editing, c.edits = true, e
	m.setFocus(keys.Composer)
	m.edited()
}

// sendAnswer keeps the edited answer, and lets the model go on with it.
func (m *Model) sendAnswer(text string, goOn bool) tea.Cmd {
	t := m.tab()
	if err := t.d.EditAnswer(t.composer.edits.turn, text, goOn); err != nil {
		return m.fail(err)
	}
	t.composer.clear()
	m.edited()
	m.notice = notice{}
	t.transcript.toEnd()
	return tea.Batch(m.look(), m.tick())
}

// goOn continues the answer: the one that is being edited from the cursor on,
// without what stands behind it, or the last.
func (m *Model) goOn(last func(string) tea.Cmd) func(string) tea.Cmd {
	return func(arg string) tea.Cmd {
		if c := m.tab().composer; c.editing && c.edits.answer {
			return m.sendAnswer(c.UpToCursor(), true)
		}
		return last(arg)
	}
}
