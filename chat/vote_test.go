package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/compare"
	"rookery/chat/memstore"
	"rookery/chat/turn"
)

// heats are variants by their temperature.
func heats(temperatures ...float32) []chat.Variant {
	var vs []chat.Variant
	for _, h := range temperatures {
		p := seeded(h, 0)
		p.Ban = []int32{0}
		vs = append(vs, chat.Variant{Name: "warm", Sampling: *p})
	}
	return vs
}

// Votes outlive the program; variants that differ in seed and name alone are
// the same ones.
func TestVotesOverRestarts(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for night := range 2 {
				r := newRoom(t, setup{store: open(), babble: true, defaults: answersOf(9)})
				d := r.workspace.New()
				if err := d.Vote(0); err == nil {
					t.Error("a vote on nothing")
				}
				vs := heats(1, 1.5)
				vs[0].Name, vs[0].Sampling.Seed = "renamed", uint64(night)
				must(t, d.SendCompare("anything", vs))
				v := finished(t, d)
				if night == 0 {
					must(t, d.Vote(v.Alternatives[1].Turn.ID))
				} else {
					must(t, d.Vote(0))
				}
				if err := d.Vote(0); !errors.Is(err, chat.ErrVoted) {
					t.Errorf("a second vote: %v", err)
				}
				settled(t, d)
				r.close()
			}
			r := newRoom(t, setup{store: open()})
			votes, err := r.workspace.Votes(t.Context())
			must(t, err)
			if len(votes) != 2 || votes[0].Winner != 1 || votes[1].Winner != turn.Tie || votes[0].Prompt != compare.HashPrompt(" anything\n") || votes[0].Created.IsZero() {
				t.Fatalf("the votes are %+v", votes)
			}
			table := compare.CountWins(votes)
			if len(table.Standings) != 2 || table.Standings[0].Wins != 1 || table.Standings[0].Ties != 1 || !strings.Contains(table.Standings[0].Variant.Title(), "temperature 1.5") {
				t.Errorf("the table is %+v", table)
			}
		})
	}
}

// Who votes and looks at the votes finds the own one among them, though it is
// saved after the answers; one that cannot be saved holds up nobody.
func TestVotesHaveTheLastOne(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	d := r.workspace.New()
	must(t, d.SendCompare("anything", heats(1, 1.5)))
	v := finished(t, d)
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release) // before the room is closed, which waits for the write
	r.store.set(func(string) error { <-hold; return nil })
	must(t, d.Vote(v.Alternatives[0].Turn.ID))
	time.AfterFunc(5*time.Millisecond, release)
	if votes, err := r.workspace.Votes(t.Context()); err != nil || len(votes) != 1 {
		t.Errorf("%d votes, %v", len(votes), err)
	}

	must(t, d.SendCompare("anything", heats(1, 1.5)))
	v = finished(t, d)
	r.store.set(func(string) error { return errors.New("the disk is full") })
	must(t, d.Vote(v.Alternatives[0].Turn.ID))
	if votes, err := r.workspace.Votes(t.Context()); err != nil || len(votes) != 1 {
		t.Errorf("on a full disk %d votes, %v", len(votes), err)
	}
	r.store.set(nil)
	settled(t, d)
	if votes, err := r.workspace.Votes(t.Context()); err != nil || len(votes) != 2 {
		t.Errorf("at the end %d votes, %v", len(votes), err)
	}
}

