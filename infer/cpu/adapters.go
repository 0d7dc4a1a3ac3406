package cpu

import (
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

// makeRoom sees to it that steps have room for a variant's ranks and experts.
func (r *runner) makeRoom(v *variant) error {
	most := 0
	for _, l := range v.deltas {
		if l.experts != nil {
			most = max(most, len(l.experts.key))
		}
	}
	rank := v.rank
	if e := r.extra; e != nil {
		if e.rank >= rank && (most == 0 || e.mole != nil && e.mole.most >= most) {
			return nil
		}
		rank = max(rank, e.rank)
		if e.mole != nil {
			most = max(most, e.mole.most)
		}
	}
	made, err := newExtra(r.model, max(rank, 1), r.act.last.Cap())
	if err == nil && most > 0 {
		err = made.addMole(r.model, most)
	}
	if err != nil {
		return err
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
