package states

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A driftGraph is the dialog of how far a conversation has gone from its
// beginning, a column for each turn whose state is kept.
type driftGraph struct {
	kit.Window
	title string
	from  string // the state that distances are to
	line  []chat.Drift
}

// showDrift measures the visible line and shows it.
func showDrift(h kit.Host, _ string) tea.Cmd {
	title := kit.TitleOf(h.Tab().View().Conversation)
	ctx, d := h.Context(), h.Tab().Dialogue()
	return kit.Await(func() (*driftGraph, error) {
		line, from, err := d.Drift(ctx)
		return &driftGraph{title: title, from: from, line: line}, err
	}, func(h kit.Host, g *driftGraph, err error) tea.Cmd {
		if err != nil {
			return h.Fail(err)
		}
		h.OpenDialog(g)
		return nil
	})
}

// Press closes.
func (g *driftGraph) Press(id keys.ID, _ string) kit.Action {
	if id == keys.ListCancel || id == keys.ListAccept {
		return kit.Close
	}
	return nil
}

// Draw shows the distances as an area, the first turn at the left.
func (g *driftGraph) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(88, g.Width)
	const label = 6 // of the scale
	per := max(1, min(6, (inner-label)/max(1, len(g.line))))
	var values []float64
	for _, d := range g.line {
		for range per {
			values = append(values, d.Distance.L2)
		}
	}
	rows := max(1, min(11, g.Height-8))
	content := []string{
		kit.Fit(fmt.Sprintf("Relative L2 distance of each kept state to “%s”, first to last.", kit.OneLine(g.from)), inner),
		"",
	}
	width := min(inner, len(values)+label)
	scale := func(v float64) string { return fmt.Sprintf("%5.2f", v) }
	area := graph.Area(values, width, rows, graph.Options{Style: kit.BlockStyle(th), Label: scale})
	for i, ink := range th.Shades(th.Graph1, len(area)) {
		content = append(content, ink.Render(area[i]))
	}
	first, last := g.line[0].Distance, g.line[len(g.line)-1].Distance
	figures := fmt.Sprintf("%d states; first L2 %.3f, cosine %.3f; last L2 %.3f, cosine %.3f", len(g.line), first.L2, first.Cosine, last.L2, last.Cosine)
	content = append(content, "", kit.Fit(figures, inner))
	hints := kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "close")
	return kit.Frame(th, "Drift of “"+g.title+"”", content, hints, inner, g.Width, g.Height)
}
