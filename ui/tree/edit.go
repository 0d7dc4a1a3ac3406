package tree

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

var errNoAnswer = errors.New("there is no answer selected, and none yet")

// findAnswer is the selected or last answer that has ended.
func findAnswer(t kit.Tab) (turn.Turn, bool) {
	answer, ok := t.SelectedAnswer()
	if live := t.View().Live; live != nil && live.Turn.ID == answer.ID {
		return turn.Turn{}, false
	}
	return answer, ok
}

// editAnswer puts the selected or last answer into the composer.
func editAnswer(h kit.Host, _ string) tea.Cmd {
	if h.Tab().View().Live != nil {
		return h.Fail(chat.ErrBusy)
	}
	answer, ok := findAnswer(h.Tab())
	if !ok {
		return h.Fail(errNoAnswer)
	}
	h.Tab().Prompt().Change(answer)
	h.Focus(keys.Composer)
	return nil
}

// rewrite gives an answer another text.
func rewrite(c kit.Call) (said string, err error) {
	switch {
	case c.Arg == "":
		return "", errors.New("write /rewrite and the new text of the answer")
	case c.Turn == 0:
		return "", errNoAnswer
	}
	return "", c.Dialogue.EditAnswer(c.Turn, c.Arg, false)
}
