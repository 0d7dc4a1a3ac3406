package ui

import (
	"time"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A conversationList is the dialog of the stored conversations: a list that typing
// narrows by title and searches by text, with the archive and the bin.
type conversationList struct {
	stands listPosition
	query  kit.TextArea
	asked  int // change of query that the rows are for

	list   []turn.Conversation // all, pinned first, then the youngest
	open   map[turn.ID]bool    // in tabs
	undo   bool                // something was thrown away that can be taken back
	read   bool                // list has come
	failed string              // why it has not
	now    time.Time

	serial    int // counts queries: what is found for an older one is dropped
	found     []turn.SearchHit
	searching bool
	unsought  string // why the text was not searched

	want          turn.ID // to be selected when the list comes; 0: what was
	rows          []listRow
	selected, top int // a row, and the first line that is seen
	width, height int
}

// A listPosition is which conversations the shelf shows.
type listPosition uint8

const (
	shelfListed listPosition = iota
	shelfArchive
	shelfBin
)

var shelfTitles = [...]string{"Conversations", "Archive", "Bin"}

// holds reports whether a conversation stands there.
func (s listPosition) holds(c turn.Conversation) bool {
	switch {
	case !c.Deleted.IsZero():
		return s == shelfBin
	case c.Archived:
		return s == shelfArchive
	}
	return s == shelfListed
}

const shelfWidth = 88

func newConversationList(th theme.Theme, query string, now time.Time) *conversationList {
	return &conversationList{query: kit.NewField(th, "type to search titles and messages", query), now: now, asked: -1}
}

func (s *conversationList) Press(id keys.ID, text string) kit.Action {
	switch id {
	case keys.ListCancel:
		return kit.Close
	case keys.ListAccept:
		return s.accept()
	case keys.ListUp:
		s.move(-1)
	case keys.ListDown:
		s.move(1)
	case keys.ListPageUp:
		s.page(-1)
	case keys.ListPageDown:
		s.page(1)
	case keys.ListView:
		s.stands = (s.stands + 1) % listPosition(len(shelfTitles))
		s.fill(0)
	case keys.ListUndo:
		return carried(takeBackLast{})
	case keys.ListEmpty:
		if n := s.count(shelfBin); s.stands == shelfBin && n > 0 {
			return carried(askEmptyBin{n})
		}
	case keys.ListDelete, keys.ListRename, keys.ListPin, keys.ListArchive:
		return s.change(id)
	case "":
		kit.TypeInto(&s.query, text, false)
	default:
		s.query.Edit(id)
	}
	return s.sought()
}

// accept opens the selected conversation, or takes it out of the bin.
func (s *conversationList) accept() kit.Action {
	r, ok := s.row()
	switch {
	case !ok:
		return nil
	case s.stands == shelfBin:
		return carried(takeBack{r.c})
	case r.found != nil:
		return carried(openFound{*r.found})
	}
	return carried(openStored{r.c.ID})
}

// change is what a key does to the selected conversation.
func (s *conversationList) change(id keys.ID) kit.Action {
	r, ok := s.row()
	switch {
	case !ok:
		return nil
	case s.stands == shelfBin && id == keys.ListDelete:
		return carried(askDelete{r.c})
	case s.stands == shelfBin:
		return nil
	case id == keys.ListDelete:
		return carried(throwAway{r.c})
	case id == keys.ListRename:
		return carried(askRename{r.c})
	case id == keys.ListPin:
		return carried(setPinned{r.c, !r.c.Pinned})
	}
	return carried(setArchived{r.c, !r.c.Archived})
}

// sought narrows the rows when the query has changed, and asks for a search.
func (s *conversationList) sought() kit.Action {
	if s.asked == s.query.Changes() {
		return nil
	}
	s.asked = s.query.Changes()
	s.serial++
	s.found, s.unsought = nil, ""
	s.searching = !s.query.Empty()
	s.fill(0)
	if !s.searching {
		return nil
	}
	return carried(searchStored{s.query.Value(), s.serial})
}

// setList takes over what is stored; the selection stays where it was.
func (s *conversationList) setList(list []turn.Conversation, open map[turn.ID]bool, undo bool) {
	s.list, s.open, s.undo, s.read, s.failed = list, open, undo, true, ""
	s.refill()
}

// alter shows at once what is about to be stored, so that the next key is
// about the next conversation.
func (s *conversationList) alter(id turn.ID, change func(*turn.Conversation)) {
	for i := range s.list {
		if s.list[i].ID == id {
			change(&s.list[i])
		}
	}
	s.refill()
}

// setFound takes over what a search found.
func (s *conversationList) setFound(found []turn.SearchHit, err error) {
	s.found, s.searching = found, false
	if err != nil {
		s.unsought = kit.OneLine(err.Error())
	}
	s.refill()
}

// refill makes the rows anew and stays on the selected one.
func (s *conversationList) refill() {
	was, ok := s.row()
	s.fill(s.selected)
	if !ok && s.want == 0 {
		return
	}
	for i, r := range s.rows {
		if s.want != 0 && r.c.ID == s.want || s.want == 0 && r.same(was) {
			s.selected = i
			break
		}
	}
	s.want = 0
	s.scroll()
}

// row is the selected one.
func (s *conversationList) row() (listRow, bool) {
	if s.selected < 0 || s.selected >= len(s.rows) || s.rows[s.selected].heading != "" {
		return listRow{}, false
	}
	return s.rows[s.selected], true
}

func (s *conversationList) count(stand listPosition) int {
	n := 0
	for _, c := range s.list {
		if stand.holds(c) {
			n++
		}
	}
	return n
}

// move goes on by some conversations, over headings.
func (s *conversationList) move(by int) {
	step := 1
	if by < 0 {
		step, by = -1, -by
	}
	for at := s.selected + step; at >= 0 && at < len(s.rows) && by > 0; at += step {
		if s.rows[at].heading == "" {
			s.selected = at
			by--
		}
	}
	s.scroll()
}

func (s *conversationList) page(by int) { s.move(by * max(1, s.lines()/2)) }

func (s *conversationList) Wheel(by, _, _ int) kit.Action {
	s.move(by)
	return nil
}

func (s *conversationList) Click(_, y int) kit.Action {
	line := s.top + y - shelfHead
	if y < shelfHead || y >= shelfHead+s.lines() {
		return nil
	}
	for i, r := range s.rows {
		if line -= r.height(); line < 0 {
			if r.heading != "" {
				return nil
			}
			s.selected = i
			return s.accept()
		}
	}
	return nil
}

func (s *conversationList) Resize(width, height int) {
	s.width, s.height = width, height
	s.query.SetWidth(kit.InnerWidth(shelfWidth, width) - 2)
	s.scroll()
}
