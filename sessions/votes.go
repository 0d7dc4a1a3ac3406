package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"rookery/chat/turn"
)

// AddVote implements chat.Store.
func (s *Store) AddVote(ctx context.Context, v turn.Vote) error {
	variants := make([]json.RawMessage, len(v.Variants))
	for i, d := range v.Variants {
		variants[i] = json.RawMessage(d)
	}
	text, err := encode(variants)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO votes (created, prompt, variants, winner) VALUES (?,?,?,?)`,
		encodeTime(v.Created), v.Prompt, text, v.Winner)
	return explain("saving the vote", err)
}

// Votes implements chat.Store.
func (s *Store) Votes(ctx context.Context) ([]turn.Vote, error) {
	const doing = "reading the votes"
	rows, err := s.read.QueryContext(ctx, `SELECT id, created, prompt, variants, winner FROM votes ORDER BY id`)
	if err != nil {
		return nil, explain(doing, err)
	}
	list, err := collect(rows, func(row scanner) (turn.Vote, error) {
		var v turn.Vote
		var id, created int64
		var text string
		if err := row.Scan(&id, &created, &v.Prompt, &text, &v.Winner); err != nil {
			return v, err
		}
		var variants []json.RawMessage
		if err := json.Unmarshal([]byte(text), &variants); err != nil {
			return v, fmt.Errorf("vote %d: %w (%w)", id, ErrDamaged, err)
		}
		for _, d := range variants {
			v.Variants = append(v.Variants, turn.Description(d))
		}
		v.Created = decodeTime(created)
		if err := v.Check(); err != nil {
			return v, fmt.Errorf("vote %d: %w (%w)", id, ErrDamaged, err)
		}
		return v, nil
	})
	return list, explain(doing, err)
}
