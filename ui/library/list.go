package library

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A list is the dialog of the stored conversations: a list that typing
// narrows by title and searches by text, with the archive and the bin.
type list struct {
	kit.Window
	library *library
	shows   listing
	query   kit.TextArea
	asked   int // change of query that the rows are for

	all    []turn.Conversation // pinned first, then the youngest
	titles []string            // of all, as they are shown
	open   map[turn.ID]bool    // in tabs
	read   bool                // they have come
	failed string              // why they have not
	now    time.Time

	serial     int // counts queries: what is found for an older one is dropped
	found      []turn.SearchHit
	searching  bool
	unsearched string // why the messages were not searched

	folded
	want          turn.ID // to be selected when the list comes; 0: what was
	rows          []row
	selected, top int    // a row, and the first line that is seen
	tall          int    // lines of all rows
	elsewhere     string // that the other lists have what was looked for, if this has nothing
}

// A listing is which conversations the list shows.
type listing uint8

const (
	listed listing = iota
	archived
	inBin
)

var listingTitles = [...]string{"Conversations", "Archive", "Bin"}

// holds reports whether a conversation is listed there.
func (s listing) holds(c *turn.Conversation) bool {
	switch {
	case !c.Deleted.IsZero():
		return s == inBin
	case c.Archived:
		return s == archived
	}
	return s == listed
}

const listWidth = 88

func newList(l *library, th theme.Theme, query string, now time.Time) *list {
	return &list{library: l, query: kit.NewField(th, "type to search titles and messages", query), now: now, asked: -1}
}

// Press moves, narrows the list, or does something about the selected
// conversation.
func (s *list) Press(id keys.ID, text string) kit.Action {
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
		s.shows = (s.shows + 1) % listing(len(listingTitles))
		s.fill(0)
	case keys.ListUndo:
		return func(h kit.Host) tea.Cmd { return s.library.restoreLast(h, "") }
	case keys.ListEmpty:
		if n := s.count(inBin); s.shows == inBin && n > 0 {
			return s.library.askEmpty(n)
		}
	case keys.ListUnfold:
		if r, ok := s.row(); ok {
			s.turnOver(r.c)
			s.refill()
		}
	case keys.ListDelete, keys.ListRename, keys.ListPin, keys.ListArchive:
		return s.change(id)
	case "":
		kit.TypeInto(&s.query, text, false)
	default:
		s.query.Edit(id)
	}
	return s.narrow()
}

// about is an action on the selected conversation.
func about(do func(kit.Host, turn.Conversation) tea.Cmd, c turn.Conversation) kit.Action {
	return func(h kit.Host) tea.Cmd { return do(h, c) }
}

// accept opens the selected conversation, or takes it out of the bin.
func (s *list) accept() kit.Action {
	r, ok := s.row()
	switch {
	case !ok:
		return nil
	case s.shows == inBin:
		return about(s.library.restore, r.c)
	case r.found != nil:
		return openHit(*r.found)
	}
	return func(h kit.Host) tea.Cmd {
		h.CloseDialog()
		return h.OpenStored(r.c.ID)
	}
}

// change is what a key does to the selected conversation.
func (s *list) change(id keys.ID) kit.Action {
	r, ok := s.row()
	switch {
	case !ok:
		return nil
	case s.shows == inBin && id == keys.ListDelete:
		return about(s.library.askDelete, r.c)
	case s.shows == inBin:
		return nil
	case id == keys.ListDelete:
		return about(s.library.moveToBin, r.c)
	case id == keys.ListRename:
		return about(s.library.askRename, r.c)
	case id == keys.ListPin:
		return about(s.library.setPinned, r.c)
	}
	return about(s.library.setArchived, r.c)
}

// narrow narrows the rows when the query has changed, and asks for a search.
func (s *list) narrow() kit.Action {
	if s.asked == s.query.Changes() {
		return nil
	}
	s.asked = s.query.Changes()
	s.serial++
	s.found, s.unsearched = nil, ""
	s.searching = !s.query.Empty()
	s.fill(0)
	if !s.searching {
		return nil
	}
	serial := s.serial
	return func(h kit.Host) tea.Cmd {
		return h.After(searchPause, func(h kit.Host) tea.Cmd { return s.search(h, serial) })
	}
}

// searchPause is how long nothing may have been typed before the messages are
// searched.
const searchPause = 150 * time.Millisecond

// search searches all messages for the query, unless more has been typed or the
// list is closed.
func (s *list) search(h kit.Host, serial int) tea.Cmd {
	if open, ok := kit.Find[*list](h); !ok || open != s || s.serial != serial {
		return nil
	}
	ctx, w, query := h.Context(), h.Workspace(), s.query.Value()
	return kit.Await(func() ([]turn.SearchHit, error) { return w.Search(ctx, query) }, func(_ kit.Host, found []turn.SearchHit, err error) tea.Cmd {
		if s.serial == serial {
			s.setFound(found, err)
		}
		return nil
	})
}

// setConversations takes over what is stored; the selection stays where it was.
func (s *list) setConversations(all []turn.Conversation, open map[turn.ID]bool) {
	s.all, s.open, s.read, s.failed = all, open, true, ""
	s.titles = make([]string, len(all))
	for i := range all {
		s.titles[i] = kit.TitleOf(all[i])
	}
	s.refill()
}

// alter shows at once what is about to be stored, so that the next key is
// about the next conversation.
func (s *list) alter(id turn.ID, change func(*turn.Conversation)) {
	for i := range s.all {
		if s.all[i].ID == id {
			change(&s.all[i])
		}
	}
	s.refill()
}

// setFound takes over what a search found.
func (s *list) setFound(found []turn.SearchHit, err error) {
	s.found, s.searching = found, false
	if err != nil {
		s.unsearched = kit.OneLine(err.Error())
	}
	s.refill()
}

// refill makes the rows anew and stays on the selected one.
func (s *list) refill() {
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
func (s *list) row() (row, bool) {
	if s.selected < 0 || s.selected >= len(s.rows) || s.rows[s.selected].heading != "" {
		return row{}, false
	}
	return s.rows[s.selected], true
}

func (s *list) count(in listing) int {
	n := 0
	for i := range s.all {
		if in.holds(&s.all[i]) {
			n++
		}
	}
	return n
}

// move goes on by some conversations, over headings.
func (s *list) move(by int) {
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

func (s *list) page(by int) { s.move(by * max(1, s.lines()/2)) }

// Wheel moves the selection.
func (s *list) Wheel(by, _, _ int) kit.Action {
	s.move(by)
	return nil
}

// Click opens a conversation.
func (s *list) Click(_, y int) kit.Action {
	line := s.top + y - listHead
	if y < listHead || y >= listHead+s.lines() {
		return nil
	}
	for i := range s.rows {
		r := &s.rows[i]
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

// Resize tells the size of the screen.
func (s *list) Resize(width, height int) {
	s.Window.Resize(width, height)
	s.query.SetWidth(kit.InnerWidth(listWidth, width) - 2)
	s.scroll()
}
