package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

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

func decodeVariants(text string) ([]turn.Description, error) {
	var variants []json.RawMessage
	if err := json.Unmarshal([]byte(text), &variants); err != nil {
		return nil, fmt.Errorf("variants: %w (%w)", ErrDamaged, err)
	}
	list := make([]turn.Description, len(variants))
	for i, d := range variants {
		list[i] = turn.Description(d)
	}
	return list, nil
}

// Votes implements chat.Store.
func (s *Store) Votes(ctx context.Context) ([]turn.Vote, error) {
	const doing = "reading the votes"
	rows, err := s.read.QueryContext(ctx, `SELECT created, prompt, variants, winner FROM votes ORDER BY id`)
	if err != nil {
		return nil, explain(doing, err)
	}
	list, err := collect(rows, func(row scanner) (turn.Vote, error) {
		var v turn.Vote
		var created int64
		var text string
		if err := row.Scan(&created, &v.Prompt, &text, &v.Winner); err != nil {
			return v, err
		}
		v.Created = decodeTime(created)
		v.Variants, _ = decodeVariants(text)
		return v, nil
	})
	list = slices.DeleteFunc(list, func(v turn.Vote) bool { return v.Check() != nil }) // damaged
	return list, explain(doing, err)
}
