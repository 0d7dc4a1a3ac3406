package ui

import (
	tea "charm.land/bubbletea/v2"

	"rookery/ui/composer"
	"rookery/ui/keys"
)

// keysOfEdit are what to do with the changed text of a turn.
func keysOfEdit(e composer.Edited) []nextKey {
	if e.Answer {
		return []nextKey{next("keep the edited answer", keys.Send), next("continue from the cursor", keys.Continue), next("leave it as it was", keys.Stop)}
	}
	return []nextKey{next("send the edited prompt", keys.Send), next("leave it as it was", keys.Stop)}
}

// edit puts a turn's text into the composer to be changed.
func (m *Model) edit(text string, e composer.Edited) {
	m.tab().composer.BeginEdit(e, text)
	m.setFocus(keys.Composer)
	m.edited()
}

// sendAnswer keeps the edited answer, and lets the model go on with it.
func (m *Model) sendAnswer(text string, goOn bool) tea.Cmd {
	t := m.tab()
	edited, _ := t.composer.Edited()
	if err := t.d.EditAnswer(edited.Turn, text, goOn); err != nil {
		return m.fail(err)
	}
	t.composer.Clear()
	m.edited()
	m.notice = notice{}
	t.transcript.ScrollToEnd()
	return tea.Batch(m.look(), m.tick())
}

// goOn continues the answer: the one that is being edited from the cursor on,
// without what stands behind it, or the last.
func (m *Model) goOn(last func(string) tea.Cmd) func(string) tea.Cmd {
	return func(arg string) tea.Cmd {
		c := m.tab().composer
		if edited, _ := c.Edited(); edited.Answer {
			return m.sendAnswer(c.UpToCursor(), true)
		}
		return last(arg)
	}
}
