package kit

import (
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A Chooser is a list that is narrowed by typing.
type Chooser struct {
	Title   string
	Empty   string // said when there is nothing
	entries []Entry
	verb    string // what enter does
	query   TextArea
	asked   int // change of query that shown is for

	shown         []int // entries that match, best first
	selected, top int
	width, height int
}

// An Entry is a row of a chooser. Remove, Rename and Inspect may be nil.
type Entry struct {
	Title, Detail  string
	Current        bool
	Choose         Action
	Remove, Rename Action
	Inspect        Action
}

// A chooser is as wide as its entries need, within these bounds.
const (
	chooserWidth = 76
	ChooserMost  = 116
)

// NewChooser makes a list of entries; empty is said when there are none, and verb is
// what choosing one does.
func NewChooser(th theme.Theme, title, verb, empty string, entries []Entry) *Chooser {
	c := &Chooser{Title: title, verb: verb, Empty: empty, entries: entries, query: NewField(th, "type to search", "")}
	c.Fill(entries)
	return c
}

// Fill replaces the entries. The current one is selected unless something has
// been typed.
func (c *Chooser) Fill(entries []Entry) {
	c.entries = entries
	c.query.SetWidth(c.inner() - 2)
	c.filter()
	for i, e := range entries {
		if e.Current && c.query.Empty() {
			c.selected = i
		}
	}
	if c.height > 0 {
		c.scroll()
	}
}

// String is what the fuzzy search sees of an entry.
func (c *Chooser) String(i int) string { return c.entries[i].Title + " " + c.entries[i].Detail }

// Len is the number of entries.
func (c *Chooser) Len() int { return len(c.entries) }

func (c *Chooser) filter() {
	c.asked, c.selected, c.top = c.query.Changes(), 0, 0
	c.shown = c.shown[:0]
	if c.query.Empty() {
		for i := range c.entries {
			c.shown = append(c.shown, i)
		}
		return
	}
	for _, m := range fuzzy.FindFrom(c.query.Value(), c) {
		c.shown = append(c.shown, m.Index)
	}
}

// Press takes a key.
func (c *Chooser) Press(id keys.ID, text string) Action {
	switch id {
	case keys.ListCancel:
		return Close
	case keys.ListAccept:
		return c.pick(func(e Entry) Action { return e.Choose })
	case keys.ListDelete:
		return c.pick(func(e Entry) Action { return e.Remove })
	case keys.ListRename:
		return c.pick(func(e Entry) Action { return e.Rename })
	case keys.ListInspect:
		return c.pick(func(e Entry) Action { return e.Inspect })
	case keys.ListUp:
		c.move(-1)
	case keys.ListDown:
		c.move(1)
	case keys.ListPageUp:
		c.move(-c.rows())
	case keys.ListPageDown:
		c.move(c.rows())
	case "":
		TypeInto(&c.query, text, false)
	default:
		c.query.Edit(id)
	}
	if c.asked != c.query.Changes() {
		c.filter()
	}
	return nil
}

// pick returns the selected entry's intent, nil if there is no entry.
func (c *Chooser) pick(what func(Entry) Action) Action {
	if c.selected >= len(c.shown) {
		return nil
	}
	return what(c.entries[c.shown[c.selected]])
}

func (c *Chooser) move(by int) {
	c.selected = max(0, min(c.selected+by, len(c.shown)-1))
	c.scroll()
}

func (c *Chooser) scroll() {
	c.top = max(min(c.top, c.selected), c.selected-c.rows()+1)
}

// Wheel scrolls.
func (c *Chooser) Wheel(by, _, _ int) Action {
	c.move(by)
	return nil
}

// Click takes a click inside the box.
func (c *Chooser) Click(_, y int) Action {
	i := c.top + y - 3 // border, field, blank
	if y < 3 || i >= len(c.shown) {
		return nil
	}
	c.selected = i
	return c.pick(func(e Entry) Action { return e.Choose })
}

// Resize tells the size of the screen.
func (c *Chooser) Resize(width, height int) {
	c.width, c.height = width, height
	c.query.SetWidth(c.inner() - 2)
	c.scroll()
}

// inner is the width of the content.
func (c *Chooser) inner() int {
	want := chooserWidth
	for _, e := range c.entries {
		want = max(want, min(ansi.StringWidth(e.Title)+ansi.StringWidth(e.Detail)+4, ChooserMost))
	}
	return InnerWidth(want, c.width)
}

// rows is how many entries are seen at once.
func (c *Chooser) rows() int { return max(1, min(max(16, c.height/2), c.height-8)) }

// Draw returns the box.
func (c *Chooser) Draw(th theme.Theme, m keys.Map) Box {
	inner := c.inner()
	c.query.Scroll(1)
	input, x, _ := c.query.Draw(1)
	content := []string{th.Accent.Render(th.Glyphs.Cursor) + " " + input[0], ""}
	for i := c.top; i < min(len(c.shown), c.top+c.rows()); i++ {
		e := c.entries[c.shown[i]]
		mark := "   " // the first cell is the pointer's
		if e.Current {
			mark = " * "
		}
		detail := besides(mark+e.Title, e.Detail, inner)
		if i == c.selected {
			content = append(content, PointAt(th, Spread(mark+e.Title, detail, inner), inner))
			continue
		}
		content = append(content, Spread(mark+e.Title, th.Muted.Render(detail), inner))
	}
	if len(c.shown) == 0 {
		say := c.Empty
		if len(c.entries) > 0 {
			say = "Nothing matches."
		}
		content = append(content, th.Muted.Render("  "+say))
	}
	if below := len(c.shown) - c.top - c.rows(); below > 0 {
		content = append(content, th.Muted.Render("  "+FormatCount(below)+" more "+th.Glyphs.Down))
	}
	hints := []string{m.Hint(keys.List, keys.ListAccept), c.verb, m.Hint(keys.List, keys.ListCancel), "close"}
	if c.pick(func(e Entry) Action { return e.Rename }) != nil {
		hints = append(hints, m.Hint(keys.List, keys.ListRename), "rename")
	}
	if c.pick(func(e Entry) Action { return e.Remove }) != nil {
		hints = append(hints, m.Hint(keys.List, keys.ListDelete), "delete")
	}
	if c.pick(func(e Entry) Action { return e.Inspect }) != nil {
		hints = append(hints, m.Hint(keys.List, keys.ListInspect), "inspect")
	}
	return Frame(th, c.Title, content, HintLine(th, inner-2, hints...), inner, c.width, c.height).WithCursor(x+2, 0)
}
