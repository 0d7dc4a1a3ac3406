package sessions

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"rookery/chat/save"
)

// A Compaction says what Compact did.
type Compaction struct {
	Before, After int64 // bytes on disk
	Snapshots     int64 // bytes of snapshots that the rules of retention do not keep
}

// Compact thins all conversations to the rules of retention, puts the index in
// order and gives free pages back to the file system. It writes everything
// once more and needs room for that; without it, what was thinned stays free
// inside the file, to be used again. Nobody else may have the database open.
func (s *Store) Compact(ctx context.Context) (Compaction, error) {
	const doing = "compacting the conversations"
	var c Compaction
	var err error
	if c.Before, err = s.sizeOnDisk(); err != nil {
		return c, fmt.Errorf("%s: %w", doing, err)
	}
	if c.Snapshots, err = s.thinAll(ctx); err != nil {
		return c, explain(doing, err)
	}
	if err := s.fillIndex(ctx, nil); err != nil {
		return c, explain(doing, err)
	}
	if _, err := s.write.ExecContext(ctx, `INSERT INTO search (search) VALUES ('optimize')`); err != nil {
		return c, explain(doing, err)
	}
	if err := s.vacuum(ctx); err != nil {
		return c, explain(doing, err)
	}
	c.After, err = s.sizeOnDisk()
	return c, err
}

// thinAll applies the rules of retention to every conversation.
func (s *Store) thinAll(ctx context.Context) (freed int64, err error) {
	all, err := s.byUse(ctx)
	if err != nil {
		return 0, err
	}
	for _, id := range all {
		n, err := s.thin(ctx, id, save.ThinLightly, 0)
		freed += n
		if err != nil {
			return freed, err
		}
	}
	n, err := s.keepBudget(ctx)
	return freed + n, err
}

// vacuum writes the database anew without its free pages.
func (s *Store) vacuum(ctx context.Context) error {
	s.log.Lock()
	defer s.log.Unlock()
	s.copies++
	if _, err := s.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return err
	}
	var pages, free, size int64
	row := s.write.QueryRowContext(ctx, `SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err := row.Scan(&pages, &free, &size); err != nil {
		return err
	}
	if err := s.roomFor((pages - free) * size); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	_, err := s.write.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// openReaders opens the connections that only read.
func (s *Store) openReaders() error {
	var err error
	s.reader = dsn(s.path, "_pragma", "query_only(1)")
	if s.read, err = sql.Open("sqlite", s.reader); err != nil {
		return explain("opening "+s.path, err)
	}
	s.read.SetMaxOpenConns(4)
	return nil
}

// roomFor refuses what would fill the disk. A copy is made in the place for
// temporary files, and then written beside the database.
func (s *Store) roomFor(bytes int64) error {
	need := map[string]int64{}
	for _, dir := range []string{filepath.Dir(s.path), os.TempDir()} {
		need[dir] += bytes
	}
	for dir, n := range need {
		if free, ok := FreeSpace(dir); ok && free < n {
			return fmt.Errorf("%w: some %d MB are needed in %s and %d MB are free: free some space; nothing is lost, and what was thinned is used again",
				ErrFull, n/1e6+1, dir, free/1e6)
		}
	}
	return nil
}

// sizeOnDisk is the bytes of the database and its log.
func (s *Store) sizeOnDisk() (int64, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0, err
	}
	size := info.Size()
	if wal, err := os.Stat(s.path + "-wal"); err == nil {
		size += wal.Size()
	}
	return size, nil
}
