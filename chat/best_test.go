package chat_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/sessions"
)

// answersOf are settings for answers of exactly so many tokens.
func answersOf(tokens int) chat.Defaults {
	p := seeded(1.3, 100)
	p.Ban = []int32{0}
	return chat.Defaults{Sampling: p, MaxTokens: tokens, Stops: []string{"@@@@"}}
}

// finished waits until all rows of a choice have ended.
func finished(t *testing.T, d *chat.Dialogue) chat.View {
	t.Helper()
	return until(t, d, "all rows", func(v chat.View) bool { return v.Live == nil && v.Saved && !v.Loading })
}

// The prompt is read once, whatever the number of answers; each answer is the
// one that its seed gives alone.
func TestBestReadsThePromptOnce(t *testing.T) {
	alone := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	one := alone.workspace.New()
	must(t, one.Send("anything"))
	want := []string{last(settled(t, one)).Text}
	read := alone.fed()
	for range 3 {
		must(t, one.Retry())
		want = append(want, last(settled(t, one)).Text)
	}

	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	d := r.workspace.New()
	must(t, d.SendBest("anything", 4))
	v := finished(t, d)
	if r.fed() != read {
		t.Errorf("%d tokens were read, %d by one answer", r.fed(), read)
	}
	var got []string
	for i, row := range v.Alternatives {
		got = append(got, row.Text)
		if !row.Ended || row.Reason != infer.ReasonLength || !row.Open || row.Turn.Sampling.Seed != 100+uint64(i) {
			t.Errorf("row %d is %+v", i, row)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are %q, alone %q", got, want)
	}
	if v.Siblings[1] != (chat.Siblings{N: 1, Of: 4}) || last(v).Text != want[0] {
		t.Errorf("without a choice %+v is shown: %q", v.Siblings[1], last(v).Text)
	}
	r.checkStates(v, 2)

	must(t, d.ChooseAlternatives([]turn.ID{v.Alternatives[2].Turn.ID, v.Alternatives[0].Turn.ID}, true))
	kept := settled(t, d)
	if last(kept).Text != want[2] || kept.Siblings[1] != (chat.Siblings{N: 2, Of: 2}) || kept.Alternatives != nil {
		t.Errorf("kept is %q as %+v", last(kept).Text, kept.Siblings[1])
	}
	_, turns, err := r.store.Load(t.Context(), d.ID())
	must(t, err)
	if len(turns) != 3 {
		t.Errorf("%d turns are stored, want the prompt and two answers", len(turns))
	}
	if err := d.ChooseAlternatives(nil, false); err == nil {
		t.Error("a choice was made twice")
	}
	must(t, d.Continue()) // is a dialogue like any other
	r.checkStates(settled(t, d), 2)
}

// Rows run together: one step serves all of them.
func TestBestRowsShareSteps(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(20)})
	d := r.workspace.New()
	ask(t, d, "anything")
	before := r.engine.Stats().Steps
	must(t, d.Best(8))
	finished(t, d)
	if steps := r.engine.Stats().Steps - before; steps > 3*20 {
		t.Errorf("8 answers of 20 tokens took %d steps", steps)
	}
}

func TestBestStopped(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(1000)})
	r.gate.shut()
	d := r.workspace.New()
	must(t, d.SendBest("anything", 3))
	until(t, d, "text in all rows", func(v chat.View) bool {
		r.gate.trickle()
		return len(v.Alternatives) == 3 && !slices.ContainsFunc(v.Alternatives, func(r chat.Alternative) bool { return len(r.Text) < 3 })
	})
	if err := d.Send("more"); !errors.Is(err, chat.ErrBusy) {
		t.Errorf("send while the rows run: %v", err)
	}
	d.Stop()
	r.gate.open()
	v := finished(t, d)
	if len(v.Alternatives) != 3 || v.Siblings[1].Of != 3 || !last(v).Open {
		t.Errorf("after the stop there are %d rows, %+v", len(v.Alternatives), v.Siblings[1])
	}
	r.checkStates(v, 2)
	r.gate.shut()
	must(t, d.Retry()) // without a choice all are kept
	until(t, d, "the retry", func(v chat.View) bool { return v.Live != nil && v.Alternatives == nil })
	d.Stop()
	r.gate.open()
	if v = settled(t, d); v.Siblings[1].Of < 3 {
		t.Errorf("then %+v", v.Siblings[1])
	}
}

