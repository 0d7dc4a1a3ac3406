package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// An arrangement is which panes are seen, and how.
type arrangement struct {
	shown         []int // panes
	columns, rows int
	tabs          bool // a line above names all panes
}

// The smallest pane beside or above others, and what stands around its text.
const (
	paneNarrowest = 36
	paneLowest    = 11
	paneGap       = 3  // cells between columns
	paneFoot      = 1  // a line below all
	paneWide      = 64 // where a line has room for all figures
)

// inner is the room for panes and the line of tabs.
func (c *comparison) inner() (width, height int) {
	return max(8, c.width-4), max(5, c.height-4-paneFoot)
}

// arrangement is a grid of all panes if they fit, otherwise the reference and
// the focused one beside each other, or the focused one alone.
func (c *comparison) arrangement() arrangement {
	width, height := c.inner()
	n := len(c.order)
	columns := max(1, min(n, 4, (width+paneGap)/(paneNarrowest+paneGap)))
	rows := (n + columns - 1) / columns
	columns = (n + rows - 1) / rows
	switch {
	case c.zoomed:
	case columns > 1 && (rows == 1 || height/rows >= paneLowest):
		return arrangement{c.order, columns, rows, false}
	case width >= 2*paneNarrowest+paneGap:
		other := c.focus
		if other == c.ref {
			other = c.order[(slices.Index(c.order, c.focus)+1)%n]
		}
		return arrangement{[]int{c.ref, other}, 2, 1, true}
	}
	return arrangement{[]int{c.focus}, 1, 1, true}
}

// paneSize is that of the text of a pane, and of the head above it.
func (c *comparison) paneSize() (width, height, head int) {
	a := c.arrangement()
	width, height = c.inner()
	if a.tabs {
		height--
	}
	width = (width - paneGap*(a.columns-1)) / a.columns
	if head = 3; width >= paneWide {
		head = 2
	}
	return width, max(1, height/a.rows-head), head
}

func (c *comparison) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner, height := c.inner()
	a := c.arrangement()
	var content []string
	if a.tabs {
		content = append(content, c.tabLine(th, inner))
	}
	content = append(content, c.grid(th, a)...)
	for len(content) < height {
		content = append(content, "")
	}
	content = append(content[:height], c.foot(th, m, inner))
	hint := func(id keys.ID) string { return m.Hint(keys.Panes, id) }
	pairs := []string{
		m.Hint(keys.List, keys.ListAccept), "keep", m.Hint(keys.List, keys.ListCancel), "leave", hint(keys.Help), "help",
		hint(keys.PaneDrop), "only", hint(keys.PaneDiscard), "discard", hint(keys.PaneFork), "fork",
	}
	if c.running() {
		pairs = append(pairs, hint(keys.PaneStop), "stop")
	} else {
		pairs = append(pairs, hint(keys.PaneAgain), "again")
	}
	title := fmt.Sprintf("%d answers side by side", len(c.panes))
	if c.blind {
		title += ", blind"
	}
	if p, ok := lastPrompt(c.tab); ok { // nothing else on the screen says what is answered
		title += ": " + firstPart(p.Text, inner)
	}
	return kit.Frame(th, title, content, kit.HintLine(th, inner-2, pairs...), inner, c.width, c.height)
}

// firstPart is the beginning of a text on one line.
func firstPart(text string, width int) string {
	enough := min(len(text), width*4) // bytes: more than is seen, of a text that may be long
	return kit.OneLine(strings.ToValidUTF8(text[:enough], ""))
}

// foot is what has just happened, or how the panes are set.
func (c *comparison) foot(th theme.Theme, m keys.Map, width int) string {
	if c.said != "" {
		return th.Accent.Render(kit.Fit(c.said, width))
	}
	hint := func(id keys.ID) string { return m.Hint(keys.Panes, id) }
	sync := "scroll alone"
	if c.alone {
		sync = "scroll together"
	}
	pairs := []string{hint(keys.PaneMark), "mark", fmt.Sprintf("1-%d", len(c.panes)), "pane", hint(keys.PaneVote), "vote", hint(keys.PaneTie), "tie"}
	if c.blind {
		pairs = append(pairs, hint(keys.PaneReveal), "names")
	}
	pairs = append(pairs, hint(keys.PaneZoom), "zoom", hint(keys.PaneReference), "reference", hint(keys.PaneDiffers), "difference", hint(keys.PaneSync), sync, hint(keys.PaneVotes), "win table")
	return kit.HintLine(th, width, pairs...)
}

