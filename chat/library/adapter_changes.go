package library

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
)

// Drop takes an adapter off the engine; it stays known. It is refused while
// answers use it.
func (r *AdapterRegistry) Drop(ctx context.Context, fingerprint string) error {
	e, ok := r.engine.(adapterEngine)
	if !ok {
		return nil
	}
	return e.DropAdapter(ctx, fingerprint)
}

// Forget takes an adapter off the engine and out of the list, at all its
// strengths. It is refused while answers use any of them.
func (r *AdapterRegistry) Forget(ctx context.Context, a turn.Adapter) error {
	all, err := r.knownAdapters(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ string, k turn.Adapter) bool { return !k.SameFile(a) })
	loaded, err := r.loadedAdapters(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(loaded, func(a, b infer.LoadedAdapter) int { return b.Rows - a.Rows }) // those in use come first: if one is refused, nothing is dropped
	for _, l := range loaded {
		if _, ok := all[l.Fingerprint]; !ok {
			continue
		}
		if err := r.Drop(ctx, l.Fingerprint); err != nil {
			return err
		}
	}
	for fingerprint := range all {
		if err := r.store.ForgetAdapter(ctx, fingerprint); err != nil {
			return err
		}
		r.mu.Lock()
		delete(r.known, fingerprint)
		r.mu.Unlock()
	}
	return nil
}

// Strengthen loads an adapter at another strength, which is not 0. That at the
// old one stays until Tidy finds nobody who uses it.
func (r *AdapterRegistry) Strengthen(ctx context.Context, a turn.Adapter, strength float32) (turn.Adapter, error) {
	if strength == a.Strength() && a.Fingerprint != "" {
		return a, r.Need(ctx, a.Fingerprint)
	}
	a.Fingerprint, a.Options.Strength = "", strength
	return r.load(ctx, a)
}

// Tidy takes those off the engine that are a but for their strength and that
// no answer uses. They stay known.
func (r *AdapterRegistry) Tidy(ctx context.Context, a turn.Adapter) error {
	loaded, err := r.loadedAdapters(ctx)
	if err != nil {
		return err
	}
	all, err := r.knownAdapters(ctx)
	if err != nil {
		return err
	}
	for _, l := range loaded {
		k, known := all[l.Fingerprint]
		if known && l.Rows == 0 && l.Fingerprint != a.Fingerprint && k.SameFile(a) {
			if err := r.Drop(ctx, l.Fingerprint); err != nil {
				return err
			}
		}
	}
	return nil
}

// Merge gives an adapter weights of its own, or takes them away again. It is
// refused while answers use it.
func (r *AdapterRegistry) Merge(ctx context.Context, a turn.Adapter, merged bool) (turn.Adapter, error) {
	if err := r.Drop(ctx, a.Fingerprint); err != nil {
		return a, err
	}
	a.Merged = merged
	return r.load(ctx, a)
}

// Read reads an adapter, by name or file as Find does, without loading it.
func (r *AdapterRegistry) Read(ctx context.Context, name string, o adapter.Options) (*adapter.Adapter, error) {
	a, unknown := r.findKnown(ctx, name)
	switch {
	case errors.Is(unknown, fs.ErrNotExist):
		a = turn.Adapter{Path: name}
	case unknown != nil:
		return nil, unknown
	}
	a = a.WithOptions(o)
	read, err := r.read(ctx, &a)
	return read, explainMissing(name, err, unknown)
}

// ForgetNamed is Forget of the adapter of a name, fingerprint or file.
func (r *AdapterRegistry) ForgetNamed(ctx context.Context, name string) error {
	a, err := r.findKnown(ctx, name)
	if err != nil {
		return err
	}
	return r.Forget(ctx, a)
}

// A LostAdapterError says that an adapter cannot be had as it was.
type LostAdapterError struct {
	How, WayOut string // in a sentence about it
	Err         error
}

func (e *LostAdapterError) Error() string { return e.Err.Error() }

func (e *LostAdapterError) Unwrap() error { return e.Err }

// KnownTitle is what people call an adapter that was used since the program was
// started; "" for another one.
func (r *AdapterRegistry) KnownTitle(fingerprint string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.known[fingerprint]
	if !ok {
		return ""
	}
	return a.Title()
}
