package composer

import (
	"strings"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A menu completes the slash command that is being typed.
type menu struct {
	entries  []keys.Action
	selected int
	complete bool // the name is typed in full: the entry only shows what it takes
	closed   bool // by hand, until the text changes
	changes  int  // of the text that entries are for
}

const menuRows = 8

// refreshMenu brings the menu up to date with the text.
func (c *Composer) refreshMenu() {
	if c.menu.changes == c.Changes() {
		return
	}
	c.menu = menu{changes: c.Changes()}
	if c.LineCount() > 1 || len(c.held) > 0 {
		return
	}
	name, rest, spaced := strings.Cut(c.Value(), " ")
	name, slash := strings.CutPrefix(name, "/")
	if !slash || !isCommandName(name) && name != "" {
		return
	}
	if a, ok := keys.Slash(name); ok && (spaced || a.Args == "") {
		if spaced && a.Args != "" && rest == "" {
			c.menu.entries, c.menu.complete = []keys.Action{a}, true
		} else if !spaced {
			c.menu.entries = []keys.Action{a}
		}
		return
	}
	if !spaced {
		c.menu.entries = findCompletions(name)
	}
}

// findCompletions lists the commands that begin with a name, then those that
// hold it.
func findCompletions(name string) []keys.Action {
	var first, second []keys.Action
	for _, a := range keys.Actions() {
		switch {
		case a.Slash == "":
		case strings.HasPrefix(a.Slash, name):
			first = append(first, a)
		case strings.Contains(a.Slash, name) || strings.Contains(strings.ToLower(a.Title), name):
			second = append(second, a)
		}
	}
	return append(first, second...)
}

// MenuOpen says that the menu of slash commands takes keys.
func (c *Composer) MenuOpen() bool {
	c.refreshMenu()
	return len(c.menu.entries) > 0 && !c.menu.closed && !c.menu.complete
}

// pressMenu gives a key to the menu. It reports whether the menu is open and
// the key was meant for it.
func (c *Composer) pressMenu(id keys.ID) bool {
	if !c.MenuOpen() {
		return false
	}
	n := len(c.menu.entries)
	switch id {
	case keys.HistoryPrev:
		c.menu.selected = (c.menu.selected + n - 1) % n
	case keys.HistoryNext:
		c.menu.selected = (c.menu.selected + 1) % n
	case keys.Stop:
		c.menu.closed = true
	case keys.Complete, keys.Send:
		a := c.menu.entries[c.menu.selected]
		if id == keys.Send && c.Value() == "/"+a.Slash && !a.NeedsArgument() {
			return false // typed in full: run it
		}
		text := "/" + a.Slash
		if a.Args != "" {
			text += " "
		}
		c.Set(text)
		return id == keys.Complete || a.Args != ""
	default:
		return false
	}
	return true
}

// DrawMenu draws the menu, the selected entry in view. No lines: it is closed.
func (c *Composer) DrawMenu(width int) []string {
	c.refreshMenu()
	m, th := c.menu, c.th
	if len(m.entries) == 0 || m.closed {
		return nil
	}
	first := max(0, m.selected-menuRows+1)
	end := min(len(m.entries), first+menuRows)
	widest := 0
	for _, a := range m.entries[first:end] {
		widest = max(widest, len(a.Usage()))
	}
	widest = min(widest, 24)
	var lines []string
	for i, a := range m.entries[first:end] {
		usage := kit.Pad(a.Usage(), widest)
		if first+i == m.selected && !m.complete {
			lines = append(lines, kit.PointAt(th, " "+usage+"  "+a.Help, width))
			continue
		}
		lines = append(lines, kit.Pad(" "+th.Key.Render(usage)+"  "+th.Muted.Render(kit.Fit(a.Help, max(0, width-widest-4))), width))
	}
	return lines
}
