package sessions

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/chat/compare"
	"rookery/chat/turn"
	"rookery/infer/statefile"
)

// waitForIndex waits until all turns can be found.
func waitForIndex(t *testing.T, s *Store) {
	t.Helper()
	for end := time.Now().Add(tolerance); ; time.Sleep(5 * time.Millisecond) {
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

// TestReleasedSchemas opens what earlier programs wrote, and this one.
func TestReleasedSchemas(t *testing.T) {
	names, err := filepath.Glob("testdata/schema*.db.gz")
	scripts, serr := migrations()
	if err != nil || serr != nil || len(names) != len(scripts) {
		t.Fatalf("there are %d schemas, and databases of %v (%v, %v): testdata/README.md says how one is made", len(scripts), names, err, serr)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := unpack(t, name)
			if want := fmt.Sprintf("schema%d.db.gz", schemaOf(t, dir)); filepath.Base(name) != want {
				t.Fatalf("it is %s", want)
			}
			s := open(t, dir)
			waitForIndex(t, s)
			checkFixture(t, s)
			checkLibrary(t, s)
			done, err := s.Compact(t.Context())
			must(t, err)
			if done.Before == 0 || done.After == 0 {
				t.Errorf("compacted: %+v", done)
			}
			checkFixture(t, s)
			s = reopen(t, s)
			checkFixture(t, s)
			checkLibrary(t, s)
			must(t, s.CommitTurn(t.Context(), conversation(3000), makeTurn(3001, 0, "a new one"), snapshot(100)))
		})
	}
}

// An update is done step by step, and what has failed is done the next time.
func TestMigrate(t *testing.T) {
	scripts, err := migrations()
	must(t, err)
	s := open(t, t.TempDir())
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "kept"), nil))
	steps := append(scripts,
		`ALTER TABLE turns ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'`,
		`UPDATE turns SET mood = 'better'; UPDATE turns SET nothing = 1`)
	if err := migrate(t.Context(), s.write, s.path, steps); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("schema %d", len(steps))) {
		t.Errorf("a step that fails: %v", err)
	}
	look := func() (version int, mood string) {
		must(t, s.write.QueryRowContext(t.Context(), `SELECT user_version, mood FROM pragma_user_version, turns WHERE id = 2`).Scan(&version, &mood))
		return version, mood
	}
	if version, mood := look(); version != len(steps)-1 || mood != "good" {
		t.Errorf("after a step that failed it is schema %d, and %s", version, mood)
	}
	steps[len(steps)-1] = `UPDATE turns SET mood = 'better'`
	must(t, migrate(t.Context(), s.write, s.path, steps))
	must(t, migrate(t.Context(), s.write, s.path, steps)) // nothing is left to do
	if version, mood := look(); version != len(steps) || mood != "better" {
		t.Errorf("after it was mended it is schema %d, and %s", version, mood)
	}
	if _, turns, err := s.Load(t.Context(), 1); err != nil || len(turns) != 1 || turns[0].Text != "kept" {
		t.Errorf("there are %+v, %v", turns, err)
	}
	if err := migrate(t.Context(), s.write, s.path, scripts); err == nil || !strings.Contains(err.Error(), "newer rookery") {
		t.Errorf("an older program: %v", err)
	}
}

// schemaOf is the version of a database that nobody has opened yet.
func schemaOf(t *testing.T, dir string) (version int) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, File), "mode", "ro"))
	must(t, err)
	defer func() { check(t, db.Close()) }()
	must(t, db.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&version))
	return version
}

// checkLibrary checks what a fixture has beside conversations.
func checkLibrary(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	c, turns, err := s.Load(ctx, 2000)
	must(t, err)
	j := newestJournal(t, s, 2000)
	if c.Base != fixtureBook || c.Adapter != "fingerprint" || !reflect.DeepEqual(c.Mix, fixtureMix()) {
		t.Errorf("the conversation has base %d, adapter %q, mix %v", c.Base, c.Adapter, c.Mix)
	}
	if last := turns[5]; last.Base != "book" || last.Adapter != "poet" || !reflect.DeepEqual(last.Mix, fixtureMix()) {
		t.Errorf("the turn has base %q, adapter %q, mix %v", last.Base, last.Adapter, last.Mix)
	}
	book, err := s.State(ctx, fixtureBook)
	must(t, err)
	if book.Name != "book" || book.Kind != statefile.Baked || !slices.Equal(book.Tokens, []int32{7, 8, 9}) || !slices.Equal(book.Snapshot.State, fixtureState(7)) {
		t.Errorf("the state is %+v", book)
	}
	const mark, name = "fingerprint", "poet"
	snap, err := s.Snapshot(ctx, turns[5].ID)
	must(t, err)
	if turns[5].AdapterID != mark || turns[0].AdapterID != "" || snap.Adapter != mark || book.Adapter != mark || book.AdapterName != name || book.Snapshot.Adapter != mark ||
		j.Turn.AdapterID != mark || j.Turn.Adapter != name || !j.Turn.Mix.Active() || !j.Turn.Edited {
		t.Errorf("the adapters of turn, state and unfinished answer are %q, %q %q, %q (%+v)", turns[5].AdapterID, book.Adapter, book.AdapterName, snap.Adapter, j.Turn)
	}
	if read := fixtureHistory(); !reflect.DeepEqual(turns[5].History, read) || !reflect.DeepEqual(j.Turn.History, read) || !reflect.DeepEqual(turns[0].History, turn.History{}) {
		t.Errorf("the turns have read %+v, %+v and %+v", turns[5].History, j.Turn.History, turns[0].History)
	}
	known, err := s.Adapters(ctx)
	must(t, err)
	if len(known) != 1 || known[0].Name != "poet" || known[0].Fingerprint != "fingerprint" || known[0].Options.Strength != 0.5 {
		t.Errorf("the adapters are %+v", known)
	}
	saved, err := s.Mixes(ctx)
	must(t, err)
	if len(saved) != 1 || saved[0].Name != "dark" || !reflect.DeepEqual(saved[0].Mix, fixtureMix()) {
		t.Errorf("the mixes are %+v", saved)
	}
	cast, err := s.Votes(ctx)
	must(t, err)
	if len(cast) != 1 || cast[0].Winner != 1 || len(cast[0].Variants) != 2 || cast[0].Prompt != compare.HashPrompt("a prompt") {
		t.Errorf("the votes are %+v", cast)
	}
}

func checkFixture(t *testing.T, s *Store) {
	t.Helper()
	list, err := s.Conversations(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].ID != 2000 || list[0].Head != 2006 || list[1].Title != "conversation 1 乌鸦" {
		t.Errorf("got %+v", list)
	}
	for id, journaled := range map[turn.ID]bool{1000: false, 2000: true} {
		_, turns, err := s.Load(t.Context(), id)
		must(t, err)
		j := newestJournal(t, s, id)
		if len(turns) != 6 || turns[5].Parent != id+3 || !slices.Equal(turns[4].Tokens, []int32{5, 2, 3}) || (j != nil) != journaled {
			t.Errorf("conversation %d: %+v, %v", id, turns, j)
		}
		if journaled && (j.Text != "half an answer" || !slices.Equal(j.Tokens, []int32{5, 6})) {
			t.Errorf("the journal is %+v", j)
		}
		for i := 1; i <= 6; i++ {
			snap, err := s.Snapshot(t.Context(), id+turn.ID(i))
			if err != nil || snap == nil || !slices.Equal(snap.State, fixtureState(i)) || snap.Position != 3*i {
				t.Errorf("turn %d: %+v, %v", id+turn.ID(i), snap, err)
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
