package chat_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"rookery/chat"
	"rookery/chat/memstore"
	"rookery/chat/save"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

func (s *trouble) SnapshotReading(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int, error) {
	s.mu.Lock()
	swap := s.swap
	s.mu.Unlock()
	snap, at, err := s.Store.(interface {
		SnapshotReading(context.Context, []infer.Prefix) (*infer.Snapshot, int, error)
	}).SnapshotReading(ctx, prefixes)
	if swap != nil && err == nil {
		snap, err = swap(snap)
	}
	return snap, at, err
}

// babbling is a room whose model draws from its state at random.
func babbling(t *testing.T, store *memstore.Store, model *infer.Model, system string) *room {
	t.Helper()
	return newRoom(t, setup{
		store: store, model: model, babble: true,
		defaults: chat.Defaults{System: system, MaxTokens: 12, Sampling: &sampler.Params{Temperature: 1, TopP: 1, Seed: 5}},
	})
}

func tokensOf(v chat.View) (all [][]int32) {
	for _, t := range v.Turns {
		all = append(all, t.Tokens)
	}
	return all
}

func TestPrefixReuse(t *testing.T) {
	same := func(a, b [][]int32) bool { return slices.EqualFunc(a, b, slices.Equal) }
	for _, memory := range []int64{save.DefaultMemory, 0} {
		store := memstore.New()
		r := babbling(t, store, nil, "")
		r.workspace.SetMemory(memory)
		first := ask(t, r.workspace.New(), "how is it")
		before := r.fed()
		again := r.workspace.New()
		v := ask(t, again, "how is it")
		if got := r.fed() - before; got != 0 {
			t.Errorf("memory %d: the same beginning was read again: %d tokens", memory, got)
		}
		if !same(tokensOf(first), tokensOf(v)) {
			t.Errorf("memory %d: it goes on differently: %v and %v", memory, tokensOf(first), tokensOf(v))
		}
		r.checkStates(v, 2)
		next := ask(t, again, "and now")
		fresh := babbling(t, memstore.New(), nil, "")
		d := fresh.workspace.New()
		ask(t, d, "how is it")
		if want := ask(t, d, "and now"); !same(tokensOf(want), tokensOf(next)) {
			t.Errorf("memory %d: later turns differ from those of a conversation that read everything", memory)
		}

		// After a restart it comes from the store.
		restarted := babbling(t, store, nil, "")
		if w := ask(t, restarted.workspace.New(), "how is it"); restarted.fed() != 0 || !same(tokensOf(first), tokensOf(w)) {
			t.Errorf("memory %d: after a restart %d tokens were read", memory, restarted.fed())
		}
	}
}

func TestNoReuseOfWhatIsNotTheSame(t *testing.T) {
	store := memstore.New()
	ask(t, babbling(t, store, nil, "").workspace.New(), "how is it")
	other := modelNamed("rookery-demo")
	other.Fingerprint += " of other weights"
	adapted := modelNamed("rookery-demo")
	for name, r := range map[string]*room{
		"another model":         babbling(t, store, other, ""),
		"another system prompt": babbling(t, store, nil, "Be kind."),
	} {
		v := ask(t, r.workspace.New(), "how is it")
		if got, want := r.fed(), len(v.Turns[0].Tokens); got != want {
			t.Errorf("%s: %d of %d tokens were read", name, got, want)
		}
		r.checkStates(v, 2)
	}
	r := babbling(t, store, adapted, "")
	r.store.replace(func(*infer.Snapshot) (*infer.Snapshot, error) { return nil, errors.New("checksum") })
	if v := ask(t, r.workspace.New(), "how is it"); r.fed() != len(v.Turns[0].Tokens) || v.Err != nil {
		t.Errorf("a damaged state: %d tokens read, %v", r.fed(), v.Err)
	}
}

// A line that begins with another conversation goes on from its last state. The
// last answer was cut short, so that its state has not read the last token.
func TestReuseOfALongerBeginning(t *testing.T) {
	store := memstore.New()
	r := babbling(t, store, nil, "")
	d := r.workspace.New()
	ask(t, d, "one")
	long := ask(t, d, "two")
	// The same turns, imported as another conversation without states.
	c := long.Conversation
	c.ID = turn.NewID()
	ids := map[turn.ID]turn.ID{}
	for _, tn := range long.Turns {
		id := turn.NewID()
		ids[tn.ID], tn.ID, tn.Parent = id, id, ids[tn.Parent]
		c.Head, c.Tip = id, id
		must(t, store.CommitTurn(t.Context(), c, tn, nil))
	}
	before := r.fed()
	copied := r.workspace.Open(c.ID)
	settled(t, copied)
	v := ask(t, copied, "three")
	if got, want := r.fed()-before, 1+len(v.Turns[4].Tokens); got != want {
		t.Errorf("%d tokens were read, want %d", got, want)
	}
	r.checkStates(v, -1)
}

