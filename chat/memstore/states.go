package memstore

import (
	"cmp"
	"context"
	"slices"

	"rookery/chat/turn"
)

// States lists the library by name.
func (s *Store) States(ctx context.Context) ([]turn.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]turn.State, 0, len(s.states))
	for _, st := range s.states {
		st.Tokens, st.Snapshot = nil, nil
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b turn.State) int { return cmp.Compare(a.Name, b.Name) })
	return list, ctx.Err()
}

// State returns one of the library.
func (s *Store) State(ctx context.Context, id turn.ID) (turn.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.states[id]
	if !ok {
		return st, &turn.NoStateError{Name: id.String()}
	}
	return st, ctx.Err()
}

// SaveState adds a state to the library.
func (s *Store) SaveState(ctx context.Context, st turn.State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken(st.Name, st.ID) {
		return turn.ErrNameTaken
	}
	s.states[st.ID] = st
	return nil
}

// RenameState changes a state's name.
func (s *Store) RenameState(ctx context.Context, id turn.ID, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.states[id]
	switch {
	case !ok:
		return &turn.NoStateError{Name: id.String()}
	case s.taken(name, id):
		return turn.ErrNameTaken
	}
	st.Name = name
	s.states[id] = st
	return nil
}

func (s *Store) taken(name string, by turn.ID) bool {
	for id, st := range s.states {
		if st.Name == name && id != by {
			return true
		}
	}
	return false
}

// DeleteState removes a state that nothing uses.
func (s *Store) DeleteState(ctx context.Context, id turn.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.states[id]
	if !ok {
		return &turn.NoStateError{Name: id.String()}
	}
	used := &turn.InUseError{Name: st.Name}
	for _, c := range s.conversations {
		if c.head.Base == id {
			used.Conversations++
		}
		if c.head.Mix.Has(id) {
			used.Mixing++
		}
	}
	for _, m := range s.mixes {
		if m.Mix.Has(id) {
			used.Saved++
		}
	}
	if used.Conversations+used.Mixing+used.Saved > 0 {
		return used
	}
	delete(s.states, id)
	return nil
}
