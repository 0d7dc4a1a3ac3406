package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/kit"
)

func (m *Model) loadHistory() tea.Cmd {
	return func() tea.Msg {
		prompts, err := m.workspace.History(m.ctx)
		return historyMsg{prompts, err}
	}
}

// onHistory puts what was sent before under what has been sent since.
func (m *Model) onHistory(msg historyMsg) tea.Cmd {
	m.prompts = append(msg.prompts, m.prompts...)
	if msg.err != nil {
		return m.fail(msg.err)
	}
	return nil
}

// remember adds a prompt that has been sent; the workspace stores it.
func (m *Model) remember(prompt string) {
	if n := len(m.prompts); n == 0 || m.prompts[n-1] != prompt {
		m.prompts = append(m.prompts, prompt)
	}
}

// recall fetches older or newer prompts at the edges of the text.
func (m *Model) recall(by int) {
	c := m.tab().composer
	if by > 0 && c.Up() || by < 0 && c.Down() {
		return
	}
	if c.recall(m.prompts, by) {
		m.edited()
	}
}

// searchHistory lists the prompts of the past, newest first, each once.
func (m *Model) searchHistory(string) tea.Cmd {
	const longest = 400 // bytes of a prompt that are searched
	seen := map[string]bool{}
	var entries []kit.Entry
	for _, p := range slices.Backward(m.prompts) {
		if !seen[p] {
			seen[p] = true
			entries = append(entries, kit.Entry{Title: kit.OneLine(strings.ToValidUTF8(p[:min(len(p), longest)], "")), Choose: kit.FillPrompt(p)})
		}
	}
	m.OpenDialog(kit.NewChooser(m.th, "Prompt history", "use", "No prompt has been sent yet.", entries))
	return nil
}

// keepDrafts puts what was written and not sent into the prompt history, where
// the next start finds it. It runs when the program is over.
func (m *Model) keepDrafts() {
	for _, t := range m.tabs {
		c := t.composer
		if text := c.prompt(); text != "" && c.recalled == 0 && !c.editing {
			m.workspace.AddHistory(text)
		}
	}
}
