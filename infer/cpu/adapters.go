package cpu

import (
	"errors"
	"fmt"

	"rookery/infer"
	"rookery/infer/adapter"
)

var _ infer.AdapterBackend = (*Backend)(nil)

// LoadAdapter is that of infer.AdapterBackend.
func (b *Backend) LoadAdapter(a *adapter.Adapter, merged bool) (infer.AdapterID, error) {
	v, err := newVariant(b.model, a, merged)
	if err != nil {
		return 0, err
	}
	if err := b.run.reserveFor(v); err != nil {
		return 0, fmt.Errorf("adapter %s: %w", a.Name, err)
	}
	b.lastAdapter++
	v.id = b.lastAdapter
	b.run.variants[v.id] = v
	return v.id, nil
}

// DropAdapter frees the memory of an adapter that no row names any more.
func (b *Backend) DropAdapter(id infer.AdapterID) error {
	v := b.run.variants[id]
	if v == nil || id == 0 {
		return fmt.Errorf("adapter %d is not loaded", id)
	}
	delete(b.run.variants, id)
	return v.arena.Close()
}

// AdapterBytes is the memory of a loaded adapter beside the weights.
func (b *Backend) AdapterBytes(id infer.AdapterID) int64 {
	if v := b.run.variants[id]; v != nil && v.arena != nil {
		return v.arena.Used()
	}
	return 0
}

// reserveFor makes the batches that steps with a variant need.
func (r *runner) reserveFor(v *variant) error {
	if err := r.program.reserveFor(v); err != nil {
		return err
	}
	if r.adapterBatches != nil && r.adapterBatches.rank >= v.rank {
		return nil
	}
	made, err := newAdapterBatches(r.model, max(v.rank, 1), r.act.last.Cap())
	if err != nil {
		return errors.Join(err, made.arena.Close())
	}
	if r.adapterBatches != nil {
		err = r.adapterBatches.arena.Close()
	}
	r.adapterBatches = made
	return err
}

// closeAdapters frees the memory of all adapters.
func (b *Backend) closeAdapters() error {
	for id := range b.run.variants {
		if id != 0 {
			if err := b.DropAdapter(id); err != nil {
				return err
			}
		}
	}
	if b.run.adapterBatches != nil {
		return b.run.adapterBatches.arena.Close()
	}
	return nil
}
