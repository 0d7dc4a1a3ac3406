package transcript

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
	kit.Window
	input kit.TextArea
	asked int // version of the input that was searched for
	text  *Transcript
}

func newSearchBar(th theme.Theme, query string, text *Transcript) *searchBar {
	return &searchBar{input: kit.NewField(th, "find in this conversation", query), text: text}
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
	s.text.search(s.input.Value())
	return nil
}

func (s *searchBar) keep(h kit.Host) tea.Cmd {
	h.CloseDialog()
	if _, total := s.text.Found(); total > 0 {
		h.Focus(keys.Transcript)
	}
	return nil
}

func (s *searchBar) drop(h kit.Host) tea.Cmd {
	h.CloseDialog()
	s.text.EndSearch()
	return nil
}

func (s *searchBar) Resize(width, height int) {
	s.Window.Resize(width, height)
	s.input.SetWidth(max(1, width/2))
}

func (s *searchBar) Draw(th theme.Theme, m keys.Map) kit.Box {
	s.input.Scroll(1)
	lines, x, _ := s.input.Draw(1)
	label := "find: "
	status := ""
	if current, total := s.text.Found(); total > 0 {
		status = fmt.Sprintf("%d of %d  ", current, total)
	} else if !s.input.Empty() {
		status = "no match  "
	}
	hints := kit.HintLine(th, s.Width/2-len(label)-len(status)-2, m.Hint(keys.List, keys.ListAccept), "keep", m.Hint(keys.List, keys.ListCancel), "close")
	line := kit.Spread(th.Accent.Render(label)+lines[0], th.Muted.Render(status)+hints, s.Width)
	return kit.Box{Lines: []string{kit.Pad(line, s.Width)}, X: 0, Y: s.text.rule, CursorX: len(label) + x, CursorY: s.text.rule}
}
