package ui

import (
	"fmt"
	"strings"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A helpSheet lists every action with its keys, from the action table, and the
// keys that panels have for themselves.
type helpSheet struct {
	th            theme.Theme
	keymap        keys.Map
	about         []string // version and places
	panels        []titled // and the strip
	from          string   // the part that it opens at: see helpFrom
	lines         []string // for the width told
	top           int
	width, height int
}

const helpWidth = 84

// titled is what has keys of its own.
type titled interface {
	Title() string
	Keys() [][2]string
}

func (h *helpSheet) Press(id keys.ID, text string) kit.Action {
	switch {
	case id == keys.ListCancel || id == keys.ListAccept || text == "q" || text == "?":
		return kit.Close
	case id == keys.ListUp || text == "k":
		h.scroll(-1)
	case id == keys.ListDown || text == "j":
		h.scroll(1)
	case id == keys.ListPageUp:
		h.scroll(-h.rows())
	case id == keys.ListPageDown || text == " ":
		h.scroll(h.rows())
	}
	return nil
}

func (h *helpSheet) scroll(by int) { h.top = max(0, min(h.top+by, len(h.lines)-h.rows())) }

func (h *helpSheet) Wheel(by, _, _ int) kit.Action {
	h.scroll(by)
	return nil
}

func (h *helpSheet) Click(int, int) kit.Action { return nil }
func (h *helpSheet) rows() int                 { return max(1, h.height-4) }

func (h *helpSheet) Resize(width, height int) {
	h.width, h.height = width, height
	lines, parts := helpLines(h.th, h.keymap, h.about, h.panels, kit.InnerWidth(helpWidth, width))
	if h.lines == nil {
		h.top = parts[h.from]
	}
	h.lines = lines
	h.scroll(0)
}

// helpFrom is the part of the help about what has the keyboard, as helpLines
// names it: its own keys are what is looked for there. "" is the beginning.
func (m *Model) helpFrom() string {
	if n := len(m.dialogs); n > 0 {
		if d, ok := m.dialogs[n-1].(kit.Helped); ok {
			return d.HelpPart()
		}
		return ""
	}
	switch {
	case m.strip.Focused():
		return panelPart(m.strip.Title())
	case m.focus == keys.Panel && m.panel.open():
		return panelPart(m.panel.current().Title())
	}
	return ""
}

// panelPart names the keys of a panel in the help.
func panelPart(title string) string { return "In the panels: " + title }

func (h *helpSheet) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(helpWidth, h.width)
	content := h.lines[h.top:min(len(h.lines), h.top+h.rows())]
	hints := kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "close", "↑↓", "scroll", m.Hint(keys.List, keys.ListPageDown), "page")
	return kit.Frame(th, "Help", content, hints, inner, h.width, h.height)
}

// helpLines is the sheet: keys on the left, what they do, and the command. parts
// are the lines where categories, actions and the keys of panels begin.
func helpLines(th theme.Theme, m keys.Map, about []string, panels []titled, width int) (lines []string, parts map[string]int) {
	parts = map[string]int{}
	for _, line := range about {
		lines = append(lines, th.Muted.Render(kit.Fit(line, width)))
	}
	left := min(28, width/2)
	head := func(name string) {
		lines = append(lines, "", th.Heading.Render(kit.Fit(name, width)))
		parts[name] = len(lines) - 1
	}
	row := func(label, what string) {
		for i, line := range kit.Wrap(what, width-left-1) {
			if i > 0 {
				label = ""
			}
			lines = append(lines, th.Key.Render(kit.Pad(label, left))+" "+line)
		}
	}
	for _, category := range keys.Categories {
		head(string(category))
		for _, a := range keys.Actions() {
			if a.Category != category {
				continue
			}
			parts[string(a.ID)] = len(lines)
			names := m.Keys(a.ID)
			what := a.Help
			if a.Slash != "" {
				what = fmt.Sprintf("%s (/%s)", a.Help, a.Slash)
			}
			row(strings.Join(names[:min(len(names), 3)], "  "), what)
		}
		if category != keys.Program {
			continue
		}
		for _, p := range panels {
			head(panelPart(p.Title()))
			for _, k := range p.Keys() {
				row(k[0], k[1])
			}
		}
	}
	return lines, parts
}
