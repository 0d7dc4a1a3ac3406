package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"rookery/chat/turn"
)

const (
	// indexedBytes bounds what is indexed of one turn: what stands behind it
	// in a pasted book is not found.
	indexedBytes = 1 << 20
	// fillBatch is how many turns are added to the index in one transaction in
	// the background.
	fillBatch = 100
)

// indexTurn keeps the index in step with a turn that is about to be saved.
func (s *Store) indexTurn(ctx context.Context, tx *sql.Tx, id turn.ID, text string) error {
	return s.index(ctx, tx, int64(id), text, `SELECT text FROM turns WHERE id = ?1`, id)
}

// indexTitle keeps the index in step with a title that is about to be saved.
func (s *Store) indexTitle(ctx context.Context, tx *sql.Tx, id turn.ID, title string) error {
	return s.index(ctx, tx, -int64(id), title, `SELECT title FROM conversations WHERE id = ?1`, id)
}

// index replaces an entry if the text is another than the one stored. A
// damaged index is no reason to lose a turn: it is made anew in the background.
func (s *Store) index(ctx context.Context, tx *sql.Tx, row int64, text, stored string, id turn.ID) error {
	var old sql.Null[string]
	if err := tx.QueryRowContext(ctx, stored, id).Scan(&old); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if old.Valid && old.V == text {
		return nil
	}
	if s.upkeep.indexIsBroken() {
		return nil
	}
	return putIndex(ctx, tx, row, text)
}

// inIndexedTx runs f in a transaction of the writer. When it fails for what may
// be a damaged index, it is run again without: the index writes some of its
// pages only when the transaction ends, so that the two cannot be told apart
// before.
func (s *Store) inIndexedTx(ctx context.Context, f func(*sql.Tx) error) error {
	err := inTx(ctx, s.write, f)
	if indexDamaged(err) && !s.upkeep.indexIsBroken() {
		s.upkeep.breakIndex()
		err = inTx(ctx, s.write, f)
	}
	return err
}

func putIndex(ctx context.Context, tx *sql.Tx, row int64, text string) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO search (rowid, text) VALUES (?,?)`, row, indexed(text))
	return err
}

// indexed is what the index is given of a text.
func indexed(text string) string {
	if len(text) > indexedBytes {
		text = text[:indexedBytes]
	}
	return fold(text) + padding
}

// indexDamaged says that an error comes of a damaged index: of broken pages, or
// of rows behind it that contradict each other.
func indexDamaged(err error) bool {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH:
		return true
	}
	return false
}

// fillIndex adds what is missing, a batch at a time: everything after an
// update from a schema without an index, nothing otherwise. more says that
// there may be more.
func (s *Store) fillIndex(ctx context.Context) (more bool, err error) {
	if s.upkeep.indexIsBroken() {
		if err := s.emptyIndex(ctx); err != nil {
			return false, err
		}
	}
	n := 0
	err = inTx(ctx, s.write, func(tx *sql.Tx) error {
		for _, missing := range []string{
			`SELECT id, text FROM turns WHERE id NOT IN (SELECT id FROM search_docsize) LIMIT ?`,
			`SELECT -id, title FROM conversations WHERE -id NOT IN (SELECT id FROM search_docsize) LIMIT ?`,
		} {
			rows, err := tx.QueryContext(ctx, missing, fillBatch)
			if err != nil {
				return err
			}
			type entry struct {
				row  int64
				text string
			}
			batch, err := collect(rows, func(row scanner) (entry, error) {
				var e entry
				return e, row.Scan(&e.row, &e.text)
			})
			if err != nil {
				return err
			}
			for _, e := range batch {
				if err := putIndex(ctx, tx, e.row, e.text); err != nil {
					return err
				}
			}
			n = max(n, len(batch))
		}
		return nil
	})
	if indexDamaged(err) {
		s.upkeep.breakIndex()
	}
	return n == fillBatch, err
}

// emptyIndex forgets a damaged index, so that it can be filled again. The
// tables behind it are dropped without being read.
func (s *Store) emptyIndex(ctx context.Context) error {
	err := inTx(ctx, s.write, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO search (search) VALUES ('delete-all')`)
		return err
	})
	if err != nil {
		return fmt.Errorf("making the search index anew: %w", err)
	}
	s.upkeep.mendIndex()
	return nil
}
