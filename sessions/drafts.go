package sessions

import (
	"context"

	"rookery/chat/turn"
)

// Drafts implements turn.Store.
func (s *Store) Drafts(ctx context.Context) (map[turn.ID]turn.Draft, error) {
	const doing = "reading the drafts"
	rows, err := s.read.QueryContext(ctx, `SELECT conversation, text, editing, turn, answer FROM drafts`)
	if err != nil {
		return nil, explain(doing, err)
	}
	drafts := map[turn.ID]turn.Draft{}
	_, err = collect(rows, func(row scanner) (struct{}, error) {
		var id turn.ID
		var d turn.Draft
		err := row.Scan(&id, &d.Text, &d.Editing, &d.Turn, &d.Answer)
		drafts[id] = d
		return struct{}{}, err
	})
	return drafts, explain(doing, err)
}

// SaveDraft implements turn.Store.
func (s *Store) SaveDraft(ctx context.Context, conversation turn.ID, d turn.Draft) error {
	query, args := `DELETE FROM drafts WHERE conversation = ?`, []any{conversation}
	if d != (turn.Draft{}) {
		query = `INSERT OR REPLACE INTO drafts (conversation, text, editing, turn, answer) VALUES (?,?,?,?,?)`
		args = append(args, d.Text, d.Editing, d.Turn, d.Answer)
	}
	_, err := s.write.ExecContext(ctx, query, args...)
	return explain("saving what is being written", err)
}
