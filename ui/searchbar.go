package ui

import (
	"fmt"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// A searchBar is the line in which a search in the messages is typed. It lies
// over the rule above the composer, so that the matches stay in view.
type searchBar struct {
	input         area
	asked         int
	row           int // of the screen
	width, height int
	report        func() (current, total int)
}

func newSearchBar(th theme.Theme, query string, report func() (int, int)) *searchBar {
	return &searchBar{input: field(th, "find in this conversation", query), report: report}
}

func (s *searchBar) press(id keys.ID, text string) intent {
	switch id {
	case keys.ListCancel:
		return dropFound{}
	case keys.ListAccept:
		return keepFound{}
	case "":
		typed(&s.input, text, false)
	default:
		s.input.edit(id)
	}
	if s.asked != s.input.changes {
		s.asked = s.input.changes
		return find{s.input.value()}
	}
	return nil
}

func (s *searchBar) wheel(int) intent      { return nil }
func (s *searchBar) click(int, int) intent { return nil }

func (s *searchBar) resize(width, height int) {
	s.width, s.height = width, height
	s.input.setWidth(max(1, width/2))
}

func (s *searchBar) draw(th theme.Theme, m keys.Map) box {
	s.input.scroll(1)
	lines, x, _ := s.input.draw(1)
	label := "find: "
	status := ""
	if current, total := s.report(); total > 0 {
		status = fmt.Sprintf("%d of %d  ", current, total)
	} else if !s.input.empty() {
		status = "no match  "
	}
	hints := hintLine(th, s.width/2-len(label)-len(status)-2, m.Hint(keys.List, keys.ListAccept), "keep", m.Hint(keys.List, keys.ListCancel), "close")
	line := spread(th.Accent.Render(label)+lines[0], th.Muted.Render(status)+hints, s.width)
	return box{lines: []string{pad(line, s.width)}, x: 0, y: s.row, cursorX: len(label) + x, cursorY: s.row}
}
