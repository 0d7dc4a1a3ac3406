package sessions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rookery/chat/turn"
)

// Whatever takes the files away under a running store is noticed in seconds, and
// what the store itself does to them is not.
func TestLossIsNoticed(t *testing.T) {
	garbage := make([]byte, 64<<10)
	for i := range garbage {
		garbage[i] = byte(i * 7)
	}
	for _, c := range []struct {
		name string
		harm func(path string) error
	}{
		{"the folder removed", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }},
		{"the file removed", os.Remove},
		{"the file replaced", func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
		}},
		{"the file cut", func(path string) error { return os.Truncate(path, pageSize) }},
		{"the file overwritten", func(path string) error { return os.WriteFile(path, garbage, 0o600) }},
		{"the middle overwritten", func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(garbage, 2*pageSize)
			return errors.Join(err, f.Close())
		}},
		{"the log cut", func(path string) error { return os.Truncate(path+"-wal", 0) }},
		{"the log removed", func(path string) error { return os.Remove(path + "-wal") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			var w watched
			for i := range turn.ID(40) {
				must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(i+2, 0, "text"), snapshot(1000)))
			}
			_, err := s.read.ExecContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)")
			must(t, err)
			must(t, s.look(t.Context(), &w))
			must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(90, 0, "text"), nil))
			must(t, s.look(t.Context(), &w))
			time.Sleep(10 * time.Millisecond) // file systems have coarse times
			must(t, c.harm(s.path))
			var lost *LostError
			if err := s.look(t.Context(), &w); !errors.As(err, &lost) {
				t.Errorf("nobody notices: %v", err)
			}
			_ = s.closeAll() // what is left of it
			s.lock = nil
		})
	}
}

func TestOwnWorkIsNoLoss(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	lost := make(chan error, 1)
	go func() { lost <- s.AwaitLoss(ctx) }()
	for i := range turn.ID(30) {
		must(t, s.CommitTurn(ctx, conversation(1), makeTurn(i+2, 0, "text"), snapshot(200_000)))
	}
	_, err := s.Compact(ctx)
	must(t, err)
	must(t, os.Chtimes(s.path, time.Now(), time.Now()))
	time.Sleep(watchEvery + watchEvery/2)
	must(t, s.Delete(ctx, 1))
	_, err = s.Compact(ctx)
	must(t, err)
	time.Sleep(watchEvery + watchEvery/2)
	cancel()
	if err := <-lost; err != nil {
		t.Errorf("the store's own work: %v", err)
	}
}
