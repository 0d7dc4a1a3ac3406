package library

import (
	"slices"
	"time"

	"github.com/sahilm/fuzzy"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

// A row is a heading, a conversation, or a turn of one that was found.
type row struct {
	heading string
	c       turn.Conversation
	found   *turn.SearchHit
	titled  bool // the title stands above what was found
}

// height is in lines.
func (r row) height() int {
	if r.found != nil && r.titled {
		return 2
	}
	return 1
}

func (r row) same(as row) bool {
	if r.heading != "" || r.c.ID != as.c.ID || (r.found == nil) != (as.found == nil) {
		return false
	}
	return r.found == nil || r.found.Turn == as.found.Turn
}

// fill makes the rows for the query and selects the conversation at or after
// a row.
func (s *list) fill(selected int) {
	var here []turn.Conversation
	for _, c := range s.all {
		if s.shows.holds(c) {
			here = append(here, c)
		}
	}
	s.rows = s.rows[:0]
	if s.query.Empty() {
		s.group(s.fold(here))
	} else {
		s.match(here)
	}
	s.selected, s.top = min(selected, len(s.rows)-1), 0
	for s.selected >= 0 && s.selected < len(s.rows)-1 && s.rows[s.selected].heading != "" {
		s.selected++
	}
	s.selected = max(s.selected, 0)
	s.scroll()
}

// group puts a heading before each stretch of time.
func (s *list) group(here []turn.Conversation) {
	last := ""
	for _, c := range here {
		heading := since(s.now, c.Updated)
		switch {
		case s.shows == inBin:
			heading = ""
		case c.Pinned:
			heading = "Pinned"
		}
		if heading != last {
			s.rows = append(s.rows, row{heading: heading})
			last = heading
		}
		s.rows = append(s.rows, row{c: c})
	}
}

// match has the titles that fit, best first, and below them what was found in
// the messages, conversation by conversation.
func (s *list) match(here []turn.Conversation) {
	for _, m := range fuzzy.FindFrom(s.query.Value(), titles(here)) {
		s.rows = append(s.rows, row{c: here[m.Index]})
	}
	at := make(map[turn.ID]int, len(here))
	for i, c := range here {
		at[c.ID] = i
	}
	var order []turn.ID
	turns := map[turn.ID][]*turn.SearchHit{}
	for i := range s.found {
		f := &s.found[i]
		if _, ok := at[f.Conversation]; !ok || f.Turn == 0 { // titles were matched before
			continue
		}
		if turns[f.Conversation] == nil {
			order = append(order, f.Conversation)
		}
		turns[f.Conversation] = append(turns[f.Conversation], f)
	}
	if len(order) > 0 {
		s.rows = append(s.rows, row{heading: "In the messages"})
	}
	for _, id := range order {
		for i, f := range turns[id] {
			s.rows = append(s.rows, row{c: here[at[id]], found: f, titled: i == 0})
		}
	}
}

// titles are a source of the fuzzy search.
type titles []turn.Conversation

func (t titles) String(i int) string { return kit.TitleOf(t[i]) }
func (t titles) Len() int            { return len(t) }

// since names the stretch of time in which something was.
func since(now, then time.Time) string {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case then.IsZero():
		return "Older"
	case !then.Before(midnight):
		return "Today"
	case !then.Before(midnight.AddDate(0, 0, -1)):
		return "Yesterday"
	case !then.Before(midnight.AddDate(0, 0, -7)):
		return "Last 7 days"
	case !then.Before(midnight.AddDate(0, 0, -30)):
		return "Last 30 days"
	}
	return "Older"
}

// Sort puts pinned conversations first and keeps the order otherwise.
func Sort(list []turn.Conversation) []turn.Conversation {
	slices.SortStableFunc(list, func(a, b turn.Conversation) int {
		switch {
		case a.Pinned == b.Pinned:
			return b.Updated.Compare(a.Updated)
		case a.Pinned:
			return -1
		}
		return 1
	})
	return list
}
