package sessions

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rookery/chat"
)

// waitForIndex waits until all turns can be found.
func waitForIndex(t *testing.T, s *Store) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var missing int
		must(t, s.read.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM conversations)
			- (SELECT count(*) FROM search_docsize)`).Scan(&missing))
		if missing == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d texts are missing in the index", missing)
		}
	}
}

// TestReleasedSchemas opens what earlier programs wrote.
func TestReleasedSchemas(t *testing.T) {
	names, err := filepath.Glob("testdata/schema*.db.gz")
	if err != nil || len(names) < 3 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			s := open(t, unpack(t, name))
			waitForIndex(t, s)
			checkFixture(t, s)
			done, err := s.Compact(t.Context())
			must(t, err)
			if done.Before == 0 || done.After == 0 {
				t.Errorf("compacted: %+v", done)
			}
			checkFixture(t, s)
			s = reopen(t, s)
			checkFixture(t, s)
			var size int
			must(t, s.read.QueryRowContext(t.Context(), `PRAGMA page_size`).Scan(&size))
			if size != pageSize {
				t.Errorf("pages of %d bytes after compacting", size)
			}
			must(t, s.CommitTurn(t.Context(), conversation(3000), turn(3001, 0, "a new one"), snapshot(100)))
		})
	}
}

func checkFixture(t *testing.T, s *Store) {
	t.Helper()
	list, err := s.Conversations(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].ID != 2000 || list[0].Head != 2006 || list[1].Title != "conversation 1 乌鸦" {
		t.Errorf("got %+v", list)
	}
	for id, journaled := range map[chat.ID]bool{1000: false, 2000: true} {
		_, turns, j, err := s.Load(t.Context(), id)
		must(t, err)
		if len(turns) != 6 || turns[5].Parent != id+3 || !slices.Equal(turns[4].Tokens, []int32{5, 2, 3}) || (j != nil) != journaled {
			t.Errorf("conversation %d: %+v, %v", id, turns, j)
		}
		if journaled && (j.Text != "half an answer" || !slices.Equal(j.Tokens, []int32{5, 6})) {
			t.Errorf("the journal is %+v", j)
		}
		for i := 1; i <= 6; i++ {
			snap, err := s.Snapshot(t.Context(), id+chat.ID(i))
			if err != nil || snap == nil || !slices.Equal(snap.State, fixtureState(i)) || snap.Position != 3*i {
				t.Errorf("turn %d: %+v, %v", id+chat.ID(i), snap, err)
			}
		}
	}
	for query, want := range map[string]int{"高树": 12, "乌鸦": 2, "rooks nest": 12, fmt.Sprint("turn ", 3): 2} {
		if got := results(t, s, query); len(got) != want {
			t.Errorf("%q finds %d, want %d", query, len(got), want)
		}
	}
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("problems %v, %v", problems, err)
	}
}
