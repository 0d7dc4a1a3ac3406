package sessions

import (
	"context"
	"crypto/sha256"
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
	sum    [sha256.Size]byte // of data
	prefix any               // what was read, or nil
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
	p.sum = sha256.Sum256(p.data)
	return p, err
}

// saveContent stores the bytes of a state, unless they are stored already.
func saveContent(ctx context.Context, tx txn, p packed) (id int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id FROM contents WHERE sum = ?`, p.sum[:]).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO contents (sum, bytes, data) VALUES (?,?,?)`, p.sum[:], len(p.data), p.data)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// saveSnapshot writes a turn's snapshot and what must be known of it. One that
// it had goes first, so that its content does not stay behind.
func saveSnapshot(ctx context.Context, tx txn, conversation, id turn.ID, p packed) error {
	content, err := saveContent(ctx, tx, p)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE turn = ? AND content <> ?`, id, content); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO snapshots (turn, conversation, content, bytes, prefix, used) VALUES (?,?,?,?,?,?)
		ON CONFLICT (turn) DO UPDATE SET prefix = excluded.prefix, used = excluded.used`,
		id, conversation, content, len(p.data), p.prefix, encodeTime(time.Now()))
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
	err := s.read.QueryRowContext(ctx, `SELECT c.data, s.prefix FROM snapshots s
		JOIN contents c ON c.id = s.content WHERE s.turn = ?`, id).Scan(&from, &prefix)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(doing, err)
	}
	if from.err != nil {
		if err := s.disownContent(ctx, id); err != nil {
			return nil, explain(doing, err)
		}
		return nil, fmt.Errorf("%s: %w: %w", doing, ErrDamaged, from.err)
	}
	snap := &from.snap
	if len(prefix) == len(snap.Prefix) {
		snap.Prefix = infer.Prefix(prefix)
	}
	s.upkeep.use(id)
	return snap, nil
}

// disownContent lets nobody else share the damaged bytes of a turn's state: the
// same state is stored anew when it comes again.
func (s *Store) disownContent(ctx context.Context, id turn.ID) error {
	if s.write == nil {
		return nil
	}
	_, err := s.write.ExecContext(ctx, `UPDATE contents SET sum = randomblob(32) WHERE id = (SELECT content FROM snapshots WHERE turn = ?)`, id)
	return err
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
	err = s.read.QueryRowContext(ctx, `SELECT s.turn, r.key FROM json_each(?1) r CROSS JOIN snapshots s ON s.prefix = unhex(r.value)
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
