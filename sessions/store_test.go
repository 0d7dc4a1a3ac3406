package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

var _ turn.Store = (*Store)(nil)

// tolerance is how long a test waits for what must happen.
const tolerance = time.Minute

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.lock != nil && s.Close() != nil {
			t.Log("closing twice or failing is reported by the test that cares")
		}
	})
	return s
}

// byHand opens a store without its upkeep: what that does, the test does, and
// at no other time.
func byHand(t *testing.T) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	s.stop()
	s.worker.Wait()
	return s
}

func reopen(t *testing.T, s *Store) *Store {
	t.Helper()
	dir := filepath.Dir(s.path)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.lock = nil
	return open(t, dir)
}

var when = time.Date(2026, 11, 21, 9, 30, 0, 123000, time.UTC)

func conversation(id turn.ID) turn.Conversation {
	return turn.Conversation{
		ID: id, Title: "Über 猫 😀", Named: true, System: "be\nbrief", Think: turn.ThinkFree, Preset: "p",
		Sampling: sampler.Params{Temperature: 0.1, TopP: 0.3, TopK: 5, Presence: 0.7, Frequency: 1e-7, Decay: 0.996, Seed: 1<<64 - 1, Ban: []int32{0, 7}},
		Created:  when, Updated: when.Add(time.Hour),
	}
}

func makeTurn(id, parent turn.ID, text string) turn.Turn {
	return turn.Turn{
		ID: id, Parent: parent, Role: turn.RoleAssistant, Text: text, Tokens: []int32{1, 65535, 0}, Recall: []int32{}, Open: true,
		Reason: infer.ReasonLength, Sampling: sampler.Params{TopP: 1}, Model: "fingerprint", ModelName: "m", Created: when,
		Usage: infer.Usage{Read: 3, Generated: 9, ReadTime: time.Second, DecodeTime: 2, FirstToken: 3},
	}
}

func snapshot(n int) *infer.Snapshot {
	s := &infer.Snapshot{Model: "fingerprint", Tokenizer: "t", Position: 17, State: make([]float32, n), Pending: []int32{5}, Tail: []byte{0xf0}}
	for i := range s.State {
		s.State[i] = float32(i) / 3
	}
	return s
}

func TestPageSize(t *testing.T) {
	var n int
	must(t, open(t, t.TempDir()).read.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&n))
	if n != pageSize {
		t.Errorf("pages of %d bytes, want %d", n, pageSize)
	}
}

func TestRoundTrip(t *testing.T) {
	s := open(t, t.TempDir())
	c := conversation(10)
	c.Head = 12
	first, second := makeTurn(11, 0, "one"), makeTurn(12, 11, "two")
	first.Recall = nil
	snap := snapshot(1000)
	must(t, s.CommitTurn(t.Context(), c, first, nil))
	must(t, s.CommitTurn(t.Context(), c, second, snap))
	must(t, s.SaveConversation(t.Context(), conversation(20)))
	must(t, s.SaveLayout(t.Context(), turn.Layout{Open: []turn.ID{20, 999, 10}, Active: 2}))
	for range 2 {
		must(t, s.AddHistory(t.Context(), "hello\nworld"))
	}
	s = reopen(t, s)

	got, turns, err := s.Load(t.Context(), 10)
	must(t, err)
	if diff := cmp.Diff(c, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]turn.Turn{first, second}, turns); diff != "" {
		t.Error(diff)
	}
	if journal := newestJournal(t, s, 10); journal != nil {
		t.Errorf("a journal from nowhere: %+v", journal)
	}
	back, err := s.Snapshot(t.Context(), 12)
	must(t, err)
	if diff := cmp.Diff(snap, back); diff != "" {
		t.Error(diff)
	}
	if none, err := s.Snapshot(t.Context(), 11); none != nil || err != nil {
		t.Errorf("got %v, %v for a turn without a state", none, err)
	}
	l, err := s.Layout(t.Context())
	must(t, err)
	if diff := cmp.Diff(turn.Layout{Open: []turn.ID{20, 10}, Active: 1}, l); diff != "" {
		t.Error(diff)
	}
	h, err := s.History(t.Context())
	must(t, err)
	if diff := cmp.Diff([]string{"hello\nworld"}, h); diff != "" {
		t.Error(diff)
	}
	list, err := s.Conversations(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].ID != 20 {
		t.Errorf("got %v", list)
	}
	problems, err := s.Check(t.Context())
	must(t, err)
	if len(problems) > 0 {
		t.Errorf("problems in a sound database: %v", problems)
	}
}

