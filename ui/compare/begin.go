package compare

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// begin starts what the setup says; other models are loaded if the person agreed.
func (s *setup) begin(agreed bool) kit.Action {
	return func(h kit.Host) tea.Cmd {
		if s.busy {
			return nil
		}
		if s.prompt == "" && s.tab.Empty() {
			s.said = "There is no prompt yet."
			return s.askPrompt(h)
		}
		if others := OtherModels(s.drafts); len(others) > 0 && !agreed {
			s.askLoad(h, others)
			return nil
		}
		ctx, cancel := context.WithCancel(h.Context())
		s.busy, s.said, s.cancel = true, "Loading what the variants need.", cancel
		drafts, w := slices.Clone(s.drafts), h.Workspace()
		load := func() ([]chat.Variant, error) {
			defer cancel()
			return Prepare(ctx, w, drafts, func(said string) { s.loading.Store(&said) })
		}
		return tea.Batch(kit.Await(load, s.compare), h.After(progressEvery, s.showProgress))
	}
}

// askLoad asks whether models are to be loaded.
func (s *setup) askLoad(h kit.Host, files []kit.ModelFile) {
	what, err := FitModels(files)
	if err != nil {
		s.said = kit.OneLine(err.Error())
		return
	}
	title := "Load another model?"
	if n := len(files); n > 1 {
		title = fmt.Sprintf("Load %d other models?", n)
	}
	h.OpenDialog(&kit.Confirmation{
		Title: title, Text: what + " They are given back when the answers have been chosen from.", Verb: "load", Refuse: "not now",
		Accept: func(h kit.Host) tea.Cmd {
			h.CloseDialog()
			return s.begin(true)(h)
		},
	})
}

// progressEvery is how often the setup looks at how far loading is.
const progressEvery = 100 * time.Millisecond

// showProgress shows how far loading is, for as long as it goes on.
func (s *setup) showProgress(h kit.Host) tea.Cmd {
	if !s.busy {
		return nil
	}
	if said := s.loading.Load(); said != nil {
		s.said = *said
	}
	return h.After(progressEvery, s.showProgress)
}

// compare opens the comparison of variants that are loaded, in the place of the
// setup.
func (s *setup) compare(h kit.Host, asked []chat.Variant, err error) tea.Cmd {
	s.busy, s.said, s.cancel = false, "", nil
	if err == nil {
		defer ReleaseModels(asked) // the comparison holds what it needs
	}
	if dialogs := h.Dialogs(); !slices.Contains(dialogs, kit.Dialog(s)) {
		return nil // it was closed
	} else if top := dialogs[len(dialogs)-1]; top != kit.Dialog(s) {
		if _, asks := top.(kit.Holder); asks {
			return nil
		}
		closeAbove(h, s) // the help, or a list
	}
	switch {
	case err != nil:
	case s.prompt == "":
		err = s.tab.Dialogue().Compare(asked)
	default:
		err = s.tab.Dialogue().SendCompare(s.prompt, asked)
	}
	if err != nil {
		s.said = kit.OneLine(err.Error())
		return nil
	}
	s.room.last = s.clone()
	h.CloseDialog()
	if s.prompt != "" {
		if s.written {
			s.tab.Prompt().Clear()
		}
		h.RememberPrompt(s.prompt)
	}
	s.tab.ScrollToEnd()
	cmd := h.Refresh()
	h.OpenDialog(newComparison(h, asked, s.blind))
	return cmd
}

// closeAbove takes away what lies above a dialog that is open.
func closeAbove(h kit.Host, d kit.Dialog) {
	for !kit.OnTop(h, d) {
		h.CloseDialog()
	}
}

// lastPrompt is the prompt that would be answered again.
func lastPrompt(t kit.Tab) (turn.Turn, bool) {
	for _, tn := range slices.Backward(t.View().Turns) {
		if tn.Role == turn.RoleUser {
			return tn, true
		}
	}
	return turn.Turn{}, false
}
