package transcript

import (
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/markdown"
)

var errNothingToCopy = errors.New("there is nothing to copy yet")

// copy sends a text to the terminal and to the system's clipboard, and says which
// of the two are known to have worked: a terminal never answers.
func (t *Transcript) copy(text, what string) tea.Cmd {
	write := t.clipboard
	return tea.Sequence(tea.SetClipboard(text), kit.Await(func() (bool, error) { return true, write(text) }, func(h kit.Host, _ bool, err error) tea.Cmd {
		if err != nil {
			return h.Say(what + ": sent to the terminal (OSC 52); no system clipboard was found")
		}
		return h.Say(what + ": sent to the terminal (OSC 52) and the system clipboard")
	}))
}

// CopyMarked copies the text that is marked. It is nil if none is.
func (t *Transcript) CopyMarked() kit.Action {
	text := t.markedText()
	if text == "" {
		return nil
	}
	return func(kit.Host) tea.Cmd { return t.copy(text, "the selection") }
}

// copyMessage copies the selected message, the last answer, or with "code [n]"
// a code block of it.
func (t *Transcript) copyMessage(h kit.Host, arg string) tea.Cmd {
	if word, n, _ := strings.Cut(arg, " "); word == "code" {
		return t.copyCode(h, n)
	} else if arg != "" {
		return h.Fail(errors.New("write /copy, /copy code or /copy code 2"))
	}
	b := t.target()
	if b == nil || b.answer == "" {
		return h.Fail(errNothingToCopy)
	}
	what := "the answer"
	if b.turn.Role == turn.RoleUser {
		what = "the prompt"
	}
	return t.copy(b.answer, what)
}

// copyCode copies the n-th code block of a message, the last one by default.
func (t *Transcript) copyCode(h kit.Host, arg string) tea.Cmd {
	b := t.target()
	if b == nil {
		return h.Fail(errNothingToCopy)
	}
	blocks := markdown.CodeBlocks(b.answer)
	if len(blocks) == 0 {
		return h.Fail(errors.New("there is no code block in this message; go to the messages with " + kit.HintFor(h, keys.Complete) + " to select another one"))
	}
	n := len(blocks)
	if arg = strings.TrimSpace(arg); arg != "" {
		i, err := strconv.Atoi(arg)
		if err != nil || i < 1 || i > n {
			return h.Fail(errors.New("this message has code blocks 1 to " + strconv.Itoa(n)))
		}
		n = i
	}
	return t.copy(blocks[n-1], "code block "+strconv.Itoa(n)+" of "+strconv.Itoa(len(blocks)))
}
