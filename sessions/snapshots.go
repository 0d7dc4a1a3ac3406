package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rookery/chat"
	"rookery/infer"
)

// saveSnapshot writes a turn's snapshot and what must be known of it.
func saveSnapshot(ctx context.Context, tx *sql.Tx, conversation, turn chat.ID, snap *infer.Snapshot, data []byte) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO snapshots (turn, data) VALUES (?,?)
		ON CONFLICT (turn) DO UPDATE SET data = excluded.data`, turn, data); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO snapshot_facts
		(turn, conversation, bytes, width, position, prefix, used) VALUES (?,?,?,?,?,?,?)`,
		turn, conversation, len(data), "exact", snap.Position, nil, encodeTime(time.Now()))
	return err
}

// Snapshot implements chat.Store. One that fails its checksum is ErrDamaged.
func (s *Store) Snapshot(ctx context.Context, turn chat.ID) (*infer.Snapshot, error) {
	doing := fmt.Sprintf("reading the state of turn %d", turn)
	var data []byte
	err := s.read.QueryRowContext(ctx, `SELECT data FROM snapshots WHERE turn = ?`, turn).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(doing, err)
	}
	snap := new(infer.Snapshot)
	if err := snap.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", doing, ErrDamaged, err)
	}
	s.upkeep.use(turn)
	return snap, nil
}
