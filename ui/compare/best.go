package compare

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/ui/kit"
)

// DefaultBest is how many answers are made to choose from if nobody says.
const DefaultBest = 4

// best answers what is in the composer, or the last prompt, in one way with
// several seeds, and shows the answers side by side.
func best(h kit.Host, arg string) tea.Cmd {
	t := h.Tab()
	n, err := kit.ParseNumber(arg, DefaultBest)
	if err == nil && (n < chat.MinCompare || n > chat.MaxCompare) {
		err = fmt.Errorf("choose from %d to %d answers, not %d", chat.MinCompare, chat.MaxCompare, n)
	}
	if err != nil {
		return h.Fail(err)
	}
	if len(t.View().Alternatives) > 0 {
		return showAlternatives(h)
	}
	prompt := ""
	if t.SelectedTurn() == 0 {
		prompt = writtenPrompt(t)
	}
	if prompt == "" {
		err = t.Dialogue().BestTurn(t.SelectedTurn(), n)
	} else {
		err = t.Dialogue().SendBest(prompt, n)
	}
	if err != nil {
		return h.Fail(err)
	}
	if prompt != "" {
		t.Prompt().Clear()
		h.RememberPrompt(prompt)
	}
	t.ScrollToEnd()
	return tea.Batch(h.Refresh(), showAlternatives(h))
}

// named is a variant with a name: one of several seeds has none of its own.
func named(v chat.Variant) chat.Variant {
	if v.Name == "" {
		v.Name = fmt.Sprintf("seed %d", v.Sampling.Seed)
	}
	return v
}
