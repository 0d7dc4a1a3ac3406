package ui

import (
	"strings"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A composer is where a prompt is written. Every tab has its own, which keeps
// its draft.
type composer struct {
	area
	held     []pasted
	serial   int    // of pasted marks
	editing  bool   // a turn is being changed
	edits    edited // which; the zero value is the last prompt
	recalled int    // how far back in the history, 0 is the draft
	draft    string // what was there before the history was fetched
	menu     menu
}

func newComposer(th theme.Theme) *composer {
	return &composer{area: newArea(th, "Write a message, or / for commands")}
}

// paste inserts a pasted text, or its mark if it is large.
func (c *composer) paste(text string) {
	text = normalizePaste(text)
	if largePaste(text) {
		text = c.hold(text)
	}
	c.insert(text)
}

// prompt is what is to be sent.
func (c *composer) prompt() string { return strings.TrimRight(c.expand(c.value()), " \n") }

// fill replaces everything by a text, which may be of any size.
func (c *composer) fill(text string) {
	c.held, c.recalled = nil, 0
	if largePaste(text) {
		text = c.hold(text)
	}
	c.set(text)
}

// open replaces everything by a text that is to be changed: all of it stands
// there, whatever its size.
func (c *composer) open(text string) {
	c.held, c.recalled = nil, 0
	c.set(text)
}

// clear is after sending.
func (c *composer) clear() {
	c.held, c.recalled, c.draft, c.editing, c.edits = nil, 0, "", false, edited{}
	c.set("")
}

// press carries out an editing action.
func (c *composer) press(id keys.ID) bool {
	if id == keys.DeleteLeft || id == keys.DeleteWord {
		if mark := c.markBefore(); mark != "" {
			c.deleteBefore(len(mark))
			return true
		}
	}
	return c.edit(id)
}

// breakLine starts a new line if a backslash stands before the cursor, which
// it replaces: for terminals that have no shift+enter.
func (c *composer) breakLine() bool {
	if !strings.HasSuffix(c.before(), `\`) {
		return false
	}
	c.deleteBefore(1)
	c.insert("\n")
	return true
}

// recall fetches an older (by 1) or newer (by -1) prompt of the history.
func (c *composer) recall(prompts []string, by int) bool {
	to := c.recalled + by
	if to < 0 || to > len(prompts) {
		return false
	}
	if c.recalled == 0 {
		c.draft = c.expand(c.value())
	}
	if to == 0 {
		c.fill(c.draft)
	} else {
		c.fill(prompts[len(prompts)-to])
	}
	c.recalled = to
	return true
}
