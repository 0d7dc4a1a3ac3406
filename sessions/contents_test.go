package sessions

import (
	"errors"
	"testing"

	"rookery/chat/turn"
)

// copyTalk forks a conversation of talk into another one.
func copyTalk(t *testing.T, s *Store, from, to turn.ID, n int) {
	t.Helper()
	_, turns, err := s.Load(t.Context(), from)
	must(t, err)
	c := conversation(to)
	c.CopyOf = from
	var of []turn.ID
	for i := range turns {
		of = append(of, turns[i].ID)
		turns[i].ID += to - from
		if turns[i].Parent != 0 {
			turns[i].Parent += to - from
		}
		c.Head, c.Tip = turns[i].ID, turns[i].ID
	}
	must(t, s.CopyTurns(t.Context(), c, turns[:n], of[:n]))
}

func (s *Store) contents(t *testing.T) (n int) {
	t.Helper()
	must(t, s.read.QueryRowContext(t.Context(), `SELECT count(*) FROM contents`).Scan(&n))
	return n
}

// Forks of one conversation share its states on disk.
func TestForksShareStates(t *testing.T) {
	const turns, each = 12, 1 << 20
	s := byHand(t)
	talk(t, s, 1000, turns, each)
	measure := func() float64 { // without the log, which is emptied in the background
		_, err := s.write.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`)
		must(t, err)
		n, err := s.sizeOnDisk()
		must(t, err)
		return float64(n)
	}
	alone := measure()
	for id := turn.ID(2000); id < 34000; id += 1000 {
		copyTalk(t, s, 1000, id, turns)
	}
	with := measure()
	t.Logf("%.1f MB alone, %.1f MB with 32 forks: %.3f times", alone/1e6, with/1e6, with/alone)
	if with > 1.2*alone {
		t.Errorf("32 forks take %.0f bytes, and the conversation alone %.0f", with, alone)
	}
	z, err := s.Size(t.Context())
	must(t, err)
	if z.Snapshots != 33*turns || z.SnapshotBytes > turns*(each+4096) {
		t.Errorf("%+v", z)
	}
	// Each goes on by itself: what others have stays when one is deleted.
	must(t, s.Delete(t.Context(), 1000))
	if snap, err := s.Snapshot(t.Context(), 2012); err != nil || snap == nil || snap.Position != 1012 {
		t.Fatalf("the state of a fork: %v, %v", snap, err)
	}
	for id := turn.ID(2000); id < 34000; id += 1000 {
		must(t, s.Delete(t.Context(), id))
	}
	if n := s.contents(t); n != 0 {
		t.Errorf("%d states are left of no conversation", n)
	}
}

// Thinning counts what it frees, and not what others still share.
func TestThinningCountsSharedStatesOnce(t *testing.T) {
	const each = 8 << 10
	s := byHand(t)
	talk(t, s, 1000, 10, each)
	copyTalk(t, s, 1000, 2000, 10)
	s.SetRetention(Retention{Budget: 12 * each})
	must(t, s.retain(t.Context()))
	if n, m := len(stored(t, s, 1000)), len(stored(t, s, 2000)); n != 10 || m != 10 {
		t.Errorf("10 states that two share do not fit 12: %d and %d are left", n, m)
	}
	s.SetRetention(Retention{Budget: 5 * each})
	must(t, s.retain(t.Context()))
	if n := s.contents(t); n > 5 || n == 0 {
		t.Errorf("%d states are left of a budget of 5", n)
	}
}

// A state whose bytes were damaged is stored anew when it comes again.
func TestDamagedContentIsNotShared(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "x"), snapshot(100)))
	_, err := s.write.ExecContext(t.Context(), `UPDATE contents SET data = CAST(substr(data, 1, 50) || x'ff' || substr(data, 52) AS BLOB)`)
	must(t, err)
	if _, err := s.Snapshot(t.Context(), 2); !errors.Is(err, ErrDamaged) {
		t.Fatalf("a flipped byte: %v", err)
	}
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "x"), snapshot(100)))
	if snap, err := s.Snapshot(t.Context(), 2); err != nil || snap == nil {
		t.Errorf("after it was saved again: %v, %v", snap, err)
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("left behind: %v, %v", problems, err)
	}
}

// A state that is kept in the library is that of its turn, once.
func TestLibrarySharesStates(t *testing.T) {
	s := open(t, t.TempDir())
	kept := libraryState(10, "kept")
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "x"), kept.Snapshot))
	must(t, s.SaveState(t.Context(), kept))
	if n := s.contents(t); n != 1 {
		t.Errorf("one state is stored %d times", n)
	}
	must(t, s.Delete(t.Context(), 1))
	if st, err := s.State(t.Context(), 10); err != nil || st.Snapshot == nil {
		t.Errorf("the library's: %v", err)
	}
	must(t, s.DeleteState(t.Context(), 10))
	if n := s.contents(t); n != 0 {
		t.Errorf("%d states are left", n)
	}
}

func TestDrafts(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.SaveDraft(t.Context(), 7, turn.Draft{Text: "half a\nprompt"}))
	must(t, s.SaveDraft(t.Context(), 8, turn.Draft{Text: "x", Editing: true, Turn: 3, Answer: true}))
	must(t, s.SaveDraft(t.Context(), 8, turn.Draft{}))
	must(t, s.SaveLayout(t.Context(), turn.Layout{Open: []turn.ID{7, 8}, Active: 1}))
	s = reopen(t, s)
	drafts, err := s.Drafts(t.Context())
	if err != nil || len(drafts) != 1 || drafts[7].Text != "half a\nprompt" {
		t.Errorf("got %v, %v", drafts, err)
	}
	// An empty conversation is not stored; its tab is worth opening for the draft.
	if l, err := s.Layout(t.Context()); err != nil || len(l.Open) != 1 || l.Open[0] != 7 {
		t.Errorf("open: %v, %v", l, err)
	}
}
