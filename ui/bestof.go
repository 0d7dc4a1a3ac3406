package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// How many answers are generated to choose from.
const (
	defaultBest = 4
	mostBest    = 8 // fit the grid, and have a number key each
)

// best generates several answers to what is in the composer, or to the last
// prompt, and shows them side by side.
func (m *Model) best(arg string) tea.Cmd {
	t := m.tab()
	n, err := kit.ParseNumber(arg, defaultBest)
	if err == nil && (n < 2 || n > mostBest) {
		err = fmt.Errorf("choose from 2 to %d answers, not %d", mostBest, n)
	}
	if err != nil {
		return m.fail(err)
	}
	if t.view.Alternatives != nil {
		m.OpenDialog(newGrid(t))
		return nil
	}
	prompt := t.composer.Text()
	if t.composer.Editing() || prompt == "" || strings.HasPrefix(prompt, "/") {
		prompt = ""
		err = t.d.Best(n)
	} else {
		err = t.d.SendBest(prompt, n)
	}
	if err != nil {
		return m.fail(err)
	}
	if prompt != "" {
		t.composer.Clear()
		m.edited()
		m.history.Add(prompt)
		m.saveLayout()
	}
	t.transcript.ScrollToEnd()
	cmd := tea.Batch(m.look(), m.tick())
	m.OpenDialog(newGrid(t))
	return cmd
}

// A grid shows several answers as they grow, to choose from.
type grid struct {
	tab           *tab
	focus         turn.ID
	kept          map[turn.ID]bool
	width, height int
}

func newGrid(t *tab) *grid { return &grid{tab: t, kept: map[turn.ID]bool{}} }

// keepRows ends the choice, stopRows what runs.
type (
	keepRows struct {
		keep []turn.ID
		drop bool
	}
	stopRows struct{}
)

func (i keepRows) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	err := m.tab().d.ChooseAlternatives(i.keep, i.drop)
	m.tab().transcript.ScrollToEnd()
	return tea.Batch(m.report("", err), m.look(), m.tick())
}

func (stopRows) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.tab().d.Stop()
	return m.look()
}

func (g *grid) rows() []chat.Alternative { return g.tab.view.Alternatives }

// at is the index of the focused answer.
func (g *grid) at() int {
	return max(0, slices.IndexFunc(g.rows(), func(r chat.Alternative) bool { return r.Turn.ID == g.focus }))
}

func (g *grid) Press(id keys.ID, text string) kit.Action {
	rows := g.rows()
	if len(rows) == 0 {
		return kit.Close
	}
	columns := g.columns(len(rows))
	switch id {
	case keys.ListCancel:
		if slices.ContainsFunc(rows, func(r chat.Alternative) bool { return !r.Ended }) {
			return stopRows{}.do
		}
		return keepRows{keep: g.chosen()}.do
	case keys.ListAccept:
		return keepRows{keep: g.chosen()}.do
	case keys.ListDelete:
		return keepRows{keep: g.chosen(), drop: true}.do
	case keys.CharLeft:
		g.move(-1)
	case keys.CharRight:
		g.move(1)
	case keys.ListUp:
		g.move(-columns)
	case keys.ListDown:
		g.move(columns)
	case "":
		g.typed(text)
	}
	return nil
}

// typed marks answers by their numbers, or the focused one by a space.
func (g *grid) typed(text string) {
	rows := g.rows()
	switch {
	case text == " ":
		g.toggle(g.at())
	case len(text) == 1 && text[0] >= '1' && int(text[0]-'1') < len(rows):
		g.toggle(int(text[0] - '1'))
	}
}

func (g *grid) toggle(i int) {
	g.focus = g.rows()[i].Turn.ID
	g.kept[g.focus] = !g.kept[g.focus]
}

func (g *grid) move(by int) {
	rows := g.rows()
	to := g.at() + by
	if to >= 0 && to < len(rows) {
		g.focus = rows[to].Turn.ID
	}
}

// chosen are the marked answers, the focused one first if it is among them; or
// the focused one if none is marked.
func (g *grid) chosen() []turn.ID {
	rows := g.rows()
	focus := rows[g.at()].Turn.ID
	var ids []turn.ID
	for _, r := range rows {
		if g.kept[r.Turn.ID] && r.Turn.ID != focus {
			ids = append(ids, r.Turn.ID)
		}
	}
	if g.kept[focus] || len(ids) == 0 {
		ids = slices.Insert(ids, 0, focus)
	}
	return ids
}

func (g *grid) Wheel(by, _, _ int) kit.Action {
	if len(g.rows()) > 0 {
		g.move(by)
	}
	return nil
}

// Click goes to the answer under the pointer.
func (g *grid) Click(x, y int) kit.Action {
	rows, at := g.rows(), -1
	x, y = x-2, y-1
	if columns := g.columns(len(rows)); columns > 1 {
		width, height := g.paneSize(len(rows), columns)
		at = y/height*columns + clamp(x/(width+gridGap), 0, columns-1)
	} else if first, shown := g.window(len(rows)); y < shown {
		at = first + y
	}
	if y >= 0 && at >= 0 && at < len(rows) {
		g.focus = rows[at].Turn.ID
	}
	return nil
}

func (g *grid) Resize(width, height int) { g.width, g.height = width, height }

// columns is how many answers stand beside each other: 1 is a list of which
// the focused one is shown large.
func (g *grid) columns(n int) int {
	const narrowest, lowest = 30, 8
	columns := 2
	switch {
	case n > 6:
		columns = 4
	case n > 4:
		columns = 3
	}
	rows := max(1, (n+columns-1)/columns)
	if (g.width-4)/columns < narrowest || (g.height-6)/rows < lowest {
		return 1
	}
	return columns
}

