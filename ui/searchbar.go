package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A searchBar is the line in which a search in the messages is typed. It lies
// over the rule above the composer, so that the matches stay in view.
type searchBar struct {
	input         kit.TextArea
	asked         int
	row           int // of the screen
	width, height int
	finds         searcher
}

// A searcher is where the bar searches.
type searcher interface {
	search(query string)
	endSearch()
	// found is which match is current, counted from 1, and how many there are.
	found() (current, total int)
}

func newSearchBar(th theme.Theme, query string, finds searcher) *searchBar {
	return &searchBar{input: kit.NewField(th, "find in this conversation", query), finds: finds}
}

func (s *searchBar) Press(id keys.ID, text string) kit.Action {
	switch id {
	case keys.ListCancel:
		return s.drop
	case keys.ListAccept:
		return s.keep
	case "":
		kit.TypeInto(&s.input, text, false)
	default:
		s.input.Edit(id)
	}
	if s.asked != s.input.Changes() {
		s.asked = s.input.Changes()
		return s.find
	}
	return nil
}

// find searches while the query is typed, keep goes to the matches and drop
// forgets them.
func (s *searchBar) find(kit.Host) tea.Cmd {
	s.finds.search(s.input.Value())
	return nil
}

func (s *searchBar) keep(h kit.Host) tea.Cmd {
	h.CloseDialog()
	if _, total := s.finds.found(); total > 0 {
		h.Focus(keys.Transcript)
	}
	return nil
}

func (s *searchBar) drop(h kit.Host) tea.Cmd {
	h.CloseDialog()
	s.finds.endSearch()
	return nil
}

func (s *searchBar) Wheel(int, int, int) kit.Action { return nil }
func (s *searchBar) Click(int, int) kit.Action      { return nil }

func (s *searchBar) Resize(width, height int) {
	s.width, s.height = width, height
	s.input.SetWidth(max(1, width/2))
}

func (s *searchBar) Draw(th theme.Theme, m keys.Map) kit.Box {
	s.input.Scroll(1)
	lines, x, _ := s.input.Draw(1)
	label := "find: "
	status := ""
	if current, total := s.finds.found(); total > 0 {
		status = fmt.Sprintf("%d of %d  ", current, total)
	} else if !s.input.Empty() {
		status = "no match  "
	}
	hints := kit.HintLine(th, s.width/2-len(label)-len(status)-2, m.Hint(keys.List, keys.ListAccept), "keep", m.Hint(keys.List, keys.ListCancel), "close")
	line := kit.Spread(th.Accent.Render(label)+lines[0], th.Muted.Render(status)+hints, s.width)
	return kit.Box{Lines: []string{kit.Pad(line, s.width)}, X: 0, Y: s.row, CursorX: len(label) + x, CursorY: s.row}
}
