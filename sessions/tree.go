package sessions

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"rookery/chat/turn"
)

// CopyTurns implements chat.Store. Copies share their snapshots' contents.
func (s *Store) CopyTurns(ctx context.Context, c turn.Conversation, turns []turn.Turn, of []turn.ID) error {
	if err := s.inIndexedTx(ctx, func(tx *sql.Tx) error {
		if err := s.saveConversation(ctx, tx, c); err != nil {
			return err
		}
		for i, t := range turns {
			if err := s.indexTurn(ctx, tx, t.ID, t.Text); err != nil {
				return err
			}
			if err := saveTurn(ctx, tx, c.ID, t); err != nil {
				return err
			}
			if err := copySnapshot(ctx, tx, c.ID, t.ID, of[i]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return explain("copying the conversation", err)
	}
	s.upkeep.grew(c.ID, 0)
	return nil
}

// copySnapshot gives a turn the snapshot of another one, if that has any. One that
// has grown since it was copied, or was read since, has another state by now.
func copySnapshot(ctx context.Context, tx *sql.Tx, conversation, id, of turn.ID) error {
	var same bool
	err := tx.QueryRowContext(ctx, `SELECT a.tokens IS b.tokens AND a.history = b.history FROM turns a, turns b WHERE a.id = ? AND b.id = ?`, id, of).Scan(&same)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !same {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO snapshots (turn, conversation, content, bytes, prefix, used)
		SELECT ?, ?, content, bytes, prefix, ? FROM snapshots WHERE turn = ? ON CONFLICT (turn) DO NOTHING`,
		id, conversation, encodeTime(time.Now()), of)
	return err
}

// DropTurns implements chat.Store.
func (s *Store) DropTurns(ctx context.Context, c turn.Conversation, turns []turn.ID) error {
	return explain("removing answers", s.inIndexedTx(ctx, func(tx *sql.Tx) error {
		if err := s.saveConversation(ctx, tx, c); err != nil {
			return err
		}
		for _, id := range turns {
			if _, err := tx.ExecContext(ctx, `DELETE FROM turns WHERE id = ? AND conversation = ?`, id, c.ID); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM journals WHERE turn = ? AND conversation = ?`, id, c.ID); err != nil {
				return err
			}
		}
		return nil
	}))
}

// MarkTurn implements chat.Store.
func (s *Store) MarkTurn(ctx context.Context, id turn.ID, label string, pinned bool) error {
	_, err := s.write.ExecContext(ctx, `UPDATE turns SET label = ?, pinned = ? WHERE id = ?`, label, pinned, id)
	return explain("marking the turn", err)
}
