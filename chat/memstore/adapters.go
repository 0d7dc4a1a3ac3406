package memstore

import (
	"cmp"
	"context"
	"slices"

	"rookery/chat/turn"
)

// Adapters lists those that were used, the last one first.
func (s *Store) Adapters(ctx context.Context) ([]turn.Adapter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]turn.Adapter, 0, len(s.adapters))
	for _, a := range s.adapters {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b turn.Adapter) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return list, ctx.Err()
}

// SaveAdapter remembers an adapter.
func (s *Store) SaveAdapter(ctx context.Context, a turn.Adapter) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.adapters == nil {
		s.adapters = map[string]turn.Adapter{}
	}
	s.adapters[a.Fingerprint] = a
	return nil
}

// ForgetAdapter forgets an adapter.
func (s *Store) ForgetAdapter(ctx context.Context, fingerprint string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.adapters, fingerprint)
	return nil
}
