package composer

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A menu completes the slash command or the path of a file that is being typed.
type menu struct {
	entries  []choice
	selected int
	complete bool   // the name is typed in full: the entry only shows what it takes
	closed   bool   // by hand, until the text changes
	changes  int    // of the text that entries are for
	before   string // the cursor, when they are files
}

// A choice is one entry. take completes it or, with enter, may leave it to be sent; it
// reports whether the key was used.
type choice struct {
	usage, help string
	take        func(c *Composer, id keys.ID) bool
}

const menuRows = 8

// refreshMenu brings the menu up to date with the text.
func (c *Composer) refreshMenu() {
	if c.menu.changes == c.Changes() && (c.menu.before == "" || c.menu.before == c.Before()) {
		return
	}
	c.menu = menu{changes: c.Changes()}
	if c.menu.entries = c.fileChoices(); len(c.menu.entries) > 0 {
		c.menu.before = c.Before()
		return
	}
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
			c.menu.entries, c.menu.complete = commandChoices(a), true
		} else if !spaced {
			c.menu.entries = commandChoices(a)
		}
		return
	}
	if !spaced {
		c.menu.entries = commandChoices(findCompletions(name)...)
	}
}

func commandChoices(actions ...keys.Action) []choice {
	var all []choice
	for _, a := range actions {
		all = append(all, choice{usage: a.Usage(), help: a.Help, take: func(c *Composer, id keys.ID) bool { return c.takeCommand(a, id) }})
	}
	return all
}

// takeCommand writes a command. Enter runs it if it takes nothing, or was typed in full
// and needs nothing.
func (c *Composer) takeCommand(a keys.Action, id keys.ID) bool {
	if id == keys.Send && c.Value() == "/"+a.Slash && !a.NeedsArgument() {
		return false
	}
	text := "/" + a.Slash
	if a.Args != "" {
		text += " "
	}
	c.Set(text)
	return id == keys.Complete || a.Args != ""
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

// MenuOpen says that the menu takes keys.
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
		return c.menu.entries[c.menu.selected].take(c, id)
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
		return c.drawCost(width)
	}
	first := max(0, m.selected-menuRows+1)
	end := min(len(m.entries), first+menuRows)
	widest := 0
	for _, a := range m.entries[first:end] {
		widest = max(widest, ansi.StringWidth(a.usage))
	}
	most := 24
	if m.before != "" { // paths, which differ at their ends
		most = max(most, width/2)
	}
	widest = min(widest, most)
	var lines []string
	for i, a := range m.entries[first:end] {
		usage := kit.Pad(a.usage, widest)
		if m.before != "" {
			usage = kit.Pad(kit.FitEnd(a.usage, widest), widest)
		}
		if first+i == m.selected && !m.complete {
			lines = append(lines, kit.PointAt(th, " "+usage+"  "+a.help, width))
			continue
		}
		lines = append(lines, kit.Pad(" "+th.Key.Render(usage)+"  "+th.Muted.Render(kit.Fit(a.help, max(0, width-widest-4))), width))
	}
	return lines
}
