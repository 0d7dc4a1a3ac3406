package ui

import (
	"strings"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
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

// refreshMenu follows the text.
func (c *composer) refreshMenu() {
	if c.menu.changes == c.Changes() {
		return
	}
	c.menu = menu{changes: c.Changes()}
	if c.LineCount() > 1 || len(c.held) > 0 {
		return
	}
	name, rest, spaced := strings.Cut(c.Value(), " ")
	name, slash := strings.CutPrefix(name, "/")
	if !slash || !commandName(name) && name != "" {
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
		c.menu.entries = completions(name)
	}
}

// completions are the commands that begin with a name, then those that hold it.
func completions(name string) []keys.Action {
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

// open reports whether the menu takes keys.
func (m *menu) open() bool { return len(m.entries) > 0 && !m.closed && !m.complete }

func (m *menu) move(by int) {
	n := len(m.entries)
	m.selected = ((m.selected+by)%n + n) % n
}

// lines draws the menu, the selected entry in view.
func (m *menu) lines(th theme.Theme, width int) []string {
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
			lines = append(lines, th.Selected.Render(kit.Pad(" "+usage+"  "+a.Help, width)))
			continue
		}
		lines = append(lines, kit.Pad(" "+th.Key.Render(usage)+"  "+th.Muted.Render(kit.Fit(a.Help, max(0, width-widest-4))), width))
	}
	return lines
}

// commandName reports whether a word could be the name of a command and not,
// say, a path.
func commandName(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// parseCommand takes a prompt apart. A prompt that begins with two slashes is
// text that begins with one; a path is text.
func parseCommand(prompt string) (name, arg, text string, isCommand bool) {
	if rest, ok := strings.CutPrefix(prompt, "//"); ok {
		return "", "", "/" + rest, false
	}
	rest, ok := strings.CutPrefix(prompt, "/")
	if !ok {
		return "", "", prompt, false
	}
	name, arg, _ = strings.Cut(rest, " ")
	if !commandName(name) {
		return "", "", prompt, false
	}
	return name, strings.TrimSpace(arg), "", true
}
