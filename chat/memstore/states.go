package memstore

import (
	"cmp"
	"context"
	"slices"

	"rookery/chat"
)

// States lists the library by name.
func (s *Store) States(ctx context.Context) ([]chat.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]chat.State, 0, len(s.states))
	for _, st := range s.states {
		st.Tokens, st.Snapshot = nil, nil
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b chat.State) int { return cmp.Compare(a.Name, b.Name) })
	return list, ctx.Err()
}

// State returns one of the library.
func (s *Store) State(ctx context.Context, id chat.ID) (chat.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.states[id]
	if !ok {
		return st, &chat.NoStateError{Name: id.String()}
	}
	return st, ctx.Err()
}

// SaveState adds a state to the library.
func (s *Store) SaveState(ctx context.Context, st chat.State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken(st.Name, st.ID) {
		return chat.ErrNameTaken
	}
	s.states[st.ID] = st
	return nil
}

// RenameState changes a state's name.
func (s *Store) RenameState(ctx context.Context, id chat.ID, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.states[id]
	switch {
	case !ok:
		return &chat.NoStateError{Name: id.String()}
	case s.taken(name, id):
		return chat.ErrNameTaken
	}
	st.Name = name
	s.states[id] = st
	return nil
}

func (s *Store) taken(name string, by chat.ID) bool {
	for id, st := range s.states {
		if st.Name == name && id != by {
			return true
		}
	}
	return false
}

// DeleteState removes a state that nothing uses.
func (s *Store) DeleteState(ctx context.Context, id chat.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.states[id]
	if !ok {
		return &chat.NoStateError{Name: id.String()}
	}
	used := &chat.InUseError{Name: st.Name}
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