func TestCommitReplaces(t *testing.T) {
	s := open(t, t.TempDir())
	c := conversation(1)
	must(t, s.CommitTurn(t.Context(), c, makeTurn(2, 0, "half"), snapshot(8)))
	longer := makeTurn(2, 0, "half and more")
	longer.Open = false
	must(t, s.CommitTurn(t.Context(), c, longer, nil))
	_, turns, err := s.Load(t.Context(), 1)
	must(t, err)
	if diff := cmp.Diff([]turn.Turn{longer}, turns); diff != "" {
		t.Error(diff)
	}
	if snap, err := s.Snapshot(t.Context(), 2); snap != nil || err != nil {
		t.Errorf("the old state is still there: %v, %v", snap, err)
	}
}

func TestJournal(t *testing.T) {
	s := open(t, t.TempDir())
	c := conversation(1)
	must(t, s.CommitTurn(t.Context(), c, makeTurn(2, 0, "prompt"), nil))
	begun := turn.Turn{ID: 3, Parent: 2, Role: turn.RoleAssistant, Model: "f", ModelName: "n", Created: when, Sampling: sampler.Params{TopP: 1, Seed: 4}}
	must(t, s.BeginJournal(t.Context(), 1, begun))
	must(t, s.AppendJournal(t.Context(), 3, []int32{1, 2}, "On"))
	must(t, s.AppendJournal(t.Context(), 3, []int32{3}, "ce"))
	s = reopen(t, s)
	j := newestJournal(t, s, 1)
	if diff := cmp.Diff(&turn.Journal{Turn: begun, Tokens: []int32{1, 2, 3}, Text: "Once"}, j); diff != "" {
		t.Error(diff)
	}
	must(t, s.BeginJournal(t.Context(), 1, begun))
	if j = newestJournal(t, s, 1); j == nil || len(j.Tokens) != 0 {
		t.Errorf("beginning again did not empty the journal: %v", j)
	}
	if err := s.AppendJournal(t.Context(), 99, []int32{1}, "x"); err == nil {
		t.Error("a journal that was never begun was written to")
	}
	must(t, s.CommitTurn(t.Context(), c, makeTurn(3, 2, "Once"), nil))
	if j = newestJournal(t, s, 1); j != nil {
		t.Errorf("the journal outlived its turn: %v", j)
	}
}

func TestDeleteTakesEverything(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "x"), snapshot(100)))
	must(t, s.BeginJournal(t.Context(), 1, makeTurn(3, 2, "")))
	must(t, s.AppendJournal(t.Context(), 3, []int32{1}, "x"))
	must(t, s.SaveLayout(t.Context(), turn.Layout{Open: []turn.ID{1}}))
	must(t, s.SaveDraft(t.Context(), 1, turn.Draft{Text: "not sent"}))
	must(t, s.Delete(t.Context(), 1))
	for _, table := range []string{"conversations", "turns", "snapshots", "journals", "journal_parts", "contents", "drafts", "search_docsize"} {
		var n int
		must(t, s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		if n != 0 {
			t.Errorf("%d rows left in %s", n, table)
		}
	}
	if l, err := s.Layout(t.Context()); err != nil || len(l.Open) > 0 {
		t.Errorf("what was deleted is still open: %v, %v", l, err)
	}
	if err := s.Delete(t.Context(), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleting twice: %v", err)
	}
	if _, _, err := s.Load(t.Context(), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("loading what was deleted: %v", err)
	}
}

func TestSecondProgramIsTold(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := Open(t.Context(), dir)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Fatalf("got %v", err)
	}
	ro, err := OpenReadOnly(t.Context(), dir)
	must(t, err)
	must(t, s.SaveConversation(t.Context(), conversation(1)))
	list, err := ro.Conversations(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("reading beside the writer: %v, %v", list, err)
	}
	must(t, ro.Close())
	reopen(t, s)
}

// TestReadOnlyDirectory reads what a directory that cannot be written to holds.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("skipped: nothing is read-only for root")
	}
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.SaveConversation(t.Context(), conversation(1)))
	must(t, s.Close())
	s.lock = nil
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { check(t, os.Chmod(dir, 0o700)) })
	ro, err := OpenReadOnly(t.Context(), dir)
	must(t, err)
	if list, err := ro.Conversations(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
	must(t, ro.Close())
}

