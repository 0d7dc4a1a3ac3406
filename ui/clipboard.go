package ui

import (
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/markdown"
)

// copy sends text to the terminal and to the system's clipboard, and says
// which of the two are known to have worked: a terminal never answers.
func (m *Model) copy(text, what string) tea.Cmd {
	write := m.clipboard
	return tea.Sequence(tea.SetClipboard(text), func() tea.Msg {
		if err := write(text); err != nil {
			return noticeMsg{text: what + ": sent to the terminal (OSC 52); no system clipboard was found"}
		}
		return noticeMsg{text: what + ": sent to the terminal (OSC 52) and the system clipboard"}
	})
}

// copyMessage copies the selected message, the last answer, or with "code [n]"
// a code block of it.
func (m *Model) copyMessage(arg string) tea.Cmd {
	if word, n, _ := strings.Cut(arg, " "); word == "code" {
		return m.copyCode(n)
	} else if arg != "" {
		return m.fail(errors.New("write /copy, /copy code or /copy code 2"))
	}
	b := m.tab().transcript.target()
	if b == nil || b.answer == "" {
		return m.fail(errors.New("there is nothing to copy yet"))
	}
	what := "the answer"
	if b.turn.Role == turn.RoleUser {
		what = "the prompt"
	}
	return m.copy(b.answer, what)
}

// copyCode copies the n-th code block of a message, the last one by default.
func (m *Model) copyCode(arg string) tea.Cmd {
	b := m.tab().transcript.target()
	if b == nil {
		return m.fail(errors.New("there is nothing to copy yet"))
	}
	blocks := markdown.CodeBlocks(b.answer)
	if len(blocks) == 0 {
		return m.fail(errors.New("there is no code block in this message; go to the messages with " + m.hintFor(keys.Complete) + " to select another one"))
	}
	n := len(blocks)
	if arg = strings.TrimSpace(arg); arg != "" {
		i, err := strconv.Atoi(arg)
		if err != nil || i < 1 || i > n {
			return m.fail(errors.New("this message has code blocks 1 to " + strconv.Itoa(n)))
		}
		n = i
	}
	return m.copy(blocks[n-1], "code block "+strconv.Itoa(n)+" of "+strconv.Itoa(len(blocks)))
}
