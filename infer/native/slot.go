package native

import (
	"unsafe"

	"rookery/infer"
	"rookery/infer/sampler"
)

// A slot is what the host knows of the counts that the device has for it: they
// are those of a Sampler at a revision. The zero slot is one of which nothing
// is known.
type slot struct {
	sampler  *sampler.Sampler
	revision sampler.Revision
}

// counts says whether a draw depends on occurrences. If not, the device need
// not have them.
func counts(p sampler.Params) bool { return p.Presence != 0 || p.Frequency != 0 }

// synchronise lets the device have the counts that a row's draw depends on.
func (b *Backend) synchronise(r *infer.Row) error {
	if !b.draws(r) || !counts(r.Sampler.Effective()) {
		return nil
	}
	now := slot{r.Sampler, r.Sampler.Revision()}
	if b.slots[r.Slot] == now {
		return nil
	}
	b.slots[r.Slot] = slot{}
	seen := r.Sampler.Memory().Counts
	out := make([]count, len(seen))
	for i, c := range seen {
		out[i] = count{token: c.Token, n: c.N, first: c.First}
	}
	if err := b.check(b.api.setCounts(b.handle, int32(r.Slot), unsafe.SliceData(out), int32(len(out))), "send counts"); err != nil {
		return err
	}
	b.slots[r.Slot] = now
	return nil
}

// observed notes that the device has counted a drawn token. The Sampler is
// expected to do the same. Where it would count the token otherwise, the slot's
// counts are given up.
func (b *Backend) observed(r *infer.Row, token int32) {
	p := r.Sampler.Effective()
	if !counts(p) {
		return
	}
	weight := float32(1)
	if p.Mode == sampler.ModePip && b.exempt[token] {
		weight = 0
	}
	at := &b.slots[r.Slot]
	if r.Sampler.Weight(token) != weight {
		*at = slot{}
		return
	}
	at.revision = at.revision.Then(token)
}
