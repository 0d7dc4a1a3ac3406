package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
)

// libraryStates are the states of the library that a tree needs, without those
// that come with the program.
func libraryStates(t *turn.Tree) []turn.ID {
	var ids []turn.ID
	seen := map[turn.ID]bool{}
	need := func(id turn.ID) {
		if id > turn.LastBuiltIn && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	need(t.Conversation.Base)
	for _, f := range t.Conversation.Mix.Others {
		need(f.State)
	}
	for _, tn := range t.Turns {
		for _, f := range tn.Mix.Others {
			need(f.State)
		}
		need(tn.History.Base)
	}
	return ids
}

// hasState says that a state is among those of the library.
func hasState(states []turn.State, id turn.ID) bool {
	return slices.ContainsFunc(states, func(s turn.State) bool { return s.ID == id })
}

// addLibrary adds to the library what trees begin from or mix and it does not
// have, and returns the trees with the numbers that their states have there. A
// state that is there already is known by what it holds, under whatever name or
// number; a name that another one has gets a number behind it.
func addLibrary(ctx context.Context, store turn.Store, trees []turn.Tree) (_ []turn.Tree, added []turn.ID, err error) {
	there := map[turn.ID]place{} // where the states of the trees are
	taken := map[turn.ID]bool{}  // by them: two that hold the same stay two, as in the mix that has both
	for _, t := range trees {
		for _, b := range t.Bases {
			if _, known := there[b.ID]; known {
				continue
			}
			at, isNew, err := addState(ctx, store, b, taken)
			if err != nil {
				return nil, added, err
			}
			if isNew {
				added = append(added, at.id)
			}
			there[b.ID], taken[at.id] = at, true
		}
	}
	out := slices.Clone(trees)
	for i := range out {
		out[i] = moveTree(out[i], there)
	}
	return out, added, nil
}

// A place is the number and the name of a state in the library.
type place struct {
	id   turn.ID
	name string
}

// addState finds a state in the library, but none of those that are taken, or
// adds it.
func addState(ctx context.Context, store turn.Store, b turn.TreeBase, taken map[turn.ID]bool) (at place, added bool, err error) {
	s, err := b.Read()
	if err != nil {
		return at, false, err
	}
	at, err = sameState(ctx, store, s, taken)
	if err != nil || at.id != 0 {
		return at, false, err
	}
	if _, err := store.State(ctx, s.ID); err == nil {
		s.ID = turn.NewID() // its number is that of another one
	} else if !errors.Is(err, fs.ErrNotExist) {
		return at, false, err
	}
	name := s.Name
	for n := 2; ; n++ {
		err = store.SaveState(ctx, s)
		if !errors.Is(err, turn.ErrNameTaken) {
			return place{s.ID, s.Name}, err == nil, err
		}
		s.Name = fmt.Sprintf("%s (%d)", name, n)
	}
}

// sameState is the state of the library that holds what another one holds; none
// if there is none. Only those are read that can be it.
func sameState(ctx context.Context, store turn.Store, s turn.State, taken map[turn.ID]bool) (place, error) {
	list, err := store.States(ctx)
	if err != nil {
		return place{}, err
	}
	want := stateFingerprint(&s)
	slices.SortStableFunc(list, func(a, b turn.State) int { // the one of its number first
		switch {
		case a.ID == s.ID:
			return -1
		case b.ID == s.ID:
			return 1
		}
		return 0
	})
	for _, known := range list {
		if taken[known.ID] || known.Kind != s.Kind || known.Model != s.Model || known.Adapter != s.Adapter || known.Shape != s.Shape || known.Read != s.Read {
			continue
		}
		full, err := store.State(ctx, known.ID)
		if err != nil {
			continue // a damaged one is not it
		}
		if stateFingerprint(&full) == want {
			return place{known.ID, known.Name}, nil
		}
	}
	return place{}, nil
}

// stateFingerprint identifies what a state holds, without its name and number.
func stateFingerprint(s *turn.State) [sha256.Size]byte {
	h := sha256.New()
	text := func(parts ...string) {
		for _, p := range parts {
			_, _ = fmt.Fprintf(h, "%d %s\n", len(p), p) // a hash takes everything
		}
	}
	text(string(s.Kind), s.Model, s.Adapter)
	var buf []byte
	for _, t := range s.Tokens {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(t))
	}
	if snap := s.Snapshot; snap != nil {
		text(snap.Tokenizer, snap.Adapter)
		for _, x := range snap.State {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		for _, t := range snap.Pending {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(t))
		}
	}
	_, _ = h.Write(buf)
	return [sha256.Size]byte(h.Sum(nil))
}

// moveTree gives the states that a tree names other numbers and names.
func moveTree(t turn.Tree, to map[turn.ID]place) turn.Tree {
	if !slices.ContainsFunc(libraryStates(&t), func(id turn.ID) bool { return to[id].id != 0 }) {
		return t
	}
	at := func(id turn.ID) turn.ID {
		if to[id].id != 0 {
			return to[id].id
		}
		return id
	}
	mix := func(m turn.Mix) turn.Mix {
		m.Others = slices.Clone(m.Others)
		for i := range m.Others {
			if s := to[m.Others[i].State]; s.id != 0 {
				m.Others[i].State, m.Others[i].Name = s.id, s.name
			}
		}
		return m
	}
	t.Conversation.Base, t.Conversation.Mix = at(t.Conversation.Base), mix(t.Conversation.Mix)
	t.Turns, t.States = slices.Clone(t.Turns), slices.Clone(t.States)
	for i := range t.Turns {
		t.Turns[i].Mix = mix(t.Turns[i].Mix)
		t.Turns[i].History.Base = at(t.Turns[i].History.Base)
	}
	names := map[string]string{}
	for was, is := range to {
		names[was.String()] = is.id.String()
	}
	for i, s := range t.States {
		t.States[i].Read = func() (*infer.Snapshot, error) {
			snap, err := s.Read()
			if err != nil || snap == nil || len(snap.Members) == 0 {
				return snap, err
			}
			out := *snap
			out.Members = slices.Clone(snap.Members)
			for i, v := range out.Members {
				if is, ok := names[v.Name]; ok {
					out.Members[i].Name = is
				}
			}
			return &out, nil
		}
	}
	return t
}
