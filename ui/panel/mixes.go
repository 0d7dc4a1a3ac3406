package panel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// useMix shows the mixer, or uses the mix that was written.
func useMix(h kit.Host, text string) tea.Cmd {
	if text == "" {
		return h.TogglePanel(keys.Mix)
	}
	ctx, w := h.Context(), h.Workspace()
	return readMix(h, "/mix "+text, func() (turn.Mix, error) { return w.ParseMix(ctx, text) })
}

// pickMix lists the saved mixes, or uses the one of a name.
func pickMix(h kit.Host, name string) tea.Cmd {
	ctx, w := h.Context(), h.Workspace()
	if name != "" {
		return readMix(h, "/mixes "+name, func() (turn.Mix, error) { return w.FindMix(ctx, name) })
	}
	c := kit.NewChooser(h.Theme(), "Saved mixes", "use", "", nil)
	h.OpenDialog(c)
	return kit.Await(func() ([]turn.NamedMix, error) { return w.Mixes(ctx) }, func(h kit.Host, saved []turn.NamedMix, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		entries := mixEntries(saved, h.Tab().View().Conversation.Mix)
		c.Fill(entries)
		if len(entries) == 0 {
			c.Empty = "None yet. " + kit.HintFor(h, keys.SaveMix) + " saves that of the conversation."
		}
		return nil
	})
}

func showMixes(h kit.Host) tea.Cmd { return pickMix(h, "") }

// mixEntries are the saved mixes, and the way to save the one in use.
func mixEntries(saved []turn.NamedMix, inUse turn.Mix) []kit.Entry {
	var entries []kit.Entry
	for _, s := range saved {
		entries = append(entries, kit.Entry{
			Title: kit.OneLine(s.Name), Detail: kit.OneLine(s.Mix.String()), Current: s.Mix.String() == inUse.String(),
			Choose: kit.Run(keys.MixPresets, s.Name), Remove: askDeleteMix(s.Name),
		})
	}
	if inUse.Active() {
		entries = append(entries, kit.Entry{Title: "Save the mix of this conversation…", Detail: kit.OneLine(inUse.String()), Choose: askMixName})
	}
	return entries
}

// readMix reads a mix for the conversation in sight and uses it. What would
// answer with the mix before waits for it. typed is the command that asked.
func readMix(h kit.Host, typed string, read func() (turn.Mix, error)) tea.Cmd {
	t := h.Tab()
	t.Hold("the mix")
	return kit.Await(read, func(h kit.Host, mix turn.Mix, err error) tea.Cmd {
		if err == nil {
			err = t.Dialogue().SetMix(mix)
		}
		if err != nil && t.Prompt().Text() == "" {
			t.Prompt().Fill(typed) // to be put right
		}
		begin := t.Release(err)
		if begin != nil && t != h.Tab() {
			begin, err = nil, errTabLeft
		}
		cmd := tea.Batch(kit.Report(h, AboutMix(mix), err), h.Refresh())
		if begin != nil {
			cmd = tea.Batch(cmd, begin(h))
		}
		return cmd
	})
}

var errTabLeft = errors.New("no answer was begun: the tab was left while the mix was being read")

// AboutMix says what a change of the mix does.
func AboutMix(mix turn.Mix) string {
	if !mix.Active() {
		return "no mix: this chat alone"
	}
	return "mix " + kit.OneLine(mix.String())
}

// setMix uses a mix from the next token on.
func setMix(mix turn.Mix) kit.Action {
	return func(h kit.Host) tea.Cmd {
		return change(h, func(d *chat.Dialogue) error { return d.SetMix(mix) })
	}
}

// addedWeight is what a state gets that is added to a mix.
const addedWeight = 0.5

// askState asks which state to add to the mix.
func askState(h kit.Host) tea.Cmd {
	c := kit.NewChooser(h.Theme(), "Add a state to the mix", "add", "There are no other states for this model.", nil)
	h.OpenDialog(c)
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() ([]turn.State, error) { return w.Library().List(ctx) }, func(h kit.Host, list []turn.State, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		if m := h.Model(); m != nil {
			list = library.Fitting(list, m)
		}
		mix := h.Tab().View().Conversation.Mix
		var entries []kit.Entry
		for _, s := range list {
			if !mix.Has(s.ID) {
				entries = append(entries, kit.Entry{Title: kit.OneLine(s.Name), Detail: kit.AboutState(s), Choose: addState(s)})
			}
		}
		c.Fill(entries)
		return nil
	})
}

// addState adds a state to the mix of the conversation.
func addState(s turn.State) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.CloseDialog()
		mix := h.Tab().View().Conversation.Mix
		if !mix.Active() {
			mix = turn.Mix{Own: turn.MixMember{Weight: 1}}
		}
		mix.Others = append(slices.Clone(mix.Others), turn.MixMember{State: s.ID, Name: s.Name, Weight: addedWeight})
		return setMix(mix)(h)
	}
}

func askDeleteMix(name string) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.OpenDialog(&kit.Confirmation{
			Title: "Delete the mix?", Text: fmt.Sprintf("“%s” is removed from the saved mixes. Conversations that use it keep it.", kit.OneLine(name)), Verb: "delete",
			Accept: func(h kit.Host) tea.Cmd {
				h.CloseDialogs()
				ctx, w := h.Context(), h.Workspace()
				return kit.Await(func() (string, error) {
					return "deleted the mix “" + kit.OneLine(name) + "”", w.DeleteMix(ctx, name)
				}, kit.Report)
			},
		})
		return nil
	}
}

var errNoMix = errors.New("there is no mix to save: add a state to it first")

// saveMix keeps the conversation's mix under a name, and asks for one if there
// is none; what has the name is replaced after a question.
func saveMix(h kit.Host, name string) tea.Cmd {
	mix := h.Tab().View().Conversation.Mix
	switch {
	case !mix.Active():
		return h.Fail(errNoMix)
	case name == "":
		return askMixName(h)
	}
	ctx, w := h.Context(), h.Workspace()
	return kit.Await(func() ([]turn.NamedMix, error) { return w.Mixes(ctx) }, func(h kit.Host, saved []turn.NamedMix, err error) tea.Cmd {
		switch {
		case err != nil:
			return h.Fail(err)
		case slices.ContainsFunc(saved, func(n turn.NamedMix) bool { return n.Name == name }):
			h.OpenDialog(&kit.Confirmation{
				Title: "Replace the mix?", Text: fmt.Sprintf("“%s” becomes that of this conversation: %s.", kit.OneLine(name), kit.OneLine(mix.String())),
				Verb: "replace", Accept: keepMix(name),
			})
			return nil
		}
		return keepMix(name)(h)
	})
}

func askMixName(h kit.Host) tea.Cmd {
	h.OpenDialog(kit.NewQuestion(h.Theme(), "Save the mix", "States and weights of this conversation's mix, for any conversation.", "save", "", false, func(h kit.Host, name string) tea.Cmd {
		h.CloseDialog()
		return saveMix(h, strings.TrimSpace(name))
	}))
	return nil
}

// keepMix saves the conversation's mix under a name.
func keepMix(name string) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.CloseDialogs()
		ctx, w, mix := h.Context(), h.Workspace(), h.Tab().View().Conversation.Mix
		return kit.Await(func() (string, error) {
			saved, err := w.SaveMix(ctx, name, mix)
			return "saved the mix “" + kit.OneLine(saved.Name) + "”", err
		}, kit.Report)
	}
}