func TestRefusedFilesAreNotTouched(t *testing.T) {
	newer := func(t *testing.T, dir string) {
		s := open(t, dir)
		_, err := s.write.ExecContext(t.Context(), "PRAGMA user_version = 99")
		must(t, err)
		must(t, s.Close())
		s.lock = nil
	}
	other := func(t *testing.T, dir string) {
		newer(t, dir)
		s := &Store{path: filepath.Join(dir, File)}
		data, err := os.ReadFile(s.path)
		must(t, err)
		copy(data[68:72], "abcd") // the application id in the header
		must(t, os.WriteFile(s.path, data, 0o600))
	}
	earlier := func(t *testing.T, dir string) {
		newer(t, dir)
		path := filepath.Join(dir, File)
		data, err := os.ReadFile(path)
		must(t, err)
		copy(data[68:72], "Rook")
		must(t, os.WriteFile(path, data, 0o600))
	}
	text := func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, File), []byte("dear diary, today I wrote a chat program"), 0o600))
	}
	short := func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, File), []byte("SQL"), 0o600))
	}
	for name, c := range map[string]struct {
		make func(*testing.T, string)
		want string
	}{
		"earlier": {earlier, "is of an earlier rookery: write a bundle with that one"},
		"newer":   {newer, "newer rookery (schema 99"},
		"another": {other, "database of another program"},
		"text":    {text, "not a database"},
		"short":   {short, "not a database"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			before, err := os.ReadFile(filepath.Join(dir, File))
			must(t, err)
			s, err := Open(t.Context(), dir)
			if err == nil {
				_ = s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, c.want)
			}
			after, err := os.ReadFile(filepath.Join(dir, File))
			must(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestFlippedByteIsFound(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "x"), snapshot(20000)))
	must(t, s.Close())
	s.lock = nil
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	must(t, err)
	data[len(data)-2*pageSize+100] ^= 1 // in an overflow page of the state
	must(t, os.WriteFile(path, data, 0o600))
	s = open(t, dir)
	if _, err := s.Snapshot(t.Context(), 2); !errors.Is(err, ErrDamaged) {
		t.Errorf("the damaged state was read: %v", err)
	}
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) != 1 || problems[0].Lost {
		t.Errorf("got %v, %v", problems, err)
	}
	if _, turns, err := s.Load(t.Context(), 1); err != nil || len(turns) != 1 {
		t.Errorf("the rest is not usable: %v, %v", turns, err)
	}
}

func TestDamagedPageIsOneLine(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for id := range turn.ID(50) {
		must(t, s.SaveConversation(t.Context(), conversation(id+1)))
	}
	must(t, s.Close())
	s.lock = nil
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	must(t, err)
	for i := pageSize; i < len(data); i++ {
		data[i] ^= 0x5a
	}
	must(t, os.WriteFile(path, data, 0o600))
	s = open(t, dir)
	_, err = s.Conversations(t.Context())
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "sessions check") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "kept"), nil))
	_, err := s.write.ExecContext(t.Context(), "PRAGMA max_page_count = 1")
	must(t, err)
	err = s.CommitTurn(t.Context(), conversation(1), makeTurn(3, 2, "lost"), snapshot(1<<20))
	if !errors.Is(err, ErrFull) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v", err)
	}
	_, err = s.write.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000")
	must(t, err)
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(3, 2, "now"), snapshot(1<<10)))
	_, turns, err := s.Load(t.Context(), 1)
	if err != nil || len(turns) != 2 || turns[1].Text != "now" {
		t.Errorf("got %v, %v", turns, err)
	}
}

// TestJournalBesideSnapshots shows that reading goes on while large states are
// written, and that nothing deadlocks.
func TestJournalBesideSnapshots(t *testing.T) {
	s := open(t, t.TempDir())
	c := conversation(1)
	must(t, s.CommitTurn(t.Context(), c, makeTurn(2, 0, "x"), nil))
	must(t, s.BeginJournal(t.Context(), 1, makeTurn(1000, 2, "")))
	var group sync.WaitGroup
	group.Go(func() {
		for id := turn.ID(3); id < 9; id++ {
			check(t, s.CommitTurn(context.Background(), c, makeTurn(id, 2, "x"), snapshot(1<<19)))
		}
	})
	group.Go(func() {
		for i := range int32(50) {
			check(t, s.AppendJournal(context.Background(), 1000, []int32{i}, "y"))
		}
	})
	group.Go(func() {
		for range 50 {
			_, _, err := s.Load(context.Background(), 1)
			check(t, err)
		}
	})
	group.Wait()
	_, turns, err := s.Load(t.Context(), 1)
	j := newestJournal(t, s, 1)
	if err != nil || len(turns) != 7 || len(j.Tokens) != 50 {
		t.Errorf("got %d turns, %v, %v", len(turns), j, err)
	}
}

// newestJournal is the newest unfinished answer of a conversation, or nil.
func newestJournal(t *testing.T, s turn.Store, id turn.ID) *turn.Journal {
	t.Helper()
	all, err := s.Journals(t.Context(), id)
	must(t, err)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkCommit34MB(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	snap := snapshot(34 << 18)
	b.SetBytes(int64(4 * len(snap.State)))
	for n := turn.ID(2); b.Loop(); n++ {
		if err := s.CommitTurn(b.Context(), conversation(1), makeTurn(n, 0, "x"), snap); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
