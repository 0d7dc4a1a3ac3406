package tree

import (
	tea "charm.land/bubbletea/v2"

	"rookery/ui/kit"
)

// askLabel asks for the name of the selected or last turn.
func askLabel(h kit.Host, _ string) tea.Cmd {
	t, ok := h.Tab().Selected()
	if !ok {
		return h.Fail(ErrNoTurns)
	}
	d := h.Tab().Dialogue()
	about := "A name for this turn; its state is kept. An empty name takes it away."
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Name the turn", about, "name", t.Label, false, func(h kit.Host, text string) tea.Cmd {
		h.CloseDialog()
		said, err := label(kit.Call{Dialogue: d, Turn: t.ID, Arg: text})
		return tea.Batch(kit.Report(h, said, err), h.Refresh())
	}))
	return nil
}

// label names a turn, or takes its name away.
func label(c kit.Call) (said string, err error) {
	said = "the turn has no name any more"
	if name := kit.OneLine(c.Arg); name != "" {
		said = "the turn is called “" + name + "”, and its state is kept"
	}
	return said, c.Dialogue.SetLabel(c.Turn, c.Arg)
}

// pin keeps the state of a turn, or no longer.
func pin(c kit.Call) (said string, err error) {
	for _, t := range lineOf(c.Dialogue.View()) {
		if t.ID != c.Turn {
			continue
		}
		if t.Pinned {
			return "the state of the turn may be thinned out again", c.Dialogue.SetPinned(t.ID, false)
		}
		return "the state of the turn is kept", c.Dialogue.SetPinned(t.ID, true)
	}
	return "", ErrNoTurns
}
