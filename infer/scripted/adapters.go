package scripted

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"

	"rookery/infer"
	"rookery/infer/adapter"
)

// Adapters are the names that OpenAdapter knows.
var Adapters = []string{"plume", "quill"}

// OpenAdapter opens one of Adapters, at any strength. The adapter has only a name: see
// Adapted.
func OpenAdapter(_ context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error) {
	if path != "" || !slices.Contains(Adapters, name) {
		return nil, fmt.Errorf("no scripted adapter %s%s: %w", path, name, fs.ErrNotExist)
	}
	mark := "scripted:" + name
	if o.Strength != 0 {
		mark += fmt.Sprintf(" × %v", o.Strength)
	}
	return &adapter.Adapter{Name: name, Fingerprint: mark}, nil
}

// Adapted is a fake that can use adapters. The state after a token depends on the
// adapter that read it, so a wrong adapter changes all logits from there on.
type Adapted struct {
	*Backend
	last infer.AdapterID
}

// NewAdapted is New for a fake with adapters.
func NewAdapted(m *infer.Model, o Options) *Adapted {
	b := New(m, o)
	b.salts = map[infer.AdapterID]uint64{}
	return &Adapted{Backend: b}
}

// LoadAdapter implements infer.AdapterBackend.
func (b *Adapted) LoadAdapter(a *adapter.Adapter, _ bool) (infer.AdapterID, error) {
	defer b.enter()()
	h := fnv.New64a()
	h.Write([]byte(a.Fingerprint))
	b.last++ // the ID of a dropped adapter is not used again
	b.salts[b.last] = h.Sum64()
	return b.last, nil
}

// DropAdapter implements infer.AdapterBackend.
func (b *Adapted) DropAdapter(id infer.AdapterID) error {
	defer b.enter()()
	if _, loaded := b.salts[id]; !loaded {
		return fmt.Errorf("scripted: adapter %d is not loaded", id)
	}
	delete(b.salts, id)
	return nil
}

// AdapterBytes implements infer.AdapterBackend.
func (b *Adapted) AdapterBytes(infer.AdapterID) int64 { return 1 }

// salt is what an adapter adds to each token.
func (b *Backend) salt(id infer.AdapterID) (uint64, error) {
	if id == 0 {
		return 0, nil
	}
	if salt, loaded := b.salts[id]; loaded {
		return salt, nil
	}
	return 0, errors.New("scripted: a row with an adapter that is not loaded")
}
