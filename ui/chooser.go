package ui

import (
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A chooser is a list that is narrowed by typing.
type chooser struct {
	title   string
	empty   string // said when there is nothing
	entries []entry
	verb    string // what enter does
	query   area
	asked   int // change of query that shown is for

	shown         []int // entries that match, best first
	selected, top int
	width, height int
}

// An entry is a row of a chooser. remove, rename and inspect may be nil.
type entry struct {
	title, detail  string
	current        bool
	choose         intent
	remove, rename intent
	inspect        intent
}

// A chooser is as wide as its entries need, within these bounds.
const (
	chooserWidth = 76
	chooserMost  = 116
)

func newChooser(th theme.Theme, title, verb, empty string, entries []entry) *chooser {
	c := &chooser{title: title, verb: verb, empty: empty, entries: entries, query: field(th, "type to search", "")}
	c.fill(entries)
	return c
}

// fill replaces the entries. The current one is selected unless something has
// been typed.
func (c *chooser) fill(entries []entry) {
	c.entries = entries
	c.query.setWidth(c.inner() - 2)
	c.filter()
	for i, e := range entries {
		if e.current && c.query.empty() {
			c.selected = i
		}
	}
	if c.height > 0 {
		c.scroll()
	}
}

// String and Len make the entries a source of the fuzzy search.
func (c *chooser) String(i int) string { return c.entries[i].title + " " + c.entries[i].detail }
func (c *chooser) Len() int            { return len(c.entries) }

func (c *chooser) filter() {
	c.asked, c.selected, c.top = c.query.changes, 0, 0
	c.shown = c.shown[:0]
	if c.query.empty() {
		for i := range c.entries {
			c.shown = append(c.shown, i)
		}
		return
	}
	for _, m := range fuzzy.FindFrom(c.query.value(), c) {
		c.shown = append(c.shown, m.Index)
	}
}

func (c *chooser) press(id keys.ID, text string) intent {
	switch id {
	case keys.ListCancel:
		return done{}
	case keys.ListAccept:
		return c.pick(func(e entry) intent { return e.choose })
	case keys.ListDelete:
		return c.pick(func(e entry) intent { return e.remove })
	case keys.ListRename:
		return c.pick(func(e entry) intent { return e.rename })
	case keys.ListInspect:
		return c.pick(func(e entry) intent { return e.inspect })
	case keys.ListUp:
		c.move(-1)
	case keys.ListDown:
		c.move(1)
	case keys.ListPageUp:
		c.move(-c.rows())
	case keys.ListPageDown:
		c.move(c.rows())
	case "":
		typed(&c.query, text, false)
	default:
		c.query.edit(id)
	}
	if c.asked != c.query.changes {
		c.filter()
	}
	return nil
}

// pick returns the selected entry's intent, nil if there is no entry.
func (c *chooser) pick(what func(entry) intent) intent {
	if c.selected >= len(c.shown) {
		return nil
	}
	return what(c.entries[c.shown[c.selected]])
}

func (c *chooser) move(by int) {
	c.selected = max(0, min(c.selected+by, len(c.shown)-1))
	c.scroll()
}

func (c *chooser) scroll() {
	c.top = max(min(c.top, c.selected), c.selected-c.rows()+1)
}

func (c *chooser) wheel(by int) intent {
	c.move(by)
	return nil
}

func (c *chooser) click(_, y int) intent {
	i := c.top + y - 3 // border, field, blank
	if y < 3 || i >= len(c.shown) {
		return nil
	}
	c.selected = i
	return c.pick(func(e entry) intent { return e.choose })
}

func (c *chooser) resize(width, height int) {
	c.width, c.height = width, height
	c.query.setWidth(c.inner() - 2)
	c.scroll()
}

// inner is the width of the content.
func (c *chooser) inner() int {
	want := chooserWidth
	for _, e := range c.entries {
		want = max(want, min(ansi.StringWidth(e.title)+ansi.StringWidth(e.detail)+4, chooserMost))
	}
	return innerWidth(want, c.width)
}

// rows is how many entries are seen at once.
func (c *chooser) rows() int { return max(1, min(max(16, c.height/2), c.height-8)) }

func (c *chooser) draw(th theme.Theme, m keys.Map) box {
	inner := c.inner()
	c.query.scroll(1)
	input, x, _ := c.query.draw(1)
	content := []string{th.Accent.Render(th.Glyphs.Cursor) + " " + input[0], ""}
	for i := c.top; i < min(len(c.shown), c.top+c.rows()); i++ {
		e := c.entries[c.shown[i]]
		mark := "  "
		if e.current {
			mark = "* "
		}
		detail := besides(mark+e.title, e.detail, inner)
		if i == c.selected {
			content = append(content, th.Selected.Render(pad(spread(mark+e.title, detail, inner), inner)))
			continue
		}
		content = append(content, spread(mark+e.title, th.Muted.Render(detail), inner))
	}
	if len(c.shown) == 0 {
		say := c.empty
		if len(c.entries) > 0 {
			say = "Nothing matches."
		}
		content = append(content, th.Muted.Render("  "+say))
	}
	if below := len(c.shown) - c.top - c.rows(); below > 0 {
		content = append(content, th.Muted.Render("  "+count(below)+" more "+th.Glyphs.Down))
	}
	hints := []string{m.Hint(keys.List, keys.ListAccept), c.verb, m.Hint(keys.List, keys.ListCancel), "close"}
	if c.pick(func(e entry) intent { return e.rename }) != nil {
		hints = append(hints, m.Hint(keys.List, keys.ListRename), "rename")
	}
	if c.pick(func(e entry) intent { return e.remove }) != nil {
		hints = append(hints, m.Hint(keys.List, keys.ListDelete), "delete")
	}
	if c.pick(func(e entry) intent { return e.inspect }) != nil {
		hints = append(hints, m.Hint(keys.List, keys.ListInspect), "inspect")
	}
	return framed(th, c.title, content, hintLine(th, inner-2, hints...), inner, c.width, c.height).withCursor(x+2, 0)
}
