package ui

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
// map, how far another state is from it, and how far the conversation has
// drifted. Keys go from one view to the next.
type inspector struct {
	s       turn.State
	heat    heatmap
	colours bool

	other  string // what the state is compared with
	layers []rwkv.Distance
	all    rwkv.Distance

	view          inspectorView
	top           int
	width, height int
}

// An inspectorView is what the inspector shows.
type inspectorView uint8

const (
	viewNorms inspectorView = iota
	viewDistance
)

// inspectedMsg brings a state to look at, or to compare with the one that is
// looked at.
type inspectedMsg struct {
	s       turn.State
	compare bool
	err     error
}

// inspect fetches a state and shows it.
func (m *Model) inspect(s turn.State) tea.Cmd { return m.fetchState(s, false) }

// compare fetches a state to set beside the one that is shown.
func (m *Model) compare(s turn.State) tea.Cmd { return m.fetchState(s, true) }

func (m *Model) fetchState(s turn.State, compare bool) tea.Cmd {
	return func() tea.Msg {
		full, err := m.workspace.State(m.ctx, s.ID)
		if err == nil && (full.Snapshot == nil || len(full.Snapshot.State) != full.Shape.StateLen()) {
			err = fmt.Errorf("the state %q is damaged: it has not the values of its shape", s.Name)
		}
		return inspectedMsg{full, compare, err}
	}
}

func (m *Model) onInspected(msg inspectedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	shown := m.inspected()
	switch {
	case !msg.compare:
		m.OpenDialog(&inspector{s: msg.s, heat: newHeatmap(msg.s.Shape.Norms(msg.s.Snapshot.State)), colours: !m.colourless})
	case shown == nil:
	case shown.s.Shape != msg.s.Shape:
		return m.fail(fmt.Errorf("“%s” and “%s” have different shapes and cannot be compared", kit.OneLine(shown.s.Name), kit.OneLine(msg.s.Name)))
	default:
		shown.other, shown.view, shown.top = msg.s.Name, viewDistance, 0
		shown.layers, shown.all = shown.s.Shape.Distances(shown.s.Snapshot.State, msg.s.Snapshot.State)
	}
	return nil
}

// inspected is the inspector on top, or nil.
func (m *Model) inspected() *inspector {
	if n := len(m.dialogs); n > 0 {
		i, _ := m.dialogs[n-1].(*inspector)
		return i
	}
	return nil
}

// compareListMsg brings the states that can be compared with.
type compareListMsg struct {
	list []turn.State
	err  error
}

// askCompare lists the states of the same shape.
func (m *Model) askCompare() tea.Cmd {
	return func() tea.Msg {
		list, err := m.workspace.States(m.ctx)
		return compareListMsg{list, err}
	}
}

func (m *Model) onCompareList(msg compareListMsg) tea.Cmd {
	shown := m.inspected()
	if msg.err != nil || shown == nil {
		return m.report("", msg.err)
	}
	var entries []kit.Entry
	for _, s := range msg.list {
		if s.ID != shown.s.ID && s.Shape == shown.s.Shape {
			entries = append(entries, kit.Entry{Title: kit.OneLine(s.Name), Detail: aboutState(s), Choose: carried(compareWith{s})})
		}
	}
	if len(entries) == 0 {
		return m.fail(errors.New("there is no other state of this shape to compare with"))
	}
	m.OpenDialog(kit.NewChooser(m.th, "Compare “"+kit.OneLine(shown.s.Name)+"” with", "compare", "", entries))
	return nil
}

func (i *inspector) Press(id keys.ID, _ string) kit.Action {
	switch id {
	case keys.ListCancel:
		return kit.Close
	case keys.ListAccept:
		return carried(askCompare{})
	case keys.ListView:
		if i.other != "" {
			i.view, i.top = 1-i.view, 0
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

func (i *inspector) Wheel(by, _, _ int) kit.Action {
	i.top += by
	return nil
}

func (i *inspector) Click(int, int) kit.Action { return nil }
func (i *inspector) Resize(width, height int)  { i.width, i.height = width, height }

// rows is how many lines of the view are seen at once.
func (i *inspector) rows() int { return max(1, i.height-9) }

func (i *inspector) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(88, i.width)
	content := []string{
		kit.Fit(aboutState(i.s), inner),
		th.Muted.Render(kit.Fit(i.from(), inner)),
		"",
	}
	lines := i.norms(th, inner)
	if i.view == viewDistance {
		lines = i.distances(th, inner)
	}
	i.top = max(0, min(i.top, len(lines)-i.rows()))
	content = append(content, lines[i.top:min(len(lines), i.top+i.rows())]...)
	if i.view == viewDistance {
		content = append(content, kit.Fit(fmt.Sprintf("all layers: relative L2 %.4f, cosine %.4f", i.all.L2, i.all.Cosine), inner))
	} else {
		content = append(content, kit.Fit(i.heat.legend(th, i.colours), inner))
	}
	hints := []string{m.Hint(keys.List, keys.ListCancel), "close", m.Hint(keys.List, keys.ListAccept), "compare with another"}
	if i.other != "" {
		hints = append(hints, m.Hint(keys.List, keys.ListView), [...]string{"distances", "norms"}[i.view])
	}
	return kit.Frame(th, i.title(), content, kit.HintLine(th, inner-2, hints...), inner, i.width, i.height)
}

func (i *inspector) title() string {
	if i.view == viewDistance {
		return fmt.Sprintf("“%s” and “%s”", kit.OneLine(i.s.Name), kit.OneLine(i.other))
	}
	return fmt.Sprintf("State “%s”", kit.OneLine(i.s.Name))
}

// from says where the state came from and how it is laid out.
func (i *inspector) from() string {
	s := i.s.Shape
	return fmt.Sprintf("%s · %d layers down, %d heads across", kit.OneLine(i.s.Source), s.Layers, s.Heads)
}

// norms is the heat map.
func (i *inspector) norms(th theme.Theme, width int) []string {
	return i.heat.lines(th, i.colours, width)
}

// distances is a bar for each layer.
func (i *inspector) distances(th theme.Theme, width int) []string {
	style := graph.Blocks
	if !th.Glyphs.Braille {
		style = graph.ASCII
	}
	lines := make([]string, len(i.layers))
	for n, d := range i.layers {
		text := fmt.Sprintf("%5d   %6.4f  cos %7.4f  ", n, d.L2, d.Cosine)
		room := max(0, width-len(text))
		lines[n] = kit.Fit(text+th.Graph2.Render(strings.TrimRight(graph.Bar(d.L2/2, room, style), " ")), width)
	}
	return lines
}
