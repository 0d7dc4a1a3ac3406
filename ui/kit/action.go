package kit

import (
	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
)

// An Action is something to be done in the program: what a key in a dialog asks
// for, what a command brings back, what a timer was set for. It takes the host
// and carries itself out, in Update. nil is nothing.
type Action func(h Host) tea.Cmd

// Await makes a command of work, which may block and touches nothing of the
// interface. Its result goes to then, in Update.
func Await[T any](work func() (T, error), then func(h Host, v T, err error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		v, err := work()
		return Action(func(h Host) tea.Cmd { return then(h, v, err) })
	}
}

// Close takes the topmost dialog away.
func Close(h Host) tea.Cmd {
	h.CloseDialog()
	return nil
}

// Run takes the topmost dialog away and runs an action of the key table.
func Run(id keys.ID, arg string) Action {
	return func(h Host) tea.Cmd {
		h.CloseDialog()
		return h.Run(id, arg)
	}
}

// FillPrompt takes the topmost dialog away and puts a text into the composer.
func FillPrompt(text string) Action {
	return func(h Host) tea.Cmd {
		h.CloseDialog()
		h.Tab().Prompt().Fill(text)
		return nil
	}
}

// Report shows an error or, if there is none, what was said, if anything.
func Report(h Host, said string, err error) tea.Cmd {
	switch {
	case err != nil:
		return h.Fail(err)
	case said != "":
		return h.Say(said)
	}
	return nil
}
