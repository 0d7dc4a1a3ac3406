package library

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// listHead is how many rows of the box stand above the list: border, field, blank.
const listHead = 3

// listHints is how many rows of hints the box has room for.
const listHints = 4

// lines is how many lines of the list are seen at once.
func (s *list) lines() int {
	return max(1, min(max(16, s.Height/2), s.Height-listHead-listHints-2))
}

// scroll keeps the selected row, and a heading right above it, in sight.
func (s *list) scroll() {
	first, last := 0, 0
	for i := range s.rows {
		last = first + s.rows[i].height()
		if i == s.selected {
			break
		}
		first = last
	}
	if s.selected > 0 && s.selected < len(s.rows) && s.rows[s.selected-1].heading != "" {
		first--
	}
	s.top = max(min(s.top, first), last-s.lines(), 0)
}

// Draw shows the list, with what can be done about the selected conversation.
func (s *list) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(listWidth, s.Width)
	s.query.Scroll(1)
	input, x, _ := s.query.Draw(1)
	content := []string{th.Accent.Render(th.Glyphs.Cursor) + " " + input[0], ""}
	seen := s.listLines(th, inner)
	content = append(content, seen...)
	content = append(content, s.state(th, inner)...)
	if below := s.tall - s.top - len(seen); below > 0 {
		content = append(content, th.Muted.Render("  "+kit.FormatCount(below)+" more lines "+th.Glyphs.Down))
	}
	hints := hintRows(th, inner-2, s.hints(m)...)
	if last := len(hints) - 1; last > 0 {
		content = append(content, "")
		content = append(content, hints[:last]...)
	}
	return kit.Frame(th, s.heading(), content, hints[len(hints)-1], inner, s.Width, s.Height).WithCursor(x+2, 0)
}

func (s *list) heading() string {
	title := listingTitles[s.shows]
	if s.read {
		title += fmt.Sprintf(" (%d)", s.count(s.shows))
	}
	return title
}

// hints are pairs of a key and what it does there.
func (s *list) hints(m keys.Map) []string {
	key := func(id keys.ID) string { return m.Hint(keys.List, id) }
	next := (s.shows + 1) % listing(len(listingTitles))
	view := []string{key(keys.ListView), strings.ToLower(listingTitles[next])}
	if s.read && next != listed {
		view[1] += fmt.Sprintf(" (%d)", s.count(next))
	}
	var pairs []string
	if r, ok := s.row(); ok && s.shows == inBin {
		pairs = append(pairs, key(keys.ListAccept), "take back", key(keys.ListDelete), "delete for good", key(keys.ListEmpty), "empty the bin")
	} else if ok {
		pin, archive := "pin", "archive"
		if r.c.Pinned {
			pin = "unpin"
		}
		if r.c.Archived {
			archive = "unarchive"
		}
		pairs = append(pairs, key(keys.ListAccept), "open", key(keys.ListRename), "rename", key(keys.ListPin), pin,
			key(keys.ListArchive), archive, key(keys.ListDelete), "delete")
	}
	if r, ok := s.row(); ok && s.copies[r.c.ID] > 0 {
		fold := "list copies"
		if s.unfolded[original(r.c)] {
			fold = "fold copies"
		}
		pairs = append(pairs, key(keys.ListUnfold), fold)
	}
	if len(s.library.binned) > 0 {
		pairs = append(pairs, key(keys.ListUndo), "undo delete")
	}
	pairs = append(pairs, view...)
	return append(pairs, key(keys.ListCancel), "close")
}

// state says what there is to say where rows are missing.
func (s *list) state(th theme.Theme, inner int) []string {
	muted := func(text string) []string { return []string{th.Muted.Render(kit.Fit("  "+text, inner))} }
	switch {
	case s.failed != "":
		var lines []string
		for _, line := range kit.Wrap(s.failed, inner-2) {
			lines = append(lines, "  "+th.Error.Render(line))
		}
		return lines
	case !s.read:
		return muted("Reading the conversations …")
	case s.unsearched != "":
		return []string{th.Warning.Render(kit.Fit("  The messages were not searched: "+s.unsearched, inner))}
	case s.searching:
		return muted("Searching the messages …")
	case len(s.rows) > 0:
		return nil
	case !s.query.Empty():
		return muted("Nothing matches." + s.elsewhere)
	case s.shows == archived:
		return muted("Nothing is archived.")
	case s.shows == inBin:
		return muted("The bin is empty.")
	case s.count(archived)+s.count(inBin) > 0:
		return muted("All that is stored is in the archive or in the bin.")
	}
	return muted("Nothing is stored yet: a conversation is kept from its first prompt on.")
}

