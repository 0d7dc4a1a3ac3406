package memstore

import (
	"cmp"
	"context"
	"slices"

	"rookery/chat/turn"
)

// Mixes lists those that were saved, the one used last first.
func (s *Store) Mixes(ctx context.Context) ([]turn.NamedMix, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]turn.NamedMix, 0, len(s.mixes))
	for _, m := range s.mixes {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b turn.NamedMix) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Name, b.Name))
	})
	return list, ctx.Err()
}

// SaveMix keeps a mix under its name.
func (s *Store) SaveMix(ctx context.Context, m turn.NamedMix) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mixes == nil {
		s.mixes = map[string]turn.NamedMix{}
	}
	s.mixes[m.Name] = m
	return nil
}

// DeleteMix forgets a mix.
func (s *Store) DeleteMix(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mixes, name)
	return nil
}
