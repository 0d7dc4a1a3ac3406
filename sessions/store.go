package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"rookery/untrusted"
)

// File is the database's name in its data directory.
const File = "rookery.db"

// magic is how a database begins.
const magic = "SQLite format 3\x00"

// pageSize halves the cost of large blobs against SQLite's 4 KiB.
const pageSize = 16384

// A Store implements chat.Store.
type Store struct {
	path   string
	lock   *os.File // nil when read-only
	write  *sql.DB  // one connection; nil when read-only
	read   *sql.DB
	reader string // what read was opened with
	upkeep *upkeep
	stop   context.CancelFunc // ends the upkeep
	worker sync.WaitGroup
	log    sync.Mutex // held while the log is copied: a log that is being copied cannot be emptied
	copies int        // how many times it was; under log
}

// Open opens the database of a data directory for reading and writing,
// creating both where they are missing. Another process that has it is
// ErrInUse.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w; choose another storage.data_dir", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{path: filepath.Join(dir, File), lock: lock, upkeep: newUpkeep()}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.closeAll())
	}
	var background context.Context
	background, s.stop = context.WithCancel(context.Background())
	s.worker.Go(func() { s.upkeepLoop(background) })
	return s, nil
}

// OpenReadOnly opens the database beside a running program. A missing one is
// fs.ErrNotExist.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	s := &Store{path: filepath.Join(dir, File), upkeep: newUpkeep()}
	if _, err := os.Stat(s.path); err != nil {
		return nil, fmt.Errorf("opening the conversations: %w", err)
	}
	if err := looksLikeSQLite(s.path); err != nil {
		return nil, err
	}
	err := s.openReadOnly(ctx, "mode", "ro")
	if err != nil && s.settled() {
		// In a directory that nobody can write to, the log's index cannot be
		// made, and is not needed: nothing changes there.
		if ierr := s.openReadOnly(ctx, "immutable", "1"); ierr == nil {
			return s, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// settled says whether the database was closed by its last writer: it has no log.
func (s *Store) settled() bool {
	info, err := os.Stat(s.path + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// openReadOnly opens and identifies the database, or closes it again.
func (s *Store) openReadOnly(ctx context.Context, key, value string) error {
	var err error
	s.reader = dsn(s.path, key, value)
	if s.read, err = sql.Open("sqlite", s.reader); err != nil {
		return explain("opening "+s.path, err)
	}
	scripts, err := migrations()
	if err == nil {
		var version int
		version, err = identify(ctx, s.read, s.path)
		if err == nil && version != len(scripts) {
			err = fmt.Errorf("%s has schema %d and this rookery reads %d: open it once with `rookery` to update it, or update rookery", s.path, version, len(scripts))
		}
	}
	if err != nil {
		return errors.Join(err, s.closeAll())
	}
	return nil
}

func (s *Store) open(ctx context.Context) error {
	if err := looksLikeSQLite(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var err error
	if s.write, err = sql.Open("sqlite", dsn(s.path, "_txlock", "immediate")); err != nil {
		return explain("opening "+s.path, err)
	}
	s.write.SetMaxOpenConns(1)
	scripts, err := migrations()
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.write, s.path, scripts); err != nil {
		return err
	}
	return s.openReaders()
}

// dsn names the database with the settings of every connection and one more.
// page_size only matters for a new file, and there before the journal mode: the
// driver sorts the list of pragmas and sets the mode after them.
func dsn(path, key, value string) string {
	q := url.Values{"_pragma": {
		fmt.Sprintf("page_size(%d)", pageSize),
		"synchronous(normal)",
		"busy_timeout(5000)",
		"foreign_keys(1)",
		"wal_autocheckpoint(0)",
		"cell_size_check(1)",
		"trusted_schema(0)",
	}, "_journal_mode": {"wal"}}
	if key == "mode" || key == "immutable" { // a read-only connection cannot set the mode of the file
		q = url.Values{"_pragma": {"busy_timeout(5000)", "query_only(1)"}}
	}
	q.Add(key, value)
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: q.Encode()}).String()
}

// looksLikeSQLite refuses a file that is something else before the library
// writes to it. An empty file is a new database.
func looksLikeSQLite(path string) error {
	f, err := untrusted.Open(context.Background(), path, untrusted.Unbounded)
	if err != nil {
		return fmt.Errorf("opening the conversations: %w", err)
	}
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if cerr := f.Close(); cerr != nil {
		return fmt.Errorf("reading %s: %w", path, cerr)
	}
	if n == 0 && errors.Is(err, io.EOF) {
		return nil
	}
	if string(head) != magic {
		return fmt.Errorf("%s is not a database, or its first page is %w: move it away, restore a copy, or choose another storage.data_dir; nothing was overwritten", path, ErrDamaged)
	}
	return nil
}

// Close copies the log into the database and releases the directory.
func (s *Store) Close() error {
	var err error
	if s.write != nil {
		s.stop()
		s.worker.Wait()
		if _, cerr := s.write.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)"); cerr != nil {
			err = explain("closing "+s.path, cerr)
		}
	}
	return errors.Join(err, s.closeAll())
}

func (s *Store) closeAll() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return explain("closing "+s.path, errors.Join(errs...))
}

// Path is the database file.
func (s *Store) Path() string { return s.path }