// tabLine names all panes; tabAt finds them again.
func (c *comparison) tabLine(th theme.Theme, width int) string {
	line := ""
	for _, i := range c.order {
		label := c.tabLabel(i)
		if i == c.focus {
			label = th.TabActive.Render(label)
		} else {
			label = th.Tab.Render(label)
		}
		line += label + " "
	}
	return kit.Fit(line, width)
}

// tabLabel is as wide when an answer has ended as while it runs, so that the
// names stand still.
func (c *comparison) tabLabel(i int) string {
	p, mark := c.panes[i], " "
	switch {
	case p.marked:
		mark = "*"
	case !p.ended():
		mark = "…"
	}
	head := fmt.Sprintf("%d%s", slices.Index(c.order, i)+1, mark)
	if c.blind {
		return head // the number is the name
	}
	room := (c.width-4)/len(c.order) - 1 - ansi.StringWidth(head)
	if room < 3 {
		return head
	}
	name := kit.Fit(c.title(i), room)
	for _, other := range c.order {
		if other != i && kit.Fit(c.title(other), room) == name { // they may differ at their ends
			name = kit.FitEnd(c.title(i), room)
		}
	}
	return head + name
}

// grid is the panes that are seen.
func (c *comparison) grid(th theme.Theme, a arrangement) []string {
	width, height, head := c.paneSize()
	between := " " + th.Border.Render(th.Glyphs.Vertical) + " "
	var lines []string
	for first := 0; first < len(a.shown); first += a.columns {
		var panes [][]string
		for _, i := range a.shown[first:min(first+a.columns, len(a.shown))] {
			panes = append(panes, c.pane(th, i, width, height, head-1))
		}
		for y := range height + head {
			parts := make([]string, len(panes))
			for i, p := range panes {
				parts[i] = kit.Pad(p[y], width)
			}
			lines = append(lines, strings.Join(parts, between))
		}
	}
	return lines
}

// pane is one answer in exactly height lines below its name and so many lines
// of figures.
func (c *comparison) pane(th theme.Theme, i, width, height, below int) []string {
	p := c.panes[i]
	mark := " "
	if p.marked {
		mark = "*"
	}
	left := fmt.Sprintf("%d%s%s", slices.Index(c.order, i)+1, mark, c.title(i))
	right := ""
	switch {
	case i == c.ref:
		right = "reference"
	case !p.differs.empty() && p.token == 0:
		right = "differs"
	case !p.differs.empty():
		right = fmt.Sprintf("differs at %d", p.token)
	case p.row.Ended && c.panes[c.ref].row.Ended && !p.gone && !c.panes[c.ref].gone:
		right = "the same"
	}
	head := kit.Pad(kit.Spread(kit.Fit(left, max(1, width-len(right)-1)), right, width), width)
	if i == c.focus {
		head = th.Chosen.Render(head)
	} else {
		head = th.Title.Render(head)
	}
	figures := p.figures()
	if c.blind {
		figures = nil // speed and perplexity may tell which one it is
	}
	style := th.Muted
	if p.failed != "" {
		style = th.Error
	}
	lines := []string{head}
	stated := p.stated(figures, width, below)
	if last := len(stated) - 1; p.failed == "" {
		stated[last] = kit.Spread(stated[last], p.hidden(th), width)
	}
	for _, l := range stated {
		lines = append(lines, style.Render(l))
	}
	lines = append(lines, p.body(th, width, height)...)
	for len(lines) < 1+below+height {
		lines = append(lines, "")
	}
	return lines
}

// paneAt is the pane at a place of the box, or whose tab is there.
func (c *comparison) paneAt(x, y int) (int, bool) {
	x, y = x-2, y-1
	a := c.arrangement()
	if a.tabs {
		if y == 0 {
			return c.tabAt(x)
		}
		y--
	}
	width, height, head := c.paneSize()
	if x < 0 || y < 0 {
		return 0, false
	}
	at := y/(height+head)*a.columns + min(x/(width+paneGap), a.columns-1)
	if y/(height+head) >= a.rows || at >= len(a.shown) {
		return 0, false
	}
	return a.shown[at], true
}

// tabAt is the pane whose tab is at a cell of the line of tabs.
func (c *comparison) tabAt(x int) (int, bool) {
	for _, i := range c.order {
		w := ansi.StringWidth(c.tabLabel(i))
		if x >= 0 && x < w {
			return i, true
		}
		x -= w + 1
	}
	return 0, false
}