func (g *grid) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner, height := g.inner()
	rows := g.rows()
	var content []string
	switch columns := g.columns(len(rows)); {
	case len(rows) == 0:
		content = []string{"No answer has come. The notice below says why, if there is a reason."}
	case columns == 1:
		content = g.list(th, rows, inner, height)
	default:
		content = g.panes(th, rows, columns)
	}
	for len(content) < height {
		content = append(content, "")
	}
	accept, cancel := m.Hint(keys.List, keys.ListAccept), m.Hint(keys.List, keys.ListCancel)
	pairs := []string{accept + "/" + cancel, "go on, keep all"}
	if slices.ContainsFunc(rows, func(r chat.Alternative) bool { return !r.Ended }) {
		pairs = []string{accept, "go on, keep all", cancel, "stop"}
	}
	hints := kit.HintLine(th, inner-2, append(pairs, fmt.Sprintf("1-%d", max(1, len(rows))), "mark", m.Hint(keys.List, keys.ListDelete), "drop the rest")...)
	return kit.Frame(th, fmt.Sprintf("Best of %d", len(rows)), content[:height], hints, inner, g.width, g.height)
}

// inner is the room for answers.
func (g *grid) inner() (width, height int) { return max(8, g.width-4), max(3, g.height-4) }

// window is the answers that a list of n has lines for: the first and how many.
func (g *grid) window(n int) (first, shown int) {
	const text = 4 // lines for the focused one at least
	_, height := g.inner()
	shown = min(n, max(1, height-text))
	return clamp(g.at()-shown/2, 0, n-shown), shown
}

// gridGap are the cells between answers.
const gridGap = 2

// paneSize is that of each of n answers side by side.
func (g *grid) paneSize(n, columns int) (width, height int) {
	width, height = g.inner()
	return (width - gridGap*(columns-1)) / columns, height / ((n + columns - 1) / columns)
}

// list is a line for each answer, and the focused one below.
func (g *grid) list(th theme.Theme, rows []chat.Alternative, width, height int) []string {
	var lines []string
	at := g.at()
	first, shown := g.window(len(rows))
	for i, r := range rows[first : first+shown] {
		i += first
		line := g.label(i, r)
		if room := width - len(line) - 4; room > 8 {
			line += "  " + lastPart(answerOf(r), room)
		}
		if i == at {
			lines = append(lines, th.Selected.Render(kit.Pad(line, width)))
		} else {
			lines = append(lines, th.Muted.Render(kit.Fit(line, width)))
		}
	}
	lines = append(lines, "")
	return append(lines, tail(answerOf(rows[at]), width, height-len(lines))...)
}

// panes are all answers side by side.
func (g *grid) panes(th theme.Theme, rows []chat.Alternative, columns int) []string {
	paneWidth, paneHeight := g.paneSize(len(rows), columns)
	var lines []string
	for first := 0; first < len(rows); first += columns {
		var panes [][]string
		for i := first; i < min(first+columns, len(rows)); i++ {
			panes = append(panes, g.pane(th, i, rows[i], paneWidth, paneHeight))
		}
		for y := range paneHeight {
			var parts []string
			for _, p := range panes {
				parts = append(parts, kit.Pad(p[y], paneWidth))
			}
			lines = append(lines, strings.Join(parts, strings.Repeat(" ", gridGap)))
		}
	}
	return lines
}

// pane is one answer in exactly height lines: its head, its end, a blank line.
func (g *grid) pane(th theme.Theme, i int, r chat.Alternative, width, height int) []string {
	head := th.Muted.Render(kit.Pad(g.label(i, r), width))
	if i == g.at() {
		head = th.Selected.Render(kit.Pad(g.label(i, r), width))
	}
	lines := append([]string{head}, tail(answerOf(r), width, height-2)...)
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

// label is the number, the mark and the state of an answer. The seed comes last:
// it is long, and the first to be cut.
func (g *grid) label(i int, r chat.Alternative) string {
	mark := " "
	if g.kept[r.Turn.ID] {
		mark = "*"
	}
	state := "ended"
	switch {
	case !r.Ended && r.Progress.Generated == 0:
		state = "waiting"
	case !r.Ended:
		state = kit.FormatRate(r.Progress.Rate) + " tok/s"
	case r.Open:
		state = "open"
	}
	return fmt.Sprintf("%d%s %s tokens · %s · seed %d", i+1, mark, kit.FormatCount(r.Progress.Generated), state, r.Turn.Sampling.Seed)
}

func answerOf(r chat.Alternative) string {
	thought, answer, open := prompt.SplitThought(r.Text)
	if open {
		return "(thinking) " + thought
	}
	return strings.TrimSpace(answer)
}

// tail is the end of a text in at most so many lines.
func tail(text string, width, lines int) []string {
	if lines <= 0 {
		return nil
	}
	if enough := width * lines * 4; len(text) > enough { // bytes: more than is seen
		text = strings.ToValidUTF8(text[len(text)-enough:], "")
	}
	all := kit.Wrap(text, width)
	return all[max(0, len(all)-lines):]
}

// lastPart is the end of a text on one line.
func lastPart(text string, width int) string {
	if enough := width * 4; len(text) > enough {
		text = strings.ToValidUTF8(text[len(text)-enough:], "")
	}
	r := []rune(kit.OneLine(text))
	return kit.Fit(string(r[max(0, len(r)-width):]), width)
}

// HoldsWork says that a click beside does not close it.
func (g *grid) HoldsWork() bool { return true }
