package sessions

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rookery/chat/turn"
)

// everything is what a database says.
type everything struct {
	list   []turn.Conversation
	turns  map[turn.ID][]turn.Turn
	states map[turn.ID]*[]float32
}

// unsealed leaves out what a turn's checksum is not of.
var unsealed = cmpopts.IgnoreFields(turn.Turn{}, "Open", "Reason", "ModelName", "Base", "Adapter", "Label", "Pinned", "Edited", "Created", "Usage")

// readAll reads what can be read, and gives the errors of the rest.
func readAll(ctx context.Context, s *Store) (all everything, errs []error) {
	all = everything{turns: map[turn.ID][]turn.Turn{}, states: map[turn.ID]*[]float32{}}
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	var err error
	all.list, err = s.Conversations(ctx)
	note(err)
	for _, id := range []turn.ID{1000, 2000} {
		_, turns, err := s.Load(ctx, id)
		note(err)
		if err == nil {
			all.turns[id] = turns
		}
		for i := range turn.ID(6) {
			snap, err := s.Snapshot(ctx, id+i+1)
			note(err)
			if snap != nil {
				all.states[id+i+1] = &snap.State
			}
		}
	}
	_, err = s.Search(ctx, "nest", 50)
	note(err)
	_, err = s.Search(ctx, "高", 50)
	note(err)
	_, err = s.Layout(ctx)
	note(err)
	_, err = s.History(ctx)
	note(err)
	_, err = s.Costs(ctx)
	note(err)
	return all, errs
}

// TestFlippedBytes flips a byte anywhere in a database. Whatever it was: what
// is read is what was written, or it is refused or reported in one line, and
// nothing panics.
func TestFlippedBytes(t *testing.T) {
	origin := open(t, t.TempDir())
	fillFixture(t, origin)
	want, errs := readAll(t.Context(), origin)
	if len(errs) > 0 || len(want.list) != 2 || len(want.states) != 12 {
		t.Fatal(errs)
	}
	must(t, origin.Close())
	origin.lock = nil
	data, err := os.ReadFile(origin.path)
	must(t, err)
	flips := 120
	if testing.Short() {
		flips = 30
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range flips {
		at := r.IntN(len(data))
		for data[at] == 0 && r.IntN(8) > 0 { // most of a page is empty
			at = r.IntN(len(data))
		}
		bit := byte(1) << r.IntN(8)
		damaged := slices.Clone(data)
		damaged[at] ^= bit
		flip(t, damaged, want, at, bit)
	}
}

func flip(t *testing.T, data []byte, want everything, at int, bit byte) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	must(t, os.WriteFile(path, data, 0o600))
	reported := func(errs []error) {
		for _, err := range errs {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d bit %d: not one line: %q", at, bit, err)
			}
		}
	}
	s, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		reported([]error{err})
		return
	}
	got, errs := readAll(t.Context(), s)
	problems, err := s.Check(t.Context())
	if err != nil {
		errs = append(errs, err)
	}
	reported(errs)
	if len(errs) == 0 && len(problems) == 0 {
		if diff := cmp.Diff(want.turns, got.turns, unsealed); diff != "" {
			t.Errorf("byte %d bit %d: other turns, and nobody says so: %s", at, bit, diff)
		}
		for id, state := range got.states {
			if !slices.Equal(*want.states[id], *state) {
				t.Errorf("byte %d bit %d: another state of turn %d, and nobody says so", at, bit, id)
			}
		}
	}
	must(t, s.Close())
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(after, data) {
		t.Errorf("byte %d bit %d: reading has changed the file (%v)", at, bit, err)
	}
	// And as the program would use it.
	if s, err = Open(t.Context(), dir); err != nil {
		reported([]error{err})
		return
	}
	_, errs = readAll(t.Context(), s)
	errs = append(errs, s.CommitTurn(t.Context(), conversation(3000), makeTurn(3001, 0, "a new one"), snapshot(100)), s.retain(t.Context()), s.Close())
	reported(slices.DeleteFunc(errs, func(err error) bool { return err == nil }))
}

// Another program that holds the database is one line, and nothing is lost.
func TestLockedDatabase(t *testing.T) {
	s := open(t, t.TempDir())
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(2, 0, "kept"), nil))
	_, err := s.write.ExecContext(t.Context(), `PRAGMA busy_timeout = 50`)
	must(t, err)
	other, err := sql.Open("sqlite", dsn(s.path, "_txlock", "immediate"))
	must(t, err)
	tx, err := other.BeginTx(t.Context(), nil)
	must(t, err)
	err = s.CommitTurn(t.Context(), conversation(1), makeTurn(3, 2, "waits"), nil)
	if err == nil || !strings.Contains(err.Error(), "another program holds the database") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if _, turns, err := s.Load(t.Context(), 1); err != nil || len(turns) != 1 {
		t.Errorf("%d turns can be read, %v", len(turns), err)
	}
	must(t, errors.Join(tx.Rollback(), other.Close()))
	must(t, s.CommitTurn(t.Context(), conversation(1), makeTurn(3, 2, "waits"), nil))
}