// listLines are the lines of the list that are seen: a list of thousands costs no
// more to draw than a short one.
func (s *list) listLines(th theme.Theme, inner int) []string {
	var lines []string
	first, above := 0, 0
	for first < len(s.rows) && above+s.rows[first].height() <= s.top {
		above += s.rows[first].height()
		first++
	}
	skip := s.top - above // of a row of two lines
	for i := first; i < len(s.rows) && len(lines) < skip+s.lines(); i++ {
		r := &s.rows[i]
		style := lipgloss.NewStyle()
		detail, pointer := th.Muted, " "
		if i == s.selected {
			style, detail, pointer = th.Chosen, th.Chosen, th.Glyphs.Cursor
		}
		switch {
		case r.heading != "":
			lines = append(lines, th.Heading.Render(kit.Fit(r.heading, inner)))
			continue
		case r.found == nil || r.titled:
			when := r.c.Updated
			if s.shows == inBin {
				when = r.c.Deleted
			}
			title := style.Render(pointer+s.mark(th, r.c)+kit.TitleOf(r.c)) + detail.Render(s.note(r.c))
			lines = append(lines, spreadIn(style, title, detail.Render(kit.FormatAge(s.now, when)), inner))
		}
		if r.found != nil {
			when := kit.FormatAge(s.now, r.found.When)
			width := max(8, inner-6-ansi.StringWidth(when))
			text := style.Render(pointer+"   ") + snippet(*r.found, th, style, width)
			lines = append(lines, spreadIn(style, text, detail.Render(when), inner))
		}
	}
	return lines[min(skip, len(lines)):min(len(lines), skip+s.lines())]
}

// mark says what is special about a conversation: it is open, or pinned.
func (s *list) mark(th theme.Theme, c turn.Conversation) string {
	switch {
	case s.open[c.ID]:
		return "* "
	case c.Pinned:
		return th.Glyphs.Up + " "
	}
	return "  "
}

// spreadWith is spread with the space between, or after, in a style.
func spreadIn(style lipgloss.Style, left, right string, width int) string {
	gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if gap < 1 || right == "" {
		left, right = kit.Fit(left, width), ""
		gap = width - ansi.StringWidth(left)
	}
	return left + style.Render(strings.Repeat(" ", max(0, gap))) + right
}

// snippet is what was found, with the matches marked; the first one is in sight.
func snippet(f turn.SearchHit, th theme.Theme, style lipgloss.Style, width int) string {
	const ahead = 3 // the match begins in the first third
	var b strings.Builder
	at := 0
	for i, mark := range f.Marks {
		if mark[0] < at || mark[1] < mark[0] || mark[1] > len(f.Snippet) {
			break
		}
		before := kit.Clean(f.Snippet[at:mark[0]])
		if w := ansi.StringWidth(before); i == 0 && w > width/ahead {
			before = ansi.TruncateLeft(before, w-width/ahead, "…")
		}
		b.WriteString(style.Render(before))
		b.WriteString(th.SearchMatch.Render(kit.Clean(f.Snippet[mark[0]:mark[1]])))
		at = mark[1]
	}
	b.WriteString(style.Render(kit.Clean(f.Snippet[at:])))
	return kit.Fit(strings.ReplaceAll(b.String(), "\n", " "), width)
}

// hintRows are "key what it does" pairs on as many lines as they take.
func hintRows(th theme.Theme, width int, pairs ...string) []string {
	var rows []string
	for len(pairs) > 0 {
		n := 2
		for n < len(pairs) && hintWidth(pairs[:n+2]) <= width {
			n += 2
		}
		rows = append(rows, kit.HintLine(th, width, pairs[:n]...))
		pairs = pairs[n:]
	}
	return rows
}

func hintWidth(pairs []string) int {
	width := 0
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != "" {
			width += ansi.StringWidth(pairs[i]) + 1 + ansi.StringWidth(pairs[i+1]) + 3
		}
	}
	return width - 3
}
