package kit

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A Checklist is a list of which several entries are chosen.
type Checklist struct {
	Title  string
	Items  []Item
	Accept func(h Host, chosen []int) tea.Cmd

	selected, top int
	width, height int
}

// An Item is a row of a checklist.
type Item struct {
	Title, Detail string
	Checked       bool
}

// Press takes a key.
func (c *Checklist) Press(id keys.ID, text string) Action {
	switch {
	case id == keys.ListCancel:
		return Close
	case id == keys.ListAccept:
		return func(h Host) tea.Cmd { return c.Accept(h, c.chosen()) }
	case id == keys.ListUp:
		c.move(-1)
	case id == keys.ListDown:
		c.move(1)
	case id == keys.ListPageUp:
		c.move(-c.rows())
	case id == keys.ListPageDown:
		c.move(c.rows())
	case text == " ":
		c.toggle(c.selected)
	}
	return nil
}

// chosen are the places of the checked items.
func (c *Checklist) chosen() []int {
	var chosen []int
	for i, it := range c.Items {
		if it.Checked {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

func (c *Checklist) toggle(i int) {
	if i >= 0 && i < len(c.Items) {
		c.Items[i].Checked = !c.Items[i].Checked
	}
}

func (c *Checklist) move(by int) {
	c.selected = max(0, min(c.selected+by, len(c.Items)-1))
	c.top = max(min(c.top, c.selected), c.selected-c.rows()+1)
}

// Wheel scrolls.
func (c *Checklist) Wheel(by, _, _ int) Action {
	c.move(by)
	return nil
}

// Click takes a click inside the box.
func (c *Checklist) Click(_, y int) Action {
	if i := c.top + y - 1; y >= 1 && i < len(c.Items) {
		c.selected = i
		c.toggle(i)
	}
	return nil
}

// Resize tells the size of the screen.
func (c *Checklist) Resize(width, height int) {
	c.width, c.height = width, height
	c.move(0)
}

func (c *Checklist) rows() int { return max(1, min(len(c.Items), c.height-6)) }

// Draw returns the box.
func (c *Checklist) Draw(th theme.Theme, m keys.Map) Box {
	inner := InnerWidth(chooserWidth, c.width)
	var content []string
	for i := c.top; i < min(len(c.Items), c.top+c.rows()); i++ {
		it := c.Items[i]
		mark := " [ ] "
		if it.Checked {
			mark = " [x] "
		}
		detail := besides(mark+it.Title, it.Detail, inner)
		if i == c.selected {
			content = append(content, PointAt(th, Spread(mark+it.Title, detail, inner), inner))
			continue
		}
		content = append(content, Spread(mark+it.Title, th.Muted.Render(detail), inner))
	}
	if below := len(c.Items) - c.top - c.rows(); below > 0 {
		content = append(content, th.Muted.Render("  "+FormatCount(below)+" more "+th.Glyphs.Down))
	}
	hints := HintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), fmt.Sprintf("take %d marked", len(c.chosen())),
		m.Hint(keys.List, keys.ListCancel), "close", "space", "mark")
	return Frame(th, c.Title, content, hints, inner, c.width, c.height)
}
