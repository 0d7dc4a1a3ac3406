package chat

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/statefile"
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
	all, err := r.remembered(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ string, k turn.Adapter) bool { return !k.SameFile(a) })
	loaded, err := r.loaded(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(loaded, func(a, b infer.LoadedAdapter) int { return b.Rows - a.Rows }) // what is refused comes first
	for _, l := range loaded {
		if _, ok := all[l.Fingerprint]; !ok {
			continue
		}
		if err := r.Drop(ctx, l.Fingerprint); err != nil {
			return err
		}
	}
	for mark := range all {
		if err := r.store.ForgetAdapter(ctx, mark); err != nil {
			return err
		}
		r.mu.Lock()
		delete(r.known, mark)
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
	loaded, err := r.loaded(ctx)
	if err != nil {
		return err
	}
	all, err := r.remembered(ctx)
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

// SetAdapter makes a loaded adapter, or with the zero Adapter none, the
// conversation's. It counts from the next token on, also of a running answer;
// what has been read stays as it was read.
func (d *Dialogue) SetAdapter(a turn.Adapter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	if b := (statefile.State{Name: d.base.name, Adapter: d.base.adapter, AdapterName: d.base.adapterName}); len(d.tree.nodes) == 0 {
		if err := b.CheckAdapter(a.Fingerprint, a.Title()); err != nil {
			return err
		}
	}
	d.conv.Adapter, d.adapter = a.Fingerprint, a.Title()
	for _, run := range d.following() {
		run.turn.Adapter, run.turn.AdapterID = a.Title(), a.Fingerprint
		run.way.adapter, run.way.adapterName = a.Fingerprint, a.Title()
		if run.stream != nil {
			run.stream.SetAdapter(a.Fingerprint)
		}
	}
	d.saveHead()
	d.publish()
	return nil
}

// Read reads an adapter, by name or file as Find does, without loading it.
func (r *AdapterRegistry) Read(ctx context.Context, name string, o adapter.Options) (*adapter.Adapter, error) {
	list, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	a, ok, err := choose(list, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		a = turn.Adapter{Path: name}
	}
	a = a.WithOptions(o)
	return r.read(ctx, &a)
}

// ForgetNamed is Forget of the adapter of a name, fingerprint or file.
func (r *AdapterRegistry) ForgetNamed(ctx context.Context, name string) error {
	list, err := r.List(ctx)
	if err != nil {
		return err
	}
	a, ok, err := choose(list, name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no adapter %q: `rookery adapters ls` lists them", name)
	}
	if err != nil {
		return err
	}
	return r.Forget(ctx, a)
}

// A lostError says that an adapter cannot be had as it was.
type lostError struct {
	how, wayOut string // in a sentence about it
	err         error
}

func (e *lostError) Error() string { return e.err.Error() }

func (e *lostError) Unwrap() error { return e.err }

// title is what people call an adapter that was used since the program was
// started; "" for another one.
func (r *AdapterRegistry) title(fingerprint string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.known[fingerprint]
	if !ok {
		return ""
	}
	return a.Title()
}
