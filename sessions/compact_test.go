package sessions

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"rookery/chat/turn"
)

func TestCompact(t *testing.T) {
	const each = 256 << 10
	s := byHand(t)
	talk(t, s, 1000, 30, each)
	talk(t, s, 2000, 10, each)
	must(t, s.Delete(t.Context(), 2000))
	s.SetRetention(Retention{Budget: 10 * each})
	done, err := s.Compact(t.Context())
	must(t, err)
	cost, err := s.Cost(t.Context(), 1000)
	must(t, err)
	if done.Before < 30*each || done.After > 12*each || done.Snapshots < 19*each || cost.SnapshotBytes > 10*each {
		t.Errorf("%+v, then %+v", done, cost)
	}
	info, err := os.Stat(s.path)
	must(t, err)
	if info.Size() != done.After {
		t.Errorf("the file has %d bytes, not %d", info.Size(), done.After)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	s = reopen(t, s)
	if snap, err := s.Snapshot(t.Context(), 1030); snap == nil || err != nil {
		t.Errorf("the last state: %v, %v", snap, err)
	}
}

// A disk that is full: a small one of its own where that may be made.
func TestFullSmallDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no disk of its own: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil { //nolint:noctx // the test's context is over
			t.Errorf("%v: %s", err, out)
		}
	})
	s := open(t, dir)
	var id turn.ID
	var err error
	for id = 2; id < 100 && err == nil; id++ {
		next := makeTurn(id, id-1, "kept")
		if id == 2 {
			next.Parent = 0
		}
		err = s.CommitTurn(t.Context(), conversation(1), next, snapshot(64<<10))
	}
	if !errors.Is(err, ErrFull) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("turn %d: %v", id-1, err)
	}
	_, turns, err := s.Load(t.Context(), 1)
	if err != nil || len(turns) != int(id)-3 {
		t.Errorf("%d turns of %d can be read, %v", len(turns), id-3, err)
	}
	if found, err := s.Search(t.Context(), "kept", 99); err != nil || len(found) != len(turns) {
		t.Errorf("%d are found, %v", len(found), err)
	}
	if _, err := s.Compact(t.Context()); err != nil && !errors.Is(err, ErrFull) {
		t.Errorf("compacting: %v", err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("after compacting: %v, %v", problems, err)
	}
	// With fewer states there is room again.
	s.SetRetention(Retention{})
	if err := s.retain(t.Context()); err != nil && !errors.Is(explain("", err), ErrFull) {
		t.Errorf("thinning: %v", err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if err := s.Close(); err != nil && !errors.Is(err, ErrFull) {
		t.Errorf("closing: %v", err)
	}
	s.lock = nil
}

func TestNoRoomToCompact(t *testing.T) {
	s := open(t, t.TempDir())
	err := s.roomFor(1 << 62)
	if !errors.Is(err, ErrFull) || !strings.Contains(fmt.Sprint(err), "free some space") {
		t.Errorf("got %v", err)
	}
}
