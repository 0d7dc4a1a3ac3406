package sessions

import (
	"context"
	"fmt"

	"rookery/chat/turn"
)

// Cost says what a conversation takes on disk.
func (s *Store) Cost(ctx context.Context, id turn.ID) (turn.Cost, error) {
	costs, err := s.costs(ctx, `WHERE id = ?`, id)
	if err != nil {
		return turn.Cost{}, explain(fmt.Sprintf("measuring conversation %d", id), err)
	}
	c, ok := costs[id]
	if !ok {
		return c, notFound(id)
	}
	return c, nil
}

// Costs is Cost of all conversations.
func (s *Store) Costs(ctx context.Context) (map[turn.ID]turn.Cost, error) {
	costs, err := s.costs(ctx, ``)
	return costs, explain("measuring the conversations", err)
}

// costs adds up turns and snapshots apart from each other: a join would read
// every turn for its length.
func (s *Store) costs(ctx context.Context, where string, args ...any) (map[turn.ID]turn.Cost, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id,
		(SELECT count(*) FROM turns t WHERE t.conversation = c.id),
		(SELECT coalesce(sum(length(CAST(text AS BLOB)) + length(tokens) + coalesce(length(recall), 0)), 0) FROM turns t WHERE t.conversation = c.id),
		(SELECT count(*) FROM snapshots s WHERE s.conversation = c.id),
		(SELECT coalesce(sum(bytes), 0) FROM snapshots s WHERE s.conversation = c.id)
		FROM conversations c `+where, args...)
	if err != nil {
		return nil, err
	}
	costs := map[turn.ID]turn.Cost{}
	_, err = collect(rows, func(row scanner) (none, error) {
		var id turn.ID
		var c turn.Cost
		err := row.Scan(&id, &c.Turns, &c.TextBytes, &c.Snapshots, &c.SnapshotBytes)
		costs[id] = c
		return none{}, err
	})
	return costs, err
}
