package chat

import (
	"context"
	"errors"
	"fmt"
	"rookery/chat/turn"
)

// A coster is a Store that knows what conversations take on disk.
type coster interface {
	Cost(ctx context.Context, id turn.ID) (turn.Cost, error)
	Costs(ctx context.Context) (map[turn.ID]turn.Cost, error)
}

// ErrNoCost is the answer of a store that takes no disk.
var ErrNoCost = errors.New("conversations are kept in memory and take no disk")

// Cost is what a stored conversation takes on disk. It blocks.
func (k *Workspace) Cost(ctx context.Context, id turn.ID) (turn.Cost, error) {
	s, ok := k.store.(coster)
	if !ok {
		return turn.Cost{}, ErrNoCost
	}
	c, err := s.Cost(ctx, id)
	if err != nil {
		return turn.Cost{}, fmt.Errorf("the cost of conversation %d: %w", id, err)
	}
	return c, nil
}

// Costs is Cost of all stored conversations. It blocks.
func (k *Workspace) Costs(ctx context.Context) (map[turn.ID]turn.Cost, error) {
	s, ok := k.store.(coster)
	if !ok {
		return nil, ErrNoCost
	}
	costs, err := s.Costs(ctx)
	if err != nil {
		return nil, fmt.Errorf("the costs of conversations: %w", err)
	}
	return costs, nil
}
