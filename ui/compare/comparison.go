package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/tokenizer"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A comparison shows several answers to one prompt side by side while they
// grow. Each variant has a pane; order says where the screen shows it.
type comparison struct {
	tab   kit.Tab
	tok   *tokenizer.Tokenizer // of the model; nil if it is not known
	asked []chat.Variant       // as Compare got them
	panes []*pane              // a pane for each of asked
	order []int                // panes as the screen shows them; a blind comparison shuffles them

	focus, ref int // panes
	zoomed     bool
	alone      bool // panes scroll each by itself
	blind      bool // names are hidden
	voted      bool // names were hidden until a vote
	oneVariant bool // with several seeds: these are not voted on
	said       string
	scored     *pane // the reference that perplexities were asked for; nil: none
	stopScores context.CancelFunc

	width, height int
}

func newComparison(h kit.Host, asked []chat.Variant, blind bool) *comparison {
	c := &comparison{tab: h.Tab(), asked: asked, blind: blind}
	if m := h.Model(); m != nil {
		c.tok = m.Tokenizer
	}
	for i, v := range asked {
		c.panes = append(c.panes, &pane{name: v.Name, follow: true})
		c.order = append(c.order, i)
	}
	if blind {
		rand.Shuffle(len(c.order), func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
		c.focus, c.ref = c.order[0], c.order[0]
	}
	return c
}

// Context is where the comparison's own keys are active.
func (c *comparison) Context() keys.Context { return keys.Panes }

// HelpPart is where the help is about panes.
func (c *comparison) HelpPart() string { return string(keys.PaneNext) }

// HoldsWork says that a click beside does not close it.
func (c *comparison) HoldsWork() bool { return true }

// running says that an answer has not ended.
func (c *comparison) running() bool {
	return slices.ContainsFunc(c.panes, func(p *pane) bool { return !p.ended() })
}

// waits says that the answers wait to be kept or dropped.
func (c *comparison) waits() bool { return len(c.tab.View().Alternatives) > 0 }

// Look shows what has come, and asks for perplexities once all have ended.
func (c *comparison) Look(h kit.Host) tea.Cmd {
	c.sync()
	return c.score(h)
}

// sync gives the panes what their answers are now.
func (c *comparison) sync() {
	v := c.tab.View()
	for i, p := range c.panes {
		at := slices.IndexFunc(v.Alternatives, func(r chat.Alternative) bool { return named(r.Variant).Name == c.asked[i].Name })
		switch {
		case at >= 0:
			p.row, p.there, p.gone = v.Alternatives[at], true, false
			if p.row.Reason == infer.ReasonError && p.failed == "" && v.Err != nil {
				p.failed = kit.OneLine(v.Err.Error())
			}
		case p.ended():
		case p.there || v.Live == nil && len(v.Alternatives) == 0:
			if p.gone = true; v.Err != nil {
				p.failed = kit.OneLine(v.Err.Error())
			}
		}
	}
	width, height, _ := c.paneSize()
	ref := c.panes[c.ref]
	for _, p := range c.panes {
		p.sync(width, height)
		p.compare(ref, c.tab.Dialogue().FirstDifference, c.tok)
		if p.ref != ref {
			p.perplexity = 0
		}
	}
}

func (c *comparison) Press(id keys.ID, text string) kit.Action {
	c.said = ""
	switch id {
	case keys.ListCancel:
		return c.keep(nil, false)
	case keys.ListAccept, keys.PaneDrop:
		return c.choose(id == keys.PaneDrop)
	case keys.PaneDiscard:
		return c.askDiscard
	case keys.PaneFork:
		return c.fork
	case keys.PaneAgain:
		return c.again
	case keys.PaneStop:
		return c.stop
	case keys.PaneVote:
		return c.vote(c.panes[c.focus])
	case keys.PaneTie:
		return c.vote(nil)
	case keys.PaneReveal:
		c.blind = false
	case keys.PaneVotes:
		return func(h kit.Host) tea.Cmd { return h.Run(keys.Votes, "") }
	case keys.Help:
		return showHelp
	case keys.PaneZoom:
		c.zoomed = !c.zoomed
	case keys.PaneReference:
		c.ref = c.focus
		return kit.Host.Refresh
	case keys.PaneMark:
		c.panes[c.focus].marked = !c.panes[c.focus].marked
	case keys.PaneSync:
		c.alone = !c.alone
		c.align()
	default:
		c.move(id, text)
	}
	return nil
}

// move goes to another pane or scrolls.
func (c *comparison) move(id keys.ID, text string) {
	here, n := slices.Index(c.order, c.focus), len(c.order)
	a := c.arrangement()
	columns, grid := max(1, a.columns), a.rows > 1 && !a.tabs
	to := here
	switch id {
	case keys.PaneNext:
		to = (here + 1) % n
	case keys.PanePrev:
		to = (here + n - 1) % n
	case keys.CharLeft:
		to = max(0, here-1)
	case keys.CharRight:
		to = min(n-1, here+1)
	case keys.ListUp:
		if to = here - columns; !grid {
			to = -1
		}
	case keys.ListDown:
		if to = here + columns; !grid {
			to = n
		}
	case keys.PaneUp:
		c.scroll(-1)
	case keys.PaneDown:
		c.scroll(1)
	case keys.ListPageUp:
		c.scroll(-c.page())
	case keys.ListPageDown:
		c.scroll(c.page())
	case keys.PaneTop:
		c.scroll(-len(c.panes[c.focus].text.rows))
	case keys.PaneEnd:
		c.scroll(len(c.panes[c.focus].text.rows))
	case keys.PaneDiffers:
		c.toDifference()
	case "":
		if len(text) == 1 && text[0] >= '1' && int(text[0]-'1') < n {
			to = int(text[0] - '1')
		}
	}
	switch {
	case to >= 0 && to < n:
		c.focus = c.order[to]
	case id == keys.ListUp: // with no pane there, the arrows scroll
		c.scroll(-1)
	case id == keys.ListDown:
		c.scroll(1)
	}
}

func (c *comparison) page() int { return max(1, c.panes[c.focus].height-2) }

// scroll moves the focused pane, and the others with it.
func (c *comparison) scroll(by int) {
	p := c.panes[c.focus]
	p.scrollTo(p.top + by)
	c.align()
}

// toDifference scrolls to where the focused answer begins to differ.
func (c *comparison) toDifference() {
	p := c.panes[c.focus]
	if p.differs.empty() {
		c.said = "This is the reference, or the same as it."
		return
	}
	p.scrollTo(p.text.rowOf(p.differs.from) - p.height/2)
	c.align()
}

// align puts all panes where the focused one is, if they scroll together.
func (c *comparison) align() {
	from := c.panes[c.focus]
	if c.alone {
		return
	}
	for _, p := range c.panes {
		p.scrollTo(from.top)
		p.follow = from.follow
	}
}

// chosen are the marked answers, the focused one first if it is marked; without
// a mark, the focused one alone. A pane without an answer is left out.
func (c *comparison) chosen() []turn.ID {
	focus := c.panes[c.focus]
	var ids []turn.ID
	for _, p := range c.panes {
		if p.marked && p != focus && p.there && !p.gone {
			ids = append(ids, p.row.Turn.ID)
		}
	}
	if (focus.marked || len(ids) == 0) && focus.there && !focus.gone {
		ids = slices.Insert(ids, 0, focus.row.Turn.ID)
	}
	return ids
}

// choose ends the comparison with the chosen answers. While the focused answer
// has no text, the key was pressed once too often in the setup: nothing happens.
func (c *comparison) choose(drop bool) kit.Action {
	keep, focus := c.chosen(), c.panes[c.focus]
	switch {
	case !focus.marked && !focus.ended() && focus.row.Text == "":
		c.said = "This answer has not begun: wait for what it says."
		return nil
	case drop && len(keep) == 0:
		return c.askDiscard
	}
	return c.keep(keep, drop)
}

// title names a pane as it may be named now.
func (c *comparison) title(i int) string {
	if c.blind {
		return fmt.Sprintf("answer %d", slices.Index(c.order, i)+1)
	}
	return kit.OneLine(c.panes[i].name)
}

const wheelLines = 3

// Wheel scrolls all panes or, if each scrolls alone, the one under the pointer.
func (c *comparison) Wheel(by, x, y int) kit.Action {
	if i, ok := c.paneAt(x, y); ok && c.alone {
		p := c.panes[i]
		p.scrollTo(p.top + by*wheelLines)
		return nil
	}
	c.scroll(by * wheelLines)
	return nil
}

func (c *comparison) Click(x, y int) kit.Action {
	if i, ok := c.paneAt(x, y); ok {
		c.focus = i
	}
	return nil
}

func (c *comparison) Resize(width, height int) {
	c.width, c.height = width, height
	c.sync()
}
