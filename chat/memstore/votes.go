package memstore

import (
	"context"
	"slices"

	"rookery/chat/turn"
)

// AddVote remembers a vote.
func (s *Store) AddVote(ctx context.Context, v turn.Vote) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.Variants = slices.Clone(v.Variants)
	s.votes = append(s.votes, v)
	return nil
}

// Votes lists all, oldest first.
func (s *Store) Votes(ctx context.Context) ([]turn.Vote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.votes), ctx.Err()
}
