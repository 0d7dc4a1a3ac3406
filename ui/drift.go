package ui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/graph"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A stateDialogue is the part of a dialogue that is about its states. Both
// methods block and are called in commands only.
type stateDialogue interface {
	SaveState(ctx context.Context, id turn.ID, name string) (turn.State, error)
	Drift(ctx context.Context) (line []chat.Drift, from string, err error)
}

func (opening) SaveState(context.Context, turn.ID, string) (turn.State, error) {
	return turn.State{}, errOpening
}

func (opening) Drift(context.Context) ([]chat.Drift, string, error) { return nil, "", errOpening }

// A driftGraph is the dialog of how far a conversation has gone from its
// beginning, a column for each turn whose state is kept.
type driftGraph struct {
	title         string
	from          string
	line          []chat.Drift
	width, height int
}

// driftMsg brings the distances.
type driftMsg struct {
	title, from string
	line        []chat.Drift
	err         error
}

// drift measures the visible line.
func (m *Model) drift(string) tea.Cmd {
	t := m.tab()
	d, title := t.d, titleOf(t.view.Conversation)
	return func() tea.Msg {
		line, from, err := d.Drift(m.ctx)
		return driftMsg{title, from, line, err}
	}
}

func (m *Model) onDrift(msg driftMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.OpenDialog(&driftGraph{title: msg.title, from: msg.from, line: msg.line})
	return nil
}

func (g *driftGraph) Press(id keys.ID, _ string) kit.Action {
	if id == keys.ListCancel || id == keys.ListAccept {
		return kit.Close
	}
	return nil
}

func (g *driftGraph) Wheel(int, int, int) kit.Action { return nil }
func (g *driftGraph) Click(int, int) kit.Action      { return nil }
func (g *driftGraph) Resize(width, height int)       { g.width, g.height = width, height }

func (g *driftGraph) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(88, g.width)
	style := graph.Blocks
	if !th.Glyphs.Braille {
		style = graph.ASCII
	}
	const label = 6 // of the scale
	per := max(1, min(6, (inner-label)/max(1, len(g.line))))
	var values []float64
	for _, d := range g.line {
		for range per {
			values = append(values, d.Distance.L2)
		}
	}
	rows := max(1, min(11, g.height-8))
	content := []string{
		kit.Fit(fmt.Sprintf("Relative L2 distance of each kept state to %s, first to last.", g.reference()), inner),
		"",
	}
	width := min(inner, len(values)+label)
	for _, line := range graph.Area(values, width, rows, graph.Options{Style: style, Label: func(v float64) string { return fmt.Sprintf("%5.2f", v) }}) {
		content = append(content, th.Graph1.Render(line))
	}
	first, last := g.line[0].Distance, g.line[len(g.line)-1].Distance
	content = append(content, "", kit.Fit(fmt.Sprintf("%d states; first L2 %.3f, cosine %.3f; last L2 %.3f, cosine %.3f", len(g.line), first.L2, first.Cosine, last.L2, last.Cosine), inner))
	return kit.Frame(th, "Drift of “"+g.title+"”", content, kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "close"), inner, g.width, g.height)
}

func (g *driftGraph) reference() string {
	return "“" + kit.OneLine(g.from) + "”"
}
