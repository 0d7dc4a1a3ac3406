package tree

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

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
	forks, err := h.Workspace().Fork(h.Tab().Dialogue(), t.ID, n)
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
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Fork into how many tabs?", "", "fork", "2", false, func(h kit.Host, text string) tea.Cmd {
		return kit.Run(keys.Fork, kit.OneLine(text))(h)
	}))
	return nil
}
