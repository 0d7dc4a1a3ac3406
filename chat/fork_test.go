package chat_test

import (
	"slices"
	"sync"
	"testing"

	"rookery/chat"
	"rookery/chat/turn"
)

// A fork has the line up to its turn and the states of it: nothing is read.
func TestForkReadsNothing(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, setup{store: open()})
			d := r.workspace.New()
			ask(t, d, "hello")
			must(t, d.SetLabel(d.View().Turns[1].ID, "a name"))
			v := ask(t, d, "again")
			settled(t, d)
			r.close()

			// After a restart no state is in memory.
			r = newRoom(t, setup{store: open()})
			d = r.workspace.Open(d.ID())
			settled(t, d)
			forks, err := r.workspace.Fork(d, v.Turns[1].ID, 3)
			must(t, err)
			var ids []turn.ID
			for i, f := range forks {
				w := settled(t, f)
				shows(t, w, []string{"hello", helloAnswer}, nil)
				if w.Turns[0].ID == v.Turns[0].ID || w.Turns[1].Label != "a name" || w.Conversation.Title != []string{"hello (2)", "hello (3)", "hello (4)"}[i] {
					t.Errorf("fork %d is %q with %+v", i, w.Conversation.Title, w.Turns[1])
				}
				ids = append(ids, f.ID())
			}
			if r.fed() != 0 {
				t.Errorf("forking read %d tokens", r.fed())
			}
			w := ask(t, forks[1], "again")
			if n := r.fed(); n > len(w.Turns[2].Tokens)+1 {
				t.Errorf("the fork's prompt has %d tokens and %d were read", len(w.Turns[2].Tokens), n)
			}
			r.checkStates(w, 4)
			shows(t, forks[0].View(), []string{"hello", helloAnswer}, nil)
			shows(t, d.View(), []string{"hello", helloAnswer, "again", againAnswer}, nil)
			r.close()

			r = newRoom(t, setup{store: open()})
			for i, id := range ids {
				w := settled(t, r.workspace.Open(id))
				if want := []int{2, 4, 2}[i]; len(w.Turns) != want {
					t.Errorf("fork %d has %d turns after a restart, want %d", i, len(w.Turns), want)
				}
				r.checkStates(w, len(w.Turns))
			}
		})
	}
}

// A fork of a fork that is not stored yet, of an answer that is not stored yet.
func TestForkBeforeAnythingIsSaved(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	v := ask(t, d, "hello")
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release) // before the room is closed, which waits for the write
	r.store.set(func(string) error { <-hold; return nil })
	must(t, d.SetTitle("A title (9)"))
	one, err := r.workspace.Fork(d, last(v).ID, 1)
	must(t, err)
	two, err := r.workspace.Fork(one[0], one[0].View().Turns[1].ID, 1)
	must(t, err)
	if got := two[0].View().Conversation.Title; got != "A title (11)" {
		t.Errorf("the fork is called %q", got)
	}
	read := r.fed()
	must(t, two[0].Retry())
	until(t, two[0], "the retry", func(v chat.View) bool { return v.Live == nil })
	if r.fed() != read {
		t.Errorf("the retry read %d tokens", r.fed()-read)
	}
	release()
	r.store.set(nil)
	r.checkStates(settled(t, two[0]), 2)
	r.checkStates(settled(t, one[0]), 2)
}

// A fork is a copy of what it was made of until something is done with it.
func TestForkIsACopyUntilItGoesOn(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	v := ask(t, d, "hello")
	forks, err := r.workspace.Fork(d, last(v).ID, 3)
	must(t, err)
	again, err := r.workspace.Fork(forks[2], last(forks[2].View()).ID, 1)
	must(t, err)
	ask(t, forks[0], "something else")
	must(t, forks[1].SetTitle("mine"))
	for i, want := range []turn.ID{0, 0, d.ID(), d.ID()} {
		f := append(forks, again...)[i]
		if got := settled(t, f).Conversation.CopyOf; got != want {
			t.Errorf("fork %d is a copy of %d, want %d", i, got, want)
		}
		c, _, err := r.store.Load(t.Context(), f.ID())
		if err != nil || c.CopyOf != want {
			t.Errorf("stored: fork %d is a copy of %d, want %d (%v)", i, c.CopyOf, want, err)
		}
	}
}

func TestForkRefusals(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	if _, err := r.workspace.Fork(d, 0, 1); err == nil {
		t.Error("nothing was forked")
	}
	v := ask(t, d, "hello")
	for _, n := range []int{0, -1, chat.MaxForks + 1} {
		if _, err := r.workspace.Fork(d, last(v).ID, n); err == nil {
			t.Errorf("%d forks", n)
		}
	}
	if _, err := r.workspace.Fork(d, 12, 1); err == nil {
		t.Error("a turn that is not there was forked")
	}
	list, err := r.workspace.List(t.Context())
	must(t, err)
	if !slices.ContainsFunc(list, func(c turn.Conversation) bool { return c.ID == d.ID() }) || len(list) != 1 {
		t.Errorf("stored are %v", list)
	}
}

// A copy gets the state of what it is a copy of, and none of what that has become.
func TestCopiesGetNoLaterStates(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, setup{store: open()})
			d := r.workspace.New()
			v := ask(t, d, "hello")
			c, copied := v.Conversation, slices.Clone(v.Turns)
			of := []turn.ID{copied[0].ID, copied[1].ID}
			c.ID, c.Head, c.Tip = turn.NewID(), 0, 0
			for i := range copied {
				copied[i].ID, copied[i].Parent = turn.NewID(), c.Tip
				c.Head, c.Tip = copied[i].ID, copied[i].ID
			}
			copied[0].History = turn.History{}
			copied[1].Tokens = copied[1].Tokens[:2]
			must(t, r.store.CopyTurns(t.Context(), c, copied, of))
			for i, tn := range copied {
				if s, err := r.store.Snapshot(t.Context(), tn.ID); s != nil || err != nil {
					t.Errorf("the copy of turn %d has the state of another one (%v)", i, err)
				}
			}
		})
	}
}
