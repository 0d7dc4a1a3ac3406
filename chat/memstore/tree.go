package memstore

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"rookery/chat/turn"
)

// Journals are those of all answers that were not committed, oldest first.
func (s *Store) Journals(ctx context.Context, id turn.ID) ([]turn.Journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[id]
	if c == nil {
		return nil, fmt.Errorf("there is no conversation %d", id)
	}
	return c.unfinished(), ctx.Err()
}

// unfinished are copies of the journals, oldest first.
func (c *conversation) unfinished() []turn.Journal {
	var all []turn.Journal
	for _, j := range c.journals {
		all = append(all, turn.Journal{Turn: j.Turn, Tokens: slices.Clone(j.Tokens), Text: j.Text})
	}
	slices.SortFunc(all, func(a, b turn.Journal) int { return cmp.Compare(a.Turn.ID, b.Turn.ID) })
	return all
}

// CopyTurns saves turns with the snapshots of those they are copies of.
func (s *Store) CopyTurns(ctx context.Context, c turn.Conversation, turns []turn.Turn, of []turn.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.conversation(c.ID)
	have.head = c
	for i, t := range turns {
		have.turns[t.ID] = t
		s.owner[t.ID] = have
		// one that has grown since it was copied, or was read since, has another state by now
		if from := s.owner[of[i]]; from != nil && from.snapshots[of[i]] != nil && alike(from.turns[of[i]], t) {
			have.snapshots[t.ID] = from.snapshots[of[i]]
		}
	}
	return nil
}

// alike says that a state is that of both turns.
func alike(a, b turn.Turn) bool {
	return slices.Equal(a.Tokens, b.Tokens) && reflect.DeepEqual(a.History, b.History)
}

// DropTurns removes turns.
func (s *Store) DropTurns(ctx context.Context, c turn.Conversation, turns []turn.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.conversation(c.ID)
	have.head = c
	for _, id := range turns {
		delete(have.turns, id)
		delete(have.snapshots, id)
		delete(have.journals, id)
		delete(s.owner, id)
	}
	return nil
}

// MarkTurn saves a turn's label and pin.
func (s *Store) MarkTurn(ctx context.Context, id turn.ID, label string, pinned bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.owner[id]; c != nil {
		if t, ok := c.turns[id]; ok {
			t.Label, t.Pinned = label, pinned
			c.turns[id] = t
		}
	}
	return nil
}
