package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A helpSheet lists every action with its keys, from the action table.
type helpSheet struct {
	th            theme.Theme
	keymap        keys.Map
	about         []string // version and places
	lines         []string // for the width told
	top           int
	width, height int
}

const helpWidth = 84

// showHelp opens the sheet over a dialog.
type showHelp struct{}

func (showHelp) intent() {}

func (showHelp) carryOut(m *Model) tea.Cmd { return m.openHelp("") }

// uncover takes the sheet off a dialog that goes on by itself.
func (m *Model) uncover(d dialog) {
	n := len(m.dialogs)
	if n < 2 || m.dialogs[n-2] != d {
		return
	}
	if _, ok := m.dialogs[n-1].(*helpSheet); ok {
		m.shut()
	}
}

func (h *helpSheet) press(id keys.ID, text string) intent {
	switch {
	case id == keys.ListCancel || id == keys.ListAccept || text == "q" || text == "?":
		return done{}
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

func (h *helpSheet) wheel(by int) intent {
	h.scroll(by)
	return nil
}

func (h *helpSheet) click(int, int) intent { return nil }
func (h *helpSheet) rows() int             { return max(1, h.height-4) }

func (h *helpSheet) resize(width, height int) {
	h.width, h.height = width, height
	h.lines = helpLines(h.th, h.keymap, h.about, innerWidth(helpWidth, width))
	h.scroll(0)
}

func (h *helpSheet) draw(th theme.Theme, m keys.Map) box {
	inner := innerWidth(helpWidth, h.width)
	content := h.lines[h.top:min(len(h.lines), h.top+h.rows())]
	hints := hintLine(th, inner-2, m.Hint(keys.List, keys.ListCancel), "close", "↑↓", "scroll", m.Hint(keys.List, keys.ListPageDown), "page")
	return framed(th, "Help", content, hints, inner, h.width, h.height)
}

// helpLines is the sheet: keys on the left, what they do, and the command.
func helpLines(th theme.Theme, m keys.Map, about []string, width int) []string {
	var lines []string
	for _, line := range about {
		lines = append(lines, th.Muted.Render(fit(line, width)))
	}
	left := min(28, width/2)
	for _, category := range keys.Categories {
		lines = append(lines, "", th.Heading.Render(string(category)))
		for _, a := range keys.Actions() {
			if a.Category != category {
				continue
			}
			names := m.Keys(a.ID)
			label := strings.Join(names[:min(len(names), 3)], "  ")
			what := a.Help
			if a.Slash != "" {
				what = fmt.Sprintf("%s (/%s)", a.Help, a.Slash)
			}
			for i, line := range wrapped(what, width-left-1) {
				if i > 0 {
					label = ""
				}
				lines = append(lines, th.Key.Render(pad(label, left))+" "+line)
			}
		}
	}
	return lines
}
