package library

import (
	"slices"
	"strings"
	"time"

	"github.com/sahilm/fuzzy"

	"rookery/chat/turn"
)

// A row is a heading, a conversation, or a turn of one that was found.
type row struct {
	heading string
	c       turn.Conversation
	found   *turn.SearchHit
	titled  bool // the title stands above what was found
}

// height is in lines.
func (r *row) height() int {
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
	s.rows = s.find(s.shows, s.rows[:0])
	s.tall, s.elsewhere = 0, ""
	for i := range s.rows {
		s.tall += s.rows[i].height()
	}
	if len(s.rows) == 0 && !s.query.Empty() {
		s.elsewhere = s.findElsewhere()
	}
	s.selected, s.top = min(selected, len(s.rows)-1), 0
	for s.selected >= 0 && s.selected < len(s.rows)-1 && s.rows[s.selected].heading != "" {
		s.selected++
	}
	s.selected = max(s.selected, 0)
	s.scroll()
}

// findElsewhere says that the other lists have what was looked for.
func (s *list) findElsewhere() string {
	for other := range listing(len(listingTitles)) {
		if other != s.shows && len(s.find(other, nil)) > 0 {
			return " There is something in: " + strings.ToLower(listingTitles[other]) + "."
		}
	}
	return ""
}

// find appends the rows of a listing for the query.
func (s *list) find(shows listing, rows []row) []row {
	var here []int // places in all
	for i := range s.all {
		if shows.holds(&s.all[i]) {
			here = append(here, i)
		}
	}
	if s.query.Empty() {
		return s.group(shows, s.fold(s.all, here), rows)
	}
	return s.match(here, rows)
}

// group puts a heading before each stretch of time.
func (s *list) group(shows listing, here []int, rows []row) []row {
	last := ""
	for _, i := range here {
		c := &s.all[i]
		heading := since(s.now, c.Updated)
		switch {
		case shows == inBin:
			heading = ""
		case c.Pinned:
			heading = "Pinned"
		}
		if heading != last {
			rows = append(rows, row{heading: heading})
			last = heading
		}
		rows = append(rows, row{c: *c})
	}
	return rows
}

// match has the titles that fit, best first, and below them what was found in
// the messages, conversation by conversation.
func (s *list) match(here []int, rows []row) []row {
	for _, m := range fuzzy.FindFrom(s.query.Value(), titles{s.titles, here}) {
		rows = append(rows, row{c: s.all[here[m.Index]]})
	}
	if len(s.found) == 0 {
		return rows
	}
	at := make(map[turn.ID]int, len(here))
	for _, i := range here {
		at[s.all[i].ID] = i
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
		rows = append(rows, row{heading: "In the messages"})
	}
	for _, id := range order {
		for i, f := range turns[id] {
			rows = append(rows, row{c: s.all[at[id]], found: f, titled: i == 0})
		}
	}
	return rows
}

// titles are a source of the fuzzy search: some of all.
type titles struct {
	all  []string
	here []int
}

func (t titles) String(i int) string { return t.all[t.here[i]] }
func (t titles) Len() int            { return len(t.here) }

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
