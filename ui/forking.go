package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// fork opens copies of the conversation up to the selected or last turn.
func (m *Model) fork(arg string) tea.Cmd {
	t := m.tab()
	tn, ok := t.marked()
	if !ok {
		return m.fail(errNoTurns)
	}
	n, err := number(arg, 1)
	if err != nil {
		return m.fail(err)
	}
	forks, err := m.workspace.Fork(t.d, tn.ID, n)
	if err != nil {
		return m.fail(err)
	}
	at := m.active + 1
	for i, d := range forks {
		m.insertTab(at+i, d)
	}
	m.goTo(at)
	said := "a copy of the conversation up to there; nothing had to be read"
	if n > 1 {
		said = fmt.Sprintf("%d copies of the conversation up to there; nothing had to be read", n)
	}
	return tea.Batch(m.say(said), m.look(), m.tick())
}

// askForks asks how many copies to open.
func (m *Model) askForks(string) tea.Cmd {
	if _, ok := m.tab().marked(); !ok {
		return m.fail(errNoTurns)
	}
	m.OpenDialog(kit.NewQuestion(m.th, "Fork into how many tabs?", "", "fork", "2", false, func(h kit.Host, text string) tea.Cmd {
		return kit.Run(keys.Fork, kit.OneLine(text))(h)
	}))
	return nil
}
