package states

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer/rwkv"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// An inspector shows what a state is made of: the norms of its parts as a heat
// map, and how far another state is from it. A key goes from one view to the
// other.
type inspector struct {
	kit.Window
	s       turn.State
	heat    heatmap
	colours bool

	other  string // what the state is compared with; "": nothing yet
	layers []rwkv.Distance
	all    rwkv.Distance

	distances bool // are shown, not the norms
	top       int
}

// inspect fetches a state and shows it.
func inspect(s turn.State) kit.Action {
	return func(h kit.Host) tea.Cmd {
		return fetch(h, s, func(h kit.Host, s turn.State) error {
			h.OpenDialog(&inspector{s: s, heat: newHeatmap(s.Shape.Norms(s.Snapshot.State)), colours: !h.Colourless()})
			return nil
		})
	}
}

// fetch reads a state with its values.
func fetch(h kit.Host, s turn.State, then func(h kit.Host, s turn.State) error) tea.Cmd {
	ctx, l := h.Context(), h.Workspace().Library()
	return kit.Await(func() (turn.State, error) {
		full, err := l.Get(ctx, s.ID)
		if err == nil && (full.Snapshot == nil || len(full.Snapshot.State) != full.Shape.StateLen()) {
			err = fmt.Errorf("the state %q is damaged: it has not the values of its shape", s.Name)
		}
		return full, err
	}, func(h kit.Host, full turn.State, err error) tea.Cmd {
		if err == nil {
			err = then(h, full)
		}
		return kit.Report(h, "", err)
	})
}

// askOther lists the states of the same shape to compare with.
func (i *inspector) askOther(h kit.Host) tea.Cmd {
	ctx, l := h.Context(), h.Workspace().Library()
	return kit.Await(func() ([]turn.State, error) { return l.List(ctx) }, func(h kit.Host, list []turn.State, err error) tea.Cmd {
		if err != nil || !kit.OnTop(h, i) {
			return kit.Report(h, "", err)
		}
		var entries []kit.Entry
		for _, s := range list {
			if s.ID != i.s.ID && s.Shape == i.s.Shape {
				entries = append(entries, kit.Entry{Title: kit.OneLine(s.Name), Detail: kit.AboutState(s), Choose: i.compareWith(s)})
			}
		}
		if len(entries) == 0 {
			return h.Fail(errors.New("there is no other state of this shape to compare with"))
		}
		h.OpenDialog(kit.NewChooser(h.Theme(), "Compare “"+kit.OneLine(i.s.Name)+"” with", "compare", "", entries))
		return nil
	})
}

// compareWith shows how far another state is.
func (i *inspector) compareWith(s turn.State) kit.Action {
	return func(h kit.Host) tea.Cmd {
		h.CloseDialog()
		return fetch(h, s, func(_ kit.Host, other turn.State) error {
			if i.s.Shape != other.Shape {
				return fmt.Errorf("“%s” and “%s” have different shapes and cannot be compared", kit.OneLine(i.s.Name), kit.OneLine(other.Name))
			}
			i.other, i.distances, i.top = other.Name, true, 0
			i.layers, i.all = i.s.Shape.Distances(i.s.Snapshot.State, other.Snapshot.State)
			return nil
		})
	}
}

// Press closes, scrolls, or goes to the other view.
func (i *inspector) Press(id keys.ID, _ string) kit.Action {
	switch id {
	case keys.ListCancel:
		return kit.Close
	case keys.ListAccept:
		return i.askOther
	case keys.ListView:
		if i.other != "" {
			i.distances, i.top = !i.distances, 0
		}
	case keys.ListUp:
		i.top--
	case keys.ListDown:
		i.top++
	case keys.ListPageUp:
		i.top -= i.rows()
	case keys.ListPageDown:
		i.top += i.rows()
	}
	return nil
}

// Wheel scrolls.
func (i *inspector) Wheel(by, _, _ int) kit.Action {
	i.top += by
	return nil
}

// rows is how many lines of the view are seen at once.
func (i *inspector) rows() int { return max(1, i.Height-9) }

// Draw shows the view.
func (i *inspector) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(88, i.Width)
	from := fmt.Sprintf("%s · %d layers down, %d heads across", kit.OneLine(i.s.Source), i.s.Shape.Layers, i.s.Shape.Heads)
	content := []string{kit.Fit(kit.AboutState(i.s), inner), th.Muted.Render(kit.Fit(from, inner)), ""}
	title, lines, legend := fmt.Sprintf("State “%s”", kit.OneLine(i.s.Name)), i.heat.lines(th, i.colours, inner), i.heat.legend(th, i.colours)
	if i.distances {
		title, lines = fmt.Sprintf("“%s” and “%s”", kit.OneLine(i.s.Name), kit.OneLine(i.other)), i.bars(th, inner)
		legend = fmt.Sprintf("all layers: relative L2 %.4f, cosine %.4f", i.all.L2, i.all.Cosine)
	}
	i.top = max(0, min(i.top, len(lines)-i.rows()))
	content = append(content, lines[i.top:min(len(lines), i.top+i.rows())]...)
	content = append(content, kit.Fit(legend, inner))
	hints := []string{m.Hint(keys.List, keys.ListCancel), "close", m.Hint(keys.List, keys.ListAccept), "compare with another"}
	if i.other != "" {
		hints = append(hints, m.Hint(keys.List, keys.ListView), map[bool]string{true: "norms", false: "distances"}[i.distances])
	}
	return kit.Frame(th, title, content, kit.HintLine(th, inner-2, hints...), inner, i.Width, i.Height)
}

// bars are the distances, one for each layer.
func (i *inspector) bars(th theme.Theme, width int) []string {
	lines := make([]string, len(i.layers))
	for n, d := range i.layers {
		text := fmt.Sprintf("%5d   %6.4f  cos %7.4f  ", n, d.L2, d.Cosine)
		bar := graph.Bar(d.L2/2, max(0, width-len(text)), kit.BlockStyle(th))
		lines[n] = kit.Fit(text+th.Graph2.Render(strings.TrimRight(bar, " ")), width)
	}
	return lines
}
