package sessions

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
)

// talk stores a conversation of n turns with snapshots of about bytes each;
// its turns' ids follow its own.
func talk(t *testing.T, s *Store, id turn.ID, n, bytes int) turn.Conversation {
	t.Helper()
	c := conversation(id)
	for i := range n {
		next := makeTurn(id+turn.ID(i)+1, 0, fmt.Sprintf("turn %d of %d", i, id))
		if i > 0 {
			next.Parent = next.ID - 1
		}
		c.Head, c.Tip = next.ID, next.ID
		snap := snapshot(bytes / 4)
		snap.Position = int(next.ID) // no two are alike
		must(t, s.CommitTurn(t.Context(), c, next, snap))
	}
	return c
}

// stored lists the turns of a conversation that have a snapshot.
func stored(t *testing.T, s *Store, id turn.ID) (ids []turn.ID) {
	t.Helper()
	turns, _, _, err := s.kept(t.Context(), id)
	must(t, err)
	for _, k := range turns {
		if k.Bytes > 0 {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

func TestGrownConversationsAreThinned(t *testing.T) {
	s := byHand(t)
	c := talk(t, s, 1000, 100, 64)
	must(t, s.retain(t.Context()))
	kept := stored(t, s, c.ID)
	if len(kept) > 50 || !slices.Contains(kept, c.Tip) {
		t.Errorf("%d of 100 are left: %v", len(kept), kept)
	}
	for id := c.ID + 1; id <= c.Tip; id++ {
		snap, err := s.Snapshot(t.Context(), id)
		if err != nil || (snap != nil) != slices.Contains(kept, id) {
			t.Errorf("turn %d: %v, %v", id, snap, err)
		}
	}
	if _, turns, err := s.Load(t.Context(), c.ID); err != nil || len(turns) != 100 {
		t.Errorf("thinning has cost turns: %d, %v", len(turns), err)
	}
}

func TestBudget(t *testing.T) {
	const each = 8 << 10
	s := byHand(t)
	for id := turn.ID(1000); id < 6000; id += 1000 {
		talk(t, s, id, 10, each)
		time.Sleep(time.Millisecond) // uses are told apart by time
	}
	// The oldest was read last; the one after it is pinned at one turn.
	_, err := s.Snapshot(t.Context(), 1005)
	must(t, err)
	pinned := makeTurn(2004, 2003, "turn 3 of 2000")
	pinned.Pinned = true
	c := conversation(2000)
	c.Head, c.Tip = 2010, 2010
	must(t, s.CommitTurn(t.Context(), c, pinned, snapshot(each/4)))

	total := func() (n int64) {
		must(t, s.read.QueryRowContext(t.Context(), `SELECT sum(length(data)) FROM contents`).Scan(&n))
		return n
	}
	s.SetRetention(Retention{Budget: 40 * each})
	must(t, s.retain(t.Context()))
	if n := total(); n > 40*each || n < 30*each {
		t.Errorf("%d bytes are left of a budget of %d", n, 40*each)
	}
	if n := len(stored(t, s, 1000)); n != 10 {
		t.Errorf("the conversation that was used last keeps %d of 10", n)
	}
	if kept := stored(t, s, 3000); len(kept) >= 10 {
		t.Errorf("the conversation not used for longest keeps %v", kept)
	}
	s.SetRetention(Retention{Budget: 7 * each})
	must(t, s.retain(t.Context()))
	for id := turn.ID(1000); id < 6000; id += 1000 {
		want := []turn.ID{id + 10}
		if id == 2000 {
			want = []turn.ID{2004, 2010}
		}
		if kept := stored(t, s, id); !slices.Equal(kept, want) {
			t.Errorf("conversation %d keeps %v, want %v", id, kept, want)
		}
	}
	s.SetRetention(Retention{})
	must(t, s.retain(t.Context()))
	if kept := stored(t, s, 2000); !slices.Equal(kept, []turn.ID{2004}) || total() > 2*each {
		t.Errorf("without a budget the pinned turn alone stays: %v, %d bytes", kept, total())
	}
	cost, err := s.Cost(t.Context(), 2000)
	must(t, err)
	if cost.Turns != 10 || cost.Snapshots != 1 || cost.SnapshotBytes != total() || cost.TextBytes < 10*16 {
		t.Errorf("cost %+v", cost)
	}
}

// What was thrown away goes before what was not used for longer.
func TestBudgetBeginsInTheBin(t *testing.T) {
	const each = 8 << 10
	s := byHand(t)
	talk(t, s, 1000, 10, each)
	c := talk(t, s, 2000, 10, each)
	c.Deleted = time.Now()
	must(t, s.SaveConversation(t.Context(), c))
	s.SetRetention(Retention{Budget: 16 * each})
	must(t, s.retain(t.Context()))
	if a, b := len(stored(t, s, 1000)), len(stored(t, s, 2000)); a != 10 || b >= 10 {
		t.Errorf("%d of 10 stay, and %d of the one thrown away", a, b)
	}
}

// A state that is stored stands for what it has read, if it has a name.
func TestNamedStates(t *testing.T) {
	s := open(t, t.TempDir())
	read := infer.Prefix{1, 2, 3}
	snap := snapshot(6400)
	snap.Prefix = read
	must(t, s.CommitTurn(t.Context(), conversation(10), makeTurn(11, 0, "x"), snap))
	must(t, s.CommitTurn(t.Context(), conversation(20), makeTurn(21, 0, "x"), snapshot(6400)))
	for id, want := range map[turn.ID]infer.Prefix{11: read, 21: {}} {
		if back, err := s.Snapshot(t.Context(), id); err != nil || back.Prefix != want || !slices.Equal(back.State, snap.State) {
			t.Errorf("turn %d is named %v, %v", id, back.Prefix, err)
		}
	}
	if found, at, err := s.SnapshotReading(t.Context(), []infer.Prefix{{9}, read}); err != nil || found == nil || at != 1 || found.State[5] != snapshot(6).State[5] {
		t.Errorf("found %v at %d, %v", found, at, err)
	}
	must(t, s.Delete(t.Context(), 10))
	if found, _, err := s.SnapshotReading(t.Context(), []infer.Prefix{{9}, read}); err != nil || found != nil {
		t.Errorf("found a state without a name: %v, %v", found, err)
	}
}
