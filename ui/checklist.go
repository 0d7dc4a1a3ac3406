package ui

import (
	"fmt"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A checklist is a list of which several entries are chosen.
type checklist struct {
	title  string
	items  []item
	accept func(chosen []int) intent

	selected, top int
	width, height int
}

// An item is a row of a checklist.
type item struct {
	title, detail string
	checked       bool
}

func (c *checklist) press(id keys.ID, text string) intent {
	switch {
	case id == keys.ListCancel:
		return done{}
	case id == keys.ListAccept:
		return c.accept(c.chosen())
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
func (c *checklist) chosen() []int {
	var chosen []int
	for i, it := range c.items {
		if it.checked {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

func (c *checklist) toggle(i int) {
	if i >= 0 && i < len(c.items) {
		c.items[i].checked = !c.items[i].checked
	}
}

func (c *checklist) move(by int) {
	c.selected = max(0, min(c.selected+by, len(c.items)-1))
	c.top = max(min(c.top, c.selected), c.selected-c.rows()+1)
}

func (c *checklist) wheel(by int) intent {
	c.move(by)
	return nil
}

func (c *checklist) click(_, y int) intent {
	if i := c.top + y - 1; y >= 1 && i < len(c.items) {
		c.selected = i
		c.toggle(i)
	}
	return nil
}

func (c *checklist) resize(width, height int) {
	c.width, c.height = width, height
	c.move(0)
}

func (c *checklist) rows() int { return max(1, min(len(c.items), c.height-6)) }

func (c *checklist) draw(th theme.Theme, m keys.Map) box {
	inner := innerWidth(chooserWidth, c.width)
	var content []string
	for i := c.top; i < min(len(c.items), c.top+c.rows()); i++ {
		it := c.items[i]
		mark := "[ ] "
		if it.checked {
			mark = "[x] "
		}
		detail := besides(mark+it.title, it.detail, inner)
		if i == c.selected {
			content = append(content, th.Selected.Render(pad(spread(mark+it.title, detail, inner), inner)))
			continue
		}
		content = append(content, spread(mark+it.title, th.Muted.Render(detail), inner))
	}
	if below := len(c.items) - c.top - c.rows(); below > 0 {
		content = append(content, th.Muted.Render("  "+count(below)+" more "+th.Glyphs.Down))
	}
	hints := hintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), fmt.Sprintf("take %d marked", len(c.chosen())),
		m.Hint(keys.List, keys.ListCancel), "close", "space", "mark")
	return framed(th, c.title, content, hints, inner, c.width, c.height)
}
