package sessions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rookery/chat/turn"
)

// A byte that a disk has flipped in one conversation's settings costs these, and
// neither the list nor the text; the check finds it and repairing mends it.
func TestDamagedSettings(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	fillFixture(t, s)
	want, errs := readAll(ctx, s)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, damage := range []struct{ change, says string }{
		{`UPDATE conversations SET sampling = '{"temperature":1' WHERE id = 1000`, "the settings of conversation 1000"},
		{`UPDATE conversations SET mix = '{,' WHERE id = 2000`, "the settings of conversation 2000"},
		{`UPDATE turns SET usage = '{' WHERE id = 1001`, "how long turn 1001 took"},
		{`UPDATE turns SET sampling = '{' WHERE id = 1002`, "turn 1002 is not as it was written"},
		{`UPDATE turns SET history = '{' WHERE id = 1003`, "turn 1003 is not as it was written"},
		{`UPDATE mixes SET mix = '{'`, "the saved mix dark"},
		{`UPDATE adapters SET options = '{'`, "how the adapter poet is used"},
		{`UPDATE votes SET variants = '{'`, "vote 1"},
		{`UPDATE states SET shape = '{' WHERE id = 5000`, `the state book of the library`},
		{`UPDATE contents SET data = zeroblob(9) WHERE id = (SELECT content FROM states WHERE id = 5000)`, "this is not a snapshot"},
	} {
		_, err := s.write.ExecContext(ctx, damage.change)
		must(t, err)
		got, errs := readAll(ctx, s)
		if len(errs) > 0 || len(got.list) != len(want.list) || len(got.turns[1000]) != len(want.turns[1000]) || got.turns[1000][1].Text != want.turns[1000][1].Text {
			t.Fatalf("%s: %v, %d conversations", damage.change, errs, len(got.list))
		}
		for _, list := range []func() error{
			func() error { _, err := s.States(ctx); return err },
			func() error { _, err := s.Mixes(ctx); return err },
			func() error { _, err := s.Adapters(ctx); return err },
			func() error { _, err := s.Votes(ctx); return err },
		} {
			must(t, list())
		}
		problems, err := s.Check(ctx)
		must(t, err)
		if !finds(problems, damage.says) {
			t.Errorf("%s: the check says %v", damage.change, problems)
		}
	}
	done, err := s.Repair(ctx)
	must(t, err)
	problems, err := s.Check(ctx)
	if err != nil || len(done) != 2 || finds(problems, "the settings of") {
		t.Errorf("repaired %q, and the check says %v, %v", done, problems, err)
	}
}

func finds(problems []Problem, what string) bool {
	for _, p := range problems {
		if strings.Contains(p.What, what) {
			return true
		}
	}
	return false
}

// Repairing removes what is made anew, and nothing else.
func TestRepair(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	fillFixture(t, s)
	before, errs := readAll(ctx, s)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, damage := range []string{
		`UPDATE contents SET data = zeroblob(100) WHERE id = (SELECT content FROM snapshots WHERE turn = 1001)`,
		`UPDATE snapshots SET bytes = 7 WHERE turn = 1002`,
		`DELETE FROM search WHERE rowid = 1003`,
		`UPDATE conversations SET head = 77 WHERE id = 2000`,
	} {
		_, err := s.write.ExecContext(ctx, damage)
		must(t, err)
	}
	done, err := s.Repair(ctx)
	must(t, err)
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 || len(done) != 3 {
		t.Errorf("repaired %q, and the check says %v, %v", done, problems, err)
	}
	after, errs := readAll(ctx, s)
	if diff := cmp.Diff(before.turns, after.turns); diff != "" || len(errs) > 0 {
		t.Error(errs, diff)
	}
	if len(after.states) != len(before.states)-3 { // two turns have the one
		t.Errorf("%d states of %d are left", len(after.states), len(before.states))
	}
}

// Turns whose ids are smaller than their parents', as clocks that were set back
// have made them, are in order and thinned as others; a circle is found.
func TestOrderIsByParent(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	c := conversation(1)
	parent, line := turn.ID(0), []turn.ID{900, 800, 950, 100, 700, 300}
	for _, id := range line {
		must(t, s.CommitTurn(ctx, c, makeTurn(id, parent, "text"), snapshot(100)))
		parent = id
	}
	_, turns, err := s.Load(ctx, 1)
	must(t, err)
	for i, tn := range turns {
		if tn.ID != line[i] {
			t.Errorf("turn %d is %d, want %d", i, tn.ID, line[i])
		}
	}
	kept, _, _, err := s.kept(ctx, 1)
	if err != nil || len(kept) != len(line) || kept[1].ID != line[1] {
		t.Errorf("thinned as %v, %v", kept, err)
	}
	problems, err := s.Check(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("the check says %v, %v", problems, err)
	}
	_, err = s.write.ExecContext(ctx, `UPDATE turns SET parent = 300 WHERE id = 900`)
	must(t, err)
	if problems, err = s.Check(ctx); err != nil || !finds(problems, "a turn is above itself") {
		t.Errorf("the check of a circle says %v, %v", problems, err)
	}
}