// What is set for the conversation while variants run is not for them; the one
// that is kept gives the conversation its way, and follows it from there.
func TestVariantsStayWhatTheyAre(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(600)})
	r.gate.shut()
	d := r.workspace.New()
	must(t, d.SendCompare("anything", heats(0.7, 1, 1.3)))
	v := until(t, d, "text in all rows", func(v chat.View) bool {
		r.gate.trickle()
		return len(v.Alternatives) == 3 && !slices.ContainsFunc(v.Alternatives, func(r chat.Alternative) bool { return r.Text == "" })
	})
	must(t, d.SetSampling(*seeded(9, 3), "hot"))
	for i, want := range []float32{0.7, 1, 1.3} {
		if row := v.Alternatives[i]; row.Turn.Sampling.Temperature != want || row.Turn.Sampling.Seed != v.Alternatives[0].Turn.Sampling.Seed || row.Ended {
			t.Errorf("row %d is drawn with %+v", i, row.Turn.Sampling)
		}
	}
	must(t, d.ChooseAlternatives([]turn.ID{v.Alternatives[1].Turn.ID}, true))
	if c := d.View().Conversation; c.Sampling.Temperature != 1 || c.Sampling.Seed != 3 || c.Preset != "" {
		t.Errorf("the conversation draws with %+v, preset %q", c.Sampling, c.Preset)
	}
	warm := heats(2)[0].Sampling
	must(t, d.SetSampling(warm, "warm"))
	r.gate.open()
	v = finished(t, d)
	if tn := last(v); len(tn.Tokens) != 600 || tn.Sampling.Temperature != 2 || v.Siblings[1].Of != 1 {
		t.Errorf("kept are %d tokens, drawn with %+v, of %+v", len(tn.Tokens), tn.Sampling, v.Siblings[1])
	}
	r.checkStates(v, 2)
}

func TestCompareRefusals(t *testing.T) {
	r := newRoom(t, setup{babble: true, defaults: answersOf(9)})
	d := r.workspace.New()
	if err := d.Compare(heats(1, 1)); !errors.Is(err, chat.ErrNothing) {
		t.Errorf("without a prompt: %v", err)
	}
	nine := heats(1, 1, 1, 1, 1, 1, 1, 1, 1)
	unknown := heats(1, 1)
	unknown[1].Adapter.Name = "nobody's"
	for what, vs := range map[string][]chat.Variant{"not 1": nine[:1], "not 9": nine, "temperature": heats(1, -1), "nobody's": unknown} {
		if err := d.SendCompare("anything", vs); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if v := d.View(); len(v.Turns) > 0 {
		t.Errorf("a refused comparison left %q", texts(v))
	}
	// A state that cannot be read ends its row with the reason, and no other.
	vs := heats(1, 1)
	vs[1].Base.ID, vs[1].Base.Name = 999999, "gone"
	must(t, d.SendCompare("anything", vs))
	v := finished(t, d)
	if len(v.Alternatives) != 1 || v.Err == nil || len(last(v).Tokens) != 9 {
		t.Errorf("%d rows, %v", len(v.Alternatives), v.Err)
	}
	if _, err := r.workspace.ForkAlternatives(d); err != nil {
		t.Error(err)
	}
	must(t, d.ChooseAlternatives(nil, false))
	if _, err := r.workspace.ForkAlternatives(d); err == nil {
		t.Error("a choice that is over was forked")
	}
}

// A killed program's variants are all there again, each with what it had.
func TestCompareSurvivesACrash(t *testing.T) {
	store := memstore.New()
	r := newRoom(t, setup{store: store, babble: true, defaults: answersOf(1000)})
	r.gate.shut()
	d := r.workspace.New()
	must(t, d.SendCompare("anything", heats(0.9, 1.1, 1.4)))
	var all []turn.Journal
	until(t, d, "three journals", func(chat.View) bool {
		r.gate.trickle()
		var err error
		all, err = r.store.Journals(context.Background(), d.ID())
		return err == nil && len(all) == 3 && !slices.ContainsFunc(all, func(j turn.Journal) bool { return len(j.Text) < 4 })
	})
	r.kill()
	r = newRoom(t, setup{store: store, babble: true, defaults: answersOf(10)})
	d = r.workspace.Open(d.ID())
	v := settled(t, d)
	if len(v.Turns) != 2 || v.Siblings[1].Of != 3 || !last(v).Open {
		t.Fatalf("after the crash %d turns, %+v", len(v.Turns), v.Siblings)
	}
	var temperatures []float32
	for range 3 {
		temperatures = append(temperatures, last(d.View()).Sampling.Temperature)
		must(t, d.SwitchSibling(last(d.View()).ID, -1))
	}
	slices.Sort(temperatures)
	if !slices.Equal(temperatures, []float32{0.9, 1.1, 1.4}) {
		t.Errorf("they were drawn with %v", temperatures)
	}
}