// One row is chosen while all run: it goes on, the others end.
func TestKeepARunningRow(t *testing.T) {
	for _, drop := range []bool{true, false} {
		t.Run(fmt.Sprint(drop), func(t *testing.T) {
			r := newRoom(t, setup{babble: true, defaults: answersOf(600)})
			r.gate.shut()
			d := r.workspace.New()
			must(t, d.SendBest("anything", 4))
			v := until(t, d, "text in all rows", func(v chat.View) bool {
				r.gate.trickle()
				return len(v.Alternatives) == 4 && !slices.ContainsFunc(v.Alternatives, func(r chat.Alternative) bool { return r.Text == "" })
			})
			chosen := v.Alternatives[2].Turn.ID
			must(t, d.ChooseAlternatives([]turn.ID{chosen}, drop))
			if v := d.View(); v.Alternatives != nil || v.Live == nil || v.Live.Turn.ID != chosen {
				t.Errorf("after the choice %v runs among %d", v.Live, len(v.Alternatives))
			}
			r.gate.open()
			v = finished(t, d)
			of := 4
			if drop {
				of = 1
			}
			if last(v).ID != chosen || len(last(v).Tokens) != 600 || v.Siblings[1].Of != of {
				t.Errorf("kept is %d of %+v with %d tokens", last(v).ID, v.Siblings[1], len(last(v).Tokens))
			}
			_, turns, err := r.store.Load(t.Context(), d.ID())
			must(t, err)
			j := newestJournal(t, r.store, d.ID())
			if len(turns) != 1+of || j != nil {
				t.Errorf("%d turns are stored, a journal %v", len(turns), j)
			}
			r.checkStates(v, 2)
		})
	}
}

// Nothing is kept: everything is as it was before.
func TestKeepNothing(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(7)})
	d := r.workspace.New()
	ask(t, d, "one")
	v := ask(t, d, "two")
	must(t, d.Undo())
	must(t, d.Best(3))
	finished(t, d)
	must(t, d.ChooseAlternatives(nil, true))
	w := settled(t, d)
	shows(t, w, texts(v)[:2], texts(v)[2:])
	if w.Siblings[1].Of != 1 {
		t.Errorf("the first answer is version %+v", w.Siblings[1])
	}
	for _, n := range []int{0, 1, chat.MaxBest + 1} {
		if err := d.Best(n); err == nil {
			t.Errorf("the best of %d", n)
		}
	}
}

// A killed program's rows are all there again, each with what it had.
func TestBestSurvivesACrash(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, setup{store: open(), babble: true, defaults: answersOf(1000)})
			r.gate.shut()
			d := r.workspace.New()
			must(t, d.SendBest("anything", 3))
			var all []turn.Journal
			until(t, d, "three journals", func(chat.View) bool {
				r.gate.trickle()
				var err error
				all, err = r.store.Journals(context.Background(), d.ID())
				if err != nil {
					return false
				}
				return len(all) == 3 && !slices.ContainsFunc(all, func(j turn.Journal) bool { return len(j.Text) < 4 })
			})
			r.kill()
			inner := r.store.Store
			if s, ok := inner.(*sessions.Store); ok {
				must(t, s.Close()) // gives up its lock, as a dead process does
				inner = open()
			}
			r = newRoom(t, setup{store: inner, babble: true, defaults: answersOf(10)})
			d = r.workspace.Open(d.ID())
			v := settled(t, d)
			if len(v.Turns) != 2 || v.Siblings[1].Of != 3 || !last(v).Open {
				t.Fatalf("after the crash %d turns, %+v", len(v.Turns), v.Siblings)
			}
			for i := range 3 {
				must(t, d.SwitchSibling(last(d.View()).ID, -3))
				must(t, d.SwitchSibling(last(d.View()).ID, i))
				if got := last(d.View()).Text; len(got) < len(all[i].Text) {
					t.Errorf("row %d has %q of %q", i, got, all[i].Text)
				}
			}
			must(t, d.Continue())
			r.checkStates(settled(t, d), -1)
			if left, err := r.store.Journals(t.Context(), d.ID()); err != nil || len(left) != 0 {
				t.Errorf("journals are left: %v, %v", left, err)
			}
		})
	}
}
