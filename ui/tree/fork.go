package tree

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// fork opens copies of the conversation up to the selected or last turn.
func fork(h kit.Host, arg string) tea.Cmd {
	t, ok := h.Tab().Selected()
	if !ok {
		return h.Fail(ErrNoTurns)
	}
	n, err := kit.ParseNumber(arg, 1)
	if err != nil {
		return h.Fail(err)
	}
	if n > forksUnasked && n <= chat.MaxForks {
		h.OpenDialog(&kit.Confirmation{
			Title: fmt.Sprintf("Fork into %d tabs?", n), Verb: "fork", Refuse: "fork none",
			Text: "Each is a tab of its own; “close other tabs” takes them away again. They share their states until they go on.",
			Accept: func(h kit.Host) tea.Cmd {
				h.CloseDialog()
				return openForks(h, t.ID, n)
			},
		})
		return nil
	}
	return openForks(h, t.ID, n)
}

// forksUnasked is how many tabs a fork opens without a question.
const forksUnasked = 4

// openForks opens n copies of the conversation up to a turn.
func openForks(h kit.Host, id turn.ID, n int) tea.Cmd {
	forks, err := h.Workspace().Fork(h.Tab().Dialogue(), id, n)
	if err != nil {
		return h.Fail(err)
	}
	said := "a copy of the conversation up to there; nothing had to be read"
	if n > 1 {
		said = fmt.Sprintf("%d copies of the conversation up to there; nothing had to be read", n)
	}
	return tea.Batch(h.OpenTab(forks...), h.Say(said))
}

// askForks asks how many copies to open.
func askForks(h kit.Host, _ string) tea.Cmd {
	if _, ok := h.Tab().Selected(); !ok {
		return h.Fail(ErrNoTurns)
	}
	about := fmt.Sprintf("A number from 1 to %d.", chat.MaxForks)
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Fork into how many tabs?", about, "fork", "", false, func(h kit.Host, text string) tea.Cmd {
		if n, err := strconv.Atoi(kit.OneLine(text)); err != nil || n < 1 || n > chat.MaxForks {
			kit.Refuse(h, fmt.Errorf("write a number from 1 to %d", chat.MaxForks))
			return nil
		}
		return kit.Run(keys.Fork, kit.OneLine(text))(h)
	}))
	return nil
}
