package cpu

import (
	"errors"
	"fmt"

	"rookery/infer"
	"rookery/infer/adapter"
)

var _ infer.AdapterBackend = (*Backend)(nil)

// LoadAdapter takes an adapter in; see infer.AdapterBackend.
func (b *Backend) LoadAdapter(a *adapter.Adapter, merged bool) (infer.AdapterID, error) {
	v, err := newVariant(b.model, a, merged)
	if err != nil {
		return 0, err
	}
	if err := b.run.makeRoom(v); err != nil {
		return 0, fmt.Errorf("adapter %s: %w", a.Name, err)
	}
	b.lastAdapter++
	v.id = b.lastAdapter
	b.run.variants[v.id] = v
	return v.id, nil
}

// DropAdapter gives its memory back. No row may name it any more.
func (b *Backend) DropAdapter(id infer.AdapterID) error {
	v := b.run.variants[id]
	if v == nil || id == 0 {
		return fmt.Errorf("adapter %d is not loaded", id)
	}
	delete(b.run.variants, id)
	return v.arena.Close()
}

// AdapterBytes is what a loaded adapter takes beside the weights.
func (b *Backend) AdapterBytes(id infer.AdapterID) int64 {
	if v := b.run.variants[id]; v != nil && v.arena != nil {
		return v.arena.Used()
	}
	return 0
}

// makeRoom sees to it that steps have room for what a variant changes.
func (r *runner) makeRoom(v *variant) error {
	if err := r.program.makeRoom(v); err != nil {
		return err
	}
	if r.extra != nil && r.extra.rank >= v.rank {
		return nil
	}
	made, err := newExtra(r.model, max(v.rank, 1), r.act.last.Cap())
	if err != nil {
		return errors.Join(err, made.arena.Close())
	}
	if r.extra != nil {
		err = r.extra.arena.Close()
	}
	r.extra = made
	return err
}

// closeAdapters gives back the memory of all adapters.
func (b *Backend) closeAdapters() error {
	for id := range b.run.variants {
		if id != 0 {
			if err := b.DropAdapter(id); err != nil {
				return err
			}
		}
	}
	if b.run.extra != nil {
		return b.run.extra.arena.Close()
	}
	return nil
}
