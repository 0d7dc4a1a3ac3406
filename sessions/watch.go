package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"rookery/untrusted"
)

// watchEvery is how often the files are looked at.
const watchEvery = time.Second

// A LostError says that the files of a running store are not those that it
// writes to any more: what is saved from then on may be saved nowhere.
type LostError struct {
	Path string
	What string // what happened to it: "was removed"
}

func (e *LostError) Error() string { return fmt.Sprintf("%s %s while it was in use", e.Path, e.What) }

// AwaitLoss returns a *LostError when another program has removed, replaced, cut
// or overwritten the database or its log, and nil when ctx has ended,
// after a last look. A database goes on working then as if nothing had happened, in a file that nobody finds.
func (s *Store) AwaitLoss(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var w watched
	for {
		if err := s.look(ctx, &w); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return s.look(context.WithoutCancel(ctx), &w)
		case <-tick.C:
		}
	}
}

// watched is how the files were when they were last looked at.
type watched struct {
	file, log fs.FileInfo
	copied    int // how many times the log had been copied
}

// look compares the files with how they were. The store itself changes the
// database's file only while it copies the log.
func (s *Store) look(ctx context.Context, w *watched) error {
	s.log.Lock()
	defer s.log.Unlock()
	before := *w
	if before.copied != s.copies { // the store has written the file, and may have cut it and its log
		before = watched{}
	}
	w.copied = s.copies
	var err error
	if w.file, err = s.lookAt(s.path, before.file); err != nil {
		return err
	}
	if w.log, err = s.lookAt(s.path+"-wal", before.log); err != nil {
		return err
	}
	if err := checkHead(ctx, s.path); err != nil {
		return err
	}
	if before.file != nil && !w.file.ModTime().Equal(before.file.ModTime()) && !s.isWhole(ctx) {
		return &LostError{s.path, "was overwritten"}
	}
	return nil
}

// lookAt says how a file is; before is nil if that is not known.
func (s *Store) lookAt(path string, before fs.FileInfo) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &LostError{path, "was removed"}
	case err != nil: // it cannot be looked at now, which says nothing about it
		return before, nil //nolint:nilerr // says nothing about the file
	case before == nil:
		return info, nil
	case !os.SameFile(info, before):
		return nil, &LostError{path, "was replaced by another file"}
	case info.Size() < before.Size():
		return nil, &LostError{path, "was cut short"}
	}
	return info, nil
}

// checkHead says whether the file begins as our databases do.
func checkHead(ctx context.Context, path string) error {
	f, err := untrusted.Open(ctx, path, untrusted.Unbounded)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	head := make([]byte, len(magic)) // what follows may still stand in the log
	_, err = io.ReadFull(f, head)
	_ = f.Close() // it was only read
	if err != nil || string(head) != magic {
		return &LostError{path, "was overwritten"}
	}
	return nil
}

// isWhole reads the database's structure by a connection that has nothing in
// memory.
func (s *Store) isWhole(ctx context.Context) bool {
	db, err := sql.Open("sqlite", s.reader)
	if err != nil {
		return true
	}
	defer func() { _ = db.Close() }() // it was only read
	var said string
	err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&said)
	return ctx.Err() != nil || err == nil && said == "ok"
}
