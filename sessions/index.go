package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"rookery/chat/turn"
)

const (
	// indexedBytes bounds what is indexed of one turn: what stands behind it
	// in a pasted book is not found.
	indexedBytes = 1 << 20
	// fillBatch and fillBytes are how many texts, and of how many bytes, are added
	// to the index in one transaction in the background.
	fillBatch, fillBytes = 1000, 256 << 10
)

// indexTurn keeps the index in step with a turn that is about to be saved.
func (s *Store) indexTurn(ctx context.Context, tx txn, id turn.ID, text string) error {
	return s.index(ctx, tx, int64(id), text, `SELECT text FROM turns WHERE id = ?1`, id)
}

// indexTitle keeps the index in step with a title that is about to be saved.
func (s *Store) indexTitle(ctx context.Context, tx txn, id turn.ID, title string) error {
	return s.index(ctx, tx, -int64(id), title, `SELECT title FROM conversations WHERE id = ?1`, id)
}

// index replaces an entry if the text is another than the one stored. A
// damaged index is no reason to lose a turn: it is made anew in the background.
func (s *Store) index(ctx context.Context, tx txn, row int64, text, stored string, id turn.ID) error {
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

func putIndex(ctx context.Context, tx txn, row int64, text string) error {
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

// fillIndex adds what is missing: everything after a large import or where the
// index was damaged, nothing otherwise. Each batch is a transaction, so that
// turns are saved between them. progress may be nil.
func (s *Store) fillIndex(ctx context.Context, progress func(done, total int64)) error {
	if s.upkeep.indexIsBroken() {
		if err := s.emptyIndex(ctx); err != nil {
			return err
		}
	}
	var total, done int64
	if progress != nil {
		if err := s.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM conversations) - (SELECT count(*) FROM search_docsize)`).Scan(&total); err != nil {
			return err
		}
	}
	for _, missing := range []string{ // in the order of the index's rows
		`SELECT -id, title FROM conversations WHERE -id > ?1 AND -id NOT IN (SELECT id FROM search_docsize) ORDER BY id DESC LIMIT ?2`,
		`SELECT id, text FROM turns WHERE id > ?1 AND id NOT IN (SELECT id FROM search_docsize) ORDER BY id LIMIT ?2`,
	} {
		for last, more := int64(math.MinInt64), true; more; {
			n, row, err := s.fillBatch(ctx, missing, last)
			if indexDamaged(err) {
				s.upkeep.breakIndex()
			}
			if err != nil {
				return err
			}
			last, more = row, n > 0
			if done += int64(n); progress != nil && more {
				progress(done, max(total, done))
			}
		}
	}
	return nil
}

// fillBatch adds a batch of what is missing behind a row, and says how many
// texts it had and the last of its rows.
func (s *Store) fillBatch(ctx context.Context, missing string, after int64) (n int, last int64, err error) {
	type entry struct {
		row  int64
		text string
	}
	err = inTx(ctx, s.write, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, missing, after, fillBatch)
		if err != nil {
			return err
		}
		var batch []entry
		for bytes := 0; bytes < fillBytes && rows.Next(); {
			var e entry
			if err := rows.Scan(&e.row, &e.text); err != nil {
				return errors.Join(err, rows.Close()) //nolint:sqlclosecheck // the transaction goes on
			}
			batch, bytes = append(batch, e), bytes+len(e.text)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if err := rows.Close(); err != nil {
			return err
		}
		p := prepare(tx)
		last = after
		for _, e := range batch {
			if err := putIndex(ctx, p, e.row, e.text); err != nil {
				return err
			}
			last = e.row
		}
		n = len(batch)
		return nil
	})
	return n, last, err
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
