package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

// A packed is a snapshot as it is stored. The zero value is none.
type packed struct {
	data   []byte
	prefix any // what was read, or nil
}

// pack writes a snapshot down.
func pack(snap *infer.Snapshot) (packed, error) {
	if snap == nil {
		return packed{}, nil
	}
	var p packed
	if snap.Prefix != (infer.Prefix{}) {
		p.prefix = snap.Prefix[:]
	}
	var err error
	p.data, err = snap.MarshalBinary()
	return p, err
}

// saveSnapshot writes a turn's snapshot and what must be known of it.
func saveSnapshot(ctx context.Context, tx *sql.Tx, conversation, id turn.ID, p packed) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO snapshots (turn, data) VALUES (?,?)
		ON CONFLICT (turn) DO UPDATE SET data = excluded.data`, id, p.data); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO snapshot_facts
		(turn, conversation, bytes, prefix, used) VALUES (?,?,?,?,?)`,
		id, conversation, len(p.data), p.prefix, encodeTime(time.Now()))
	return err
}

// An unpacked snapshot is taken straight from the driver's bytes: they are
// megabytes, and each copy of them takes as long as half of the disk.
type unpacked struct {
	snap infer.Snapshot
	err  error // the bytes are damaged
}

// Scan implements sql.Scanner.
func (s *unpacked) Scan(value any) error {
	data, _ := value.([]byte)
	s.err = s.snap.UnmarshalBinary(data)
	return nil
}

// Snapshot implements chat.Store. One that fails its checksum is ErrDamaged.
func (s *Store) Snapshot(ctx context.Context, id turn.ID) (*infer.Snapshot, error) {
	doing := fmt.Sprintf("reading the state of turn %d", id)
	defer s.upkeep.reading()()
	var from unpacked
	var prefix []byte
	err := s.read.QueryRowContext(ctx, `SELECT s.data, f.prefix FROM snapshots s
		LEFT JOIN snapshot_facts f ON f.turn = s.turn WHERE s.turn = ?`, id).Scan(&from, &prefix)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(doing, err)
	}
	if from.err != nil {
		return nil, fmt.Errorf("%s: %w: %w", doing, ErrDamaged, from.err)
	}
	snap := &from.snap
	if len(prefix) == len(snap.Prefix) {
		snap.Prefix = infer.Prefix(prefix)
	}
	s.upkeep.use(id)
	return snap, nil
}

// SnapshotReading finds the first of prefixes that a snapshot has read,
// and its place in the list. It is nil without an error if there is none.
func (s *Store) SnapshotReading(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int, error) {
	const doing = "looking for a state to start from"
	names := make([]string, len(prefixes))
	for i, p := range prefixes {
		names[i] = p.String()
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", doing, err)
	}
	var id turn.ID
	var at int
	err = s.read.QueryRowContext(ctx, `SELECT f.turn, r.key FROM json_each(?1) r CROSS JOIN snapshot_facts f ON f.prefix = unhex(r.value)
		ORDER BY r.key LIMIT 1`, string(list)).Scan(&id, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, explain(doing, err)
	}
	snap, err := s.Snapshot(ctx, id)
	if snap == nil || snap.Prefix != prefixes[at] {
		return nil, 0, err
	}
	return snap, at, nil
}
