package ui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
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

// editAnswer puts the selected or last answer into the composer, or gives the
// answer another text at once.
func (m *Model) editAnswer(arg string) tea.Cmd {
	t := m.tab()
	switch answer, ok := t.SelectedAnswer(); {
	case t.generating():
		return m.fail(chat.ErrBusy)
	case !ok:
		return m.fail(errNoAnswerYet)
	case arg != "":
		return m.command(keys.EditAnswer, arg)
	default:
		m.tab().composer.Change(answer)
		m.setFocus(keys.Composer)
		m.edited()
	}
	return nil
}

var errNoAnswerYet = errors.New("there is no answer selected, and none yet")

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
func (m *Model) goOn(arg string) tea.Cmd {
	c := m.tab().composer
	if edited, _ := c.Edited(); edited.Answer {
		return m.sendAnswer(c.UpToCursor(), true)
	}
	return m.command(keys.Continue, arg)
}

// editAnswer gives a turn that is an answer another text.
func editAnswer(d dialogue, id turn.ID, text string) error {
	if text == "" {
		return errors.New("write /rewrite and the new text of the answer")
	}
	return d.EditAnswer(id, text, false)
}
