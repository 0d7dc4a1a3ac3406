package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"rookery/chat/turn"
)

// Errors that callers tell apart.
var (
	// ErrInUse says that another process has the data directory.
	ErrInUse = errors.New("already in use")
	// ErrDamaged says that the database or a snapshot cannot be read.
	ErrDamaged = errors.New("damaged")
	// ErrFull says that the disk is full.
	ErrFull = errors.New("disk full")
)

// explain turns a database error into one line with a way out.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	err = brief{err}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%s: %w: free some space; nothing that was stored is lost", doing, ErrFull)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: the database is %w: restore a copy or choose another storage.data_dir, and see with `rookery sessions check` and `export` what can be read; nothing was overwritten (%w)", doing, ErrDamaged, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%s: the place cannot be written: check its permissions or choose another storage.data_dir (%w)", doing, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: another program holds the database: close it and try again (%w)", doing, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%s: the disk reports an error: check its health and free space (%w)", doing, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// A brief is a database error on one line: a damaged schema is quoted in full.
type brief struct{ error }

func (b brief) Error() string {
	const most = 200
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.Join(strings.Fields(b.error.Error()), " "))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func (b brief) Unwrap() error { return b.error }

// notFound is the error of a conversation that is not stored. It is
// fs.ErrNotExist.
type notFound turn.ID

func (id notFound) Error() string {
	return fmt.Sprintf("there is no conversation %d: `rookery sessions ls` lists them", int64(id))
}

func (notFound) Is(target error) bool { return target == fs.ErrNotExist }
