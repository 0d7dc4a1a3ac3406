package memstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rookery/chat/turn"
	"rookery/infer"
)

// Import saves whole conversations, all or none.
func (s *Store) Import(ctx context.Context, trees []turn.Tree) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := make([]*conversation, len(trees))
	for i, t := range trees {
		c := &conversation{head: t.Conversation, turns: map[turn.ID]turn.Turn{}, snapshots: map[turn.ID]*infer.Snapshot{}, journals: map[turn.ID]*turn.Journal{}}
		taken := s.conversations[c.head.ID] != nil
		for _, tn := range t.Turns {
			taken = taken || s.owner[tn.ID] != nil
			c.turns[tn.ID] = tn
		}
		if taken {
			return &turn.TakenError{Conversation: c.head.ID}
		}
		for _, state := range t.States {
			snapshot, err := state.Read()
			if err != nil {
				return err
			}
			if snapshot != nil {
				c.snapshots[state.Turn] = snapshot
			}
		}
		fresh[i] = c
	}
	for _, c := range fresh {
		s.conversations[c.head.ID] = c
		for id := range c.turns {
			s.owner[id] = c
		}
	}
	return ctx.Err()
}

// Search finds titles and turns that hold a text, in any case: titles first,
// then the newest.
func (s *Store) Search(ctx context.Context, query string, limit int) ([]turn.SearchHit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query = strings.ToLower(query)
	var found []turn.SearchHit
	add := func(f turn.SearchHit, text string) {
		at := strings.Index(strings.ToLower(text), query)
		if at < 0 || at+len(query) > len(text) {
			return
		}
		f.Snippet, f.Marks = text, [][2]int{{at, at + len(query)}}
		found = append(found, f)
	}
	for id, c := range s.conversations {
		if !c.head.Deleted.IsZero() {
			continue
		}
		add(turn.SearchHit{Conversation: id, When: c.head.Updated}, c.head.Title)
		for _, t := range c.turns {
			add(turn.SearchHit{Conversation: id, Turn: t.ID, Role: t.Role, When: t.Created}, t.Text)
		}
	}
	slices.SortFunc(found, func(a, b turn.SearchHit) int {
		return cmp.Or(cmp.Compare(min(a.Turn, 1), min(b.Turn, 1)), b.When.Compare(a.When), cmp.Compare(a.Turn, b.Turn))
	})
	return found[:min(limit, len(found))], ctx.Err()
}
