package sessions

import (
	"context"
)

// others does what a person does less often.
func (v *victim) others(ctx context.Context, at int) error {
	id := v.open[at].ID()
	switch v.rng.IntN(4) {
	case 0:
		return phase("layout", func() error {
			v.desk.SaveLayout(v.open, at)
			return nil
		})
	case 1:
		return phase("shelf", func() error { return v.desk.SetPinned(ctx, id, v.rng.IntN(2) == 0) })
	case 2:
		return v.throwAway(ctx, at)
	default:
		return phase("check", func() error { _, err := v.store.Check(ctx); return err })
	}
}

// throwAway puts an open conversation into the bin, and takes one out of it.
func (v *victim) throwAway(ctx context.Context, at int) error {
	id := v.open[at].ID()
	if len(v.open[at].View().Turns) == 0 {
		return nil
	}
	if err := phase("bin", func() error { return v.desk.ThrowAway(ctx, id) }); err != nil {
		return err
	}
	v.mu.Lock()
	v.open[at] = v.desk.New()
	v.mu.Unlock()
	stored, err := v.desk.List(ctx)
	if err != nil {
		return err
	}
	for _, c := range stored {
		if !c.Deleted.IsZero() && v.rng.IntN(2) == 0 {
			v.about(c.ID)
			return phase("bin", func() error { return v.desk.TakeBack(ctx, c.ID) })
		}
	}
	return nil
}
