package sessions

import (
	"context"
	"database/sql"
	"fmt"

	"rookery/chat/turn"
)

// Import implements chat.Store.
func (s *Store) Import(ctx context.Context, trees []turn.Tree) error {
	if err := s.inIndexedTx(ctx, func(tx *sql.Tx) error {
		for _, t := range trees {
			if err := s.importTree(ctx, tx, t); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return explain("importing", err)
	}
	for _, t := range trees {
		if len(t.States) > 0 {
			s.upkeep.grew(t.Conversation.ID, 0)
		}
	}
	return nil
}

func (s *Store) importTree(ctx context.Context, tx *sql.Tx, t turn.Tree) error {
	c := t.Conversation
	if err := free(ctx, tx, c.ID, `SELECT count(*) FROM conversations WHERE id = ?`, c.ID); err != nil {
		return err
	}
	if err := s.saveConversation(ctx, tx, c); err != nil {
		return err
	}
	for _, tn := range t.Turns {
		if err := free(ctx, tx, c.ID, `SELECT count(*) FROM turns WHERE id = ?`, tn.ID); err != nil {
			return err
		}
		if err := s.indexTurn(ctx, tx, tn.ID, tn.Text); err != nil {
			return err
		}
		if err := saveTurn(ctx, tx, c.ID, tn); err != nil {
			return err
		}
	}
	for _, state := range t.States {
		snap, err := state.Read()
		if err != nil {
			return err
		}
		if snap == nil {
			continue
		}
		packed, err := pack(snap)
		if err != nil {
			return fmt.Errorf("the state of turn %d: %w", state.Turn, err)
		}
		if err := saveSnapshot(ctx, tx, c.ID, state.Turn, packed); err != nil {
			return err
		}
	}
	return nil
}

// free refuses an id that is in use.
func free(ctx context.Context, tx *sql.Tx, conversation turn.ID, query string, id turn.ID) error {
	var n int
	if err := tx.QueryRowContext(ctx, query, id).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return &turn.TakenError{Conversation: conversation}
	}
	return nil
}
