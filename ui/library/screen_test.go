package library_test

import (
	"context"
	"testing"
	"time"

	"rookery/chat/turn"
	"rookery/ui"
	"rookery/ui/uitest"
)

// A trouble is a store that fails, or counts what is asked of it.
type trouble struct {
	turn.Store
	fail    error
	queries []string
}

func (s *trouble) Conversations(ctx context.Context) ([]turn.Conversation, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	return s.Store.Conversations(ctx)
}

func (s *trouble) Search(ctx context.Context, query string, limit int) ([]turn.SearchHit, error) {
	s.queries = append(s.queries, query)
	if s.fail != nil {
		return nil, s.fail
	}
	return s.Store.Search(ctx, query, limit)
}

// A listScreen is a program with conversations of all kinds; the first one is open.
type listScreen struct {
	*uitest.Terminal
	t     *testing.T
	w     *uitest.World
	store *trouble
}

func open(t *testing.T, width, height int, more ...turn.Conversation) *listScreen {
	t.Helper()
	time.Sleep(12 * time.Hour) // from midnight
	now := time.Now()
	s := &listScreen{t: t}
	s.w = uitest.New(t, uitest.Options{
		Wrap: func(store turn.Store) turn.Store {
			s.store = &trouble{Store: store}
			return s.store
		},
		Stored: append([]turn.Conversation{
			{ID: 2, Title: "A dog story", Updated: now.Add(-2 * time.Hour)},
			{ID: 3, Title: "Another dog", Updated: now.Add(-26 * time.Hour)},
			{ID: 4, Title: "鸦巢里的故事", Updated: now.Add(-5 * 24 * time.Hour)},
			{ID: 5, Title: "Kept for long", Updated: now.Add(-300 * 24 * time.Hour), Pinned: true},
			{ID: 6, Title: "Put aside", Updated: now.Add(-40 * 24 * time.Hour), Archived: true},
			{ID: 7, Title: "Thrown out", Updated: now.Add(-50 * 24 * time.Hour), Deleted: now.Add(-time.Hour)},
		}, more...),
	})
	s.w.Converse("Feeding the rook", "How do I feed a rook?")
	s.Terminal = uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: s.w.Workspace, Settings: ui.Settings{Mouse: true}}), width, height)
	return s
}

// stored is a conversation as it is stored.
func (s *listScreen) stored(id turn.ID) (turn.Conversation, bool) {
	s.t.Helper()
	list, err := s.w.Store.Conversations(s.t.Context())
	uitest.Must(s.t, err)
	for _, c := range list {
		if c.ID == id {
			return c, true
		}
	}
	return turn.Conversation{}, false
}

// pause lets pass what it takes until the messages are searched.
func (s *listScreen) pause() { s.Pass(200 * time.Millisecond) }
