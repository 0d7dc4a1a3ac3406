package states

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A baking is the dialog of a text that is being read into a state.
type baking struct {
	kit.Window
	cancel   context.CancelFunc
	progress atomic.Pointer[infer.Progress]
	seen     infer.Progress // what is drawn
}

const bakeEvery = 100 * time.Millisecond

// bake reads a text into a state and says what has become of it.
func bake(h kit.Host, recipe func(context.Context) (library.Recipe, error)) tea.Cmd {
	w := h.Workspace()
	return bakeWith(h, func(ctx context.Context, progress func(infer.Progress)) (turn.State, error) {
		r, err := recipe(ctx)
		if err != nil {
			return turn.State{}, err
		}
		return w.Library().Bake(ctx, w.Engine(), r, progress)
	}, func(h kit.Host, s turn.State) tea.Cmd {
		return h.Say(fmt.Sprintf("baked “%s”, %s tokens; %s begins from it", kit.OneLine(s.Name), kit.FormatCount(s.Read), kit.HintFor(h, keys.States)))
	})
}

// bakeWith reads a text beside whatever else runs, and shows how far it is.
func bakeWith(h kit.Host, read func(context.Context, func(infer.Progress)) (turn.State, error), then func(kit.Host, turn.State) tea.Cmd) tea.Cmd {
	h.CloseDialogs()
	ctx, cancel := context.WithCancel(h.Context())
	b := &baking{cancel: cancel}
	h.OpenDialog(b)
	work := func() (turn.State, error) {
		defer cancel()
		return read(ctx, func(p infer.Progress) { b.progress.Store(&p) })
	}
	return tea.Batch(kit.Await(work, func(h kit.Host, s turn.State, err error) tea.Cmd {
		h.RemoveDialog(b)
		switch {
		case errors.Is(err, context.Canceled):
			return h.Say("baking was stopped; nothing is kept")
		case err != nil:
			return h.Fail(err)
		}
		return then(h, s)
	}), h.After(bakeEvery, b.look))
}

// look takes over how far it is, as long as the dialog is open.
func (b *baking) look(h kit.Host) tea.Cmd {
	if p := b.progress.Load(); p != nil {
		b.seen = *p
	}
	if !slices.Contains(h.Dialogs(), kit.Dialog(b)) {
		return nil
	}
	return h.After(bakeEvery, b.look)
}

// HoldsWork says that a click beside the dialog does not stop the baking.
func (b *baking) HoldsWork() bool { return true }

// Press stops the baking. The dialog does not wait for what is being read.
func (b *baking) Press(id keys.ID, _ string) kit.Action {
	if id != keys.ListCancel {
		return nil
	}
	b.cancel()
	return func(h kit.Host) tea.Cmd {
		h.RemoveDialog(b)
		return nil
	}
}

// Draw shows how far it is.
func (b *baking) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(50, b.Width)
	p := b.seen
	share, said := 0.0, "reading the text"
	if p.ToRead > 0 {
		share = float64(p.Read) / float64(p.ToRead)
		said = fmt.Sprintf("%s of %s tokens", kit.FormatCount(p.Read), kit.FormatCount(p.ToRead))
		if p.Rate > 0 && p.Read < p.ToRead {
			said += fmt.Sprintf(", %s a second", kit.FormatRate(p.Rate))
		}
	}
	content := []string{said, th.Graph1.Render(graph.Bar(share, inner, kit.BlockStyle(th)))}
	return kit.Frame(th, "Baking", content, kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "stop"), inner, b.Width, b.Height)
}