func TestMemoryTier(t *testing.T) {
	r := newRoom(t, setup{})
	d := r.workspace.New()
	ask(t, d, "hello")
	ask(t, d, "story")
	m := r.workspace.Memory()
	if m.Snapshots != 4 || m.Bytes <= 0 || m.Unsaved != 0 || m.Budget != save.DefaultMemory {
		t.Errorf("after two exchanges %+v", m)
	}
	one := m.Bytes / 4
	r.workspace.SetMemory(2 * one)
	if m = r.workspace.Memory(); m.Snapshots != 2 || m.Bytes > 2*one {
		t.Errorf("with room for two %+v", m)
	}
	// What cannot be saved stays.
	r.store.set(func(op string) error {
		if op == "commit" {
			return errors.New("no room")
		}
		return nil
	})
	r.workspace.SetMemory(0)
	must(t, d.Send("again"))
	until(t, d, "the answer", func(v chat.View) bool { return v.Live == nil && len(v.Turns) == 6 && v.Err != nil })
	if m = r.workspace.Memory(); m.Snapshots == 0 || m.Unsaved != m.Bytes {
		t.Errorf("with a store that takes nothing %+v", m)
	}
	r.store.set(nil)
	v := settled(t, d)
	if m = r.workspace.Memory(); m.Snapshots != 0 || m.Bytes != 0 {
		t.Errorf("when it is saved %+v", m)
	}
	r.checkStates(v, 6)
}

// What follows a state without a name, as one that came back from the disk
// rounded, has none either: it does not stand for what it has read.
func TestNamesGoBackToTheBeginning(t *testing.T) {
	store := memstore.New()
	d := newRoom(t, setup{store: store}).workspace.New()
	ask(t, d, "hello")
	r := newRoom(t, setup{store: store})
	r.store.replace(func(s *infer.Snapshot) (*infer.Snapshot, error) {
		if s == nil {
			return nil, nil
		}
		unnamed := *s
		unnamed.Prefix = infer.Prefix{}
		return &unnamed, nil
	})
	d = r.workspace.Open(d.ID())
	settled(t, d)
	v := ask(t, d, "again")
	for i, tn := range v.Turns {
		s, err := store.Snapshot(t.Context(), tn.ID)
		must(t, err)
		if named := s.Prefix != (infer.Prefix{}); named != (i < 2) {
			t.Errorf("turn %d of %d: named %v", i, len(v.Turns), named)
		}
	}
}

// With other weights the line is read again from its tokens, and the view says so.
func TestSwappedWeights(t *testing.T) {
	store := memstore.New()
	d := newRoom(t, setup{store: store}).workspace.New()
	ask(t, d, "hello")
	other := modelNamed("another")
	other.Fingerprint += " of other weights"
	r := newRoom(t, setup{store: store, model: other})
	d = r.workspace.Open(d.ID())
	settled(t, d)
	r.gate.shut()
	must(t, d.Send("again"))
	v := until(t, d, "the notice", func(v chat.View) bool { return v.Live != nil && v.Live.Swapped != "" })
	if v.Live.Swapped != "rookery-demo" {
		t.Errorf("the line was made with %q", v.Live.Swapped)
	}
	r.gate.open()
	v = settled(t, d)
	r.checkStates(v, 2)
	if line := len(v.Turns[0].Tokens) + len(v.Turns[1].Tokens) + len(v.Turns[2].Tokens); r.fed() < line || v.Err != nil {
		t.Errorf("%d of %d tokens were read, %v", r.fed(), line, v.Err)
	}
	must(t, d.Send("hello"))
	if v = until(t, d, "the next answer", func(v chat.View) bool { return v.Live != nil || len(v.Turns) == 6 }); v.Live != nil && v.Live.Swapped != "" {
		t.Errorf("read again a second time: %q", v.Live.Swapped)
	}
	settled(t, d)
}
