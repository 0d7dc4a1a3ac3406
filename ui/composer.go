package ui

import (
	"strings"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A composer is where a prompt is written. Every tab has its own, which keeps
// its draft.
type composer struct {
	kit.TextArea
	held     []pasted
	serial   int    // of pasted marks
	editing  bool   // a turn is being changed
	edits    edited // which; the zero value is the last prompt
	recalled int    // how far back in the history, 0 is the draft
	draft    string // what was there before the history was fetched
	menu     menu
}

func newComposer(th theme.Theme) *composer {
	return &composer{TextArea: kit.NewTextArea(th, "Write a message, or / for commands")}
}

// paste inserts a pasted text, or its mark if it is large.
func (c *composer) paste(text string) {
	text = kit.NormalizeLineEnds(text)
	if largePaste(text) {
		text = c.hold(text)
	}
	c.Insert(text)
}

// prompt is what is to be sent.
func (c *composer) prompt() string { return strings.TrimRight(c.expand(c.Value()), " \n") }

// fill replaces everything by a text, which may be of any size.
func (c *composer) fill(text string) {
	c.held, c.recalled = nil, 0
	if largePaste(text) {
		text = c.hold(text)
	}
	c.Set(text)
}

// open replaces everything by a text that is to be changed: all of it stands
// there, whatever its size.
func (c *composer) open(text string) {
	c.held, c.recalled = nil, 0
	c.Set(text)
}

// clear is after sending.
func (c *composer) clear() {
	c.held, c.recalled, c.draft, c.editing, c.edits = nil, 0, "", false, edited{}
	c.Set("")
}

// press carries out an editing action.
func (c *composer) press(id keys.ID) bool {
	if id == keys.DeleteLeft || id == keys.DeleteWord {
		if mark := c.markBefore(); mark != "" {
			c.DeleteBefore(len(mark))
			return true
		}
	}
	return c.Edit(id)
}

// breakLine starts a new line if a backslash stands before the cursor, which
// it replaces: for terminals that have no shift+enter.
func (c *composer) breakLine() bool {
	if !strings.HasSuffix(c.Before(), `\`) {
		return false
	}
	c.DeleteBefore(1)
	c.Insert("\n")
	return true
}

// recall fetches an older (by 1) or newer (by -1) prompt of the history.
func (c *composer) recall(prompts []string, by int) bool {
	to := c.recalled + by
	if to < 0 || to > len(prompts) {
		return false
	}
	if c.recalled == 0 {
		c.draft = c.expand(c.Value())
	}
	if to == 0 {
		c.fill(c.draft)
	} else {
		c.fill(prompts[len(prompts)-to])
	}
	c.recalled = to
	return true
}

// Text is what would be sent.
func (c *composer) Text() string { return c.prompt() }

// Editing says that a turn is being changed.
func (c *composer) Editing() bool { return c.editing }

// Fill replaces the text.
func (c *composer) Fill(text string) {
	c.fill(text)
	c.refreshMenu()
}

// Clear takes the text away.
func (c *composer) Clear() {
	c.clear()
	c.refreshMenu()
}

// Change puts the text of a turn there to be changed.
func (c *composer) Change(t turn.Turn) {
	c.open(t.Text)
	c.editing, c.edits = true, edited{turn: t.ID, answer: t.Role == turn.RoleAssistant}
	c.refreshMenu()
}
