package states

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// Feature is the library of states.
func Feature() kit.Feature {
	return kit.Feature{Actions: map[keys.ID]func(kit.Host, string) tea.Cmd{
		keys.States: pick, keys.Bake: bakePath, keys.FromFiles: fromFiles, keys.KeepState: keep, keys.Drift: showDrift,
	}}
}

// pick lists the states, or begins from the one of a name.
func pick(h kit.Host, name string) tea.Cmd {
	list := func() ([]turn.State, error) { return h.Workspace().Library().List(h.Context()) }
	if name != "" {
		return kit.Await(list, func(h kit.Host, list []turn.State, err error) tea.Cmd {
			if err != nil {
				return h.Fail(err)
			}
			s, err := library.FindState(list, name)
			if err != nil {
				return h.Fail(err)
			}
			return begin(h, s)
		})
	}
	c := kit.NewChooser(h.Theme(), "States to begin from", "choose", "", nil) // takes what is typed meanwhile
	h.OpenDialog(c)
	return kit.Await(list, func(h kit.Host, list []turn.State, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		c.Fill(entries(list, h.Tab().View().Conversation.Base))
		return nil
	})
}

// entries are the states, the one that a conversation began from marked, and
// the ways to add one.
func entries(list []turn.State, base turn.ID) []kit.Entry {
	var all []kit.Entry
	for _, s := range list {
		e := kit.Entry{
			Title: kit.OneLine(s.Name), Detail: kit.AboutState(s), Current: base == s.ID && base != 0,
			Inspect: inspect(s),
			Choose: func(h kit.Host) tea.Cmd {
				h.CloseDialog()
				return begin(h, s)
			},
		}
		if !s.BuiltIn() {
			e.Remove, e.Rename = askDelete(s), askRename(s)
		}
		all = append(all, e)
	}
	return append(all,
		kit.Entry{Title: "Bake a text file…", Detail: "read it once, begin from it ever after", Choose: askBakeFile},
		kit.Entry{Title: "Bake a system prompt…", Detail: "read it once, begin from it ever after", Choose: askBakeSystem},
		kit.Entry{Title: "Keep the state after this answer…", Detail: "begin from here elsewhere", Choose: askKeep},
		kit.Entry{Title: "Import a file…", Detail: "a tuned state, or one of another library", Choose: askImport},
	)
}

// begin opens a conversation that begins from a state: in this tab if nothing
// has happened there, else in a new one.
func begin(h kit.Host, s turn.State) tea.Cmd {
	d, err := h.Workspace().NewFrom(s)
	if err != nil {
		return h.Fail(err)
	}
	return tea.Batch(h.BeginTab(d), h.Say("begins from “"+kit.OneLine(s.Name)+"”"))
}

// change does something to the library, which may block, and says what.
func change(h kit.Host, do func(ctx context.Context, l *library.Library) (said string, err error)) tea.Cmd {
	h.CloseDialogs()
	ctx, l := h.Context(), h.Workspace().Library()
	return kit.Await(func() (string, error) { return do(ctx, l) }, kit.Report)
}

func askDelete(s turn.State) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.OpenDialog(&kit.Confirmation{
			Title: "Delete the state?", Text: fmt.Sprintf("“%s” is removed for good.", kit.OneLine(s.Name)), Verb: "delete",
			Accept: func(h kit.Host) tea.Cmd {
				w := h.Workspace()
				return change(h, func(ctx context.Context, _ *library.Library) (string, error) {
					return "deleted “" + kit.OneLine(s.Name) + "”", w.DeleteState(ctx, s)
				})
			},
		})
		return nil
	}
}

func askRename(s turn.State) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.OpenDialog(kit.NewQuestion(h.Theme(), "Rename the state", "", "rename", s.Name, false, func(h kit.Host, name string) tea.Cmd {
			return change(h, func(ctx context.Context, l *library.Library) (string, error) {
				return "renamed to “" + kit.OneLine(name) + "”", l.Rename(ctx, s.ID, name)
			})
		}))
		return nil
	}
}

// ErrNoAnswer says that there is no state to keep.
var ErrNoAnswer = errors.New("there is no answer yet whose state could be kept")
