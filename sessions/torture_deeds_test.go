package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer/adapter"
	"rookery/infer/scripted"
)

// others does what a person does less often.
func (v *victim) others(ctx context.Context, at int) error {
	id := v.open[at].ID()
	switch v.rng.IntN(7) {
	case 0:
		return phase("layout", func() error {
			v.workspace.SaveLayout(v.open, at)
			return nil
		})
	case 1:
		return phase("list", func() error { return v.workspace.SetPinned(ctx, id, v.rng.IntN(2) == 0) })
	case 2:
		return v.throwAway(ctx, at)
	case 3:
		return phase("check", func() error { _, err := v.store.Check(ctx); return err })
	case 4:
		return v.bake(ctx, at)
	default:
		return v.moveHouse(ctx, at)
	}
}

// throwAway puts an open conversation into the bin, and takes one out of it.
func (v *victim) throwAway(ctx context.Context, at int) error {
	id := v.open[at].ID()
	if len(v.open[at].View().Turns) == 0 {
		return nil
	}
	if err := phase("bin", func() error { return v.workspace.MoveToBin(ctx, id) }); err != nil {
		return err
	}
	v.mu.Lock()
	v.open[at] = v.workspace.New()
	v.mu.Unlock()
	stored, err := v.workspace.List(ctx)
	if err != nil {
		return err
	}
	for _, c := range stored {
		if !c.Deleted.IsZero() && v.rng.IntN(2) == 0 {
			v.about(c.ID)
			return phase("bin", func() error { return v.workspace.RestoreFromBin(ctx, c.ID) })
		}
	}
	return nil
}

// adapter is any, or none; it is loaded when it is first needed.
func (v *victim) adapter(ctx context.Context) (a turn.Adapter, err error) {
	n := v.rng.IntN(len(scripted.Adapters) + 1)
	if n == len(scripted.Adapters) {
		return a, nil
	}
	return v.workspace.Adapters().Find(ctx, scripted.Adapters[n], adapter.Options{})
}

// adapt gives a conversation another adapter, whatever runs in it.
func (v *victim) adapt(ctx context.Context, d *chat.Dialogue) error {
	a, err := v.adapter(ctx)
	if err != nil {
		return err
	}
	return d.SetAdapter(a)
}

// compare answers a prompt with several adapters.
func (v *victim) compare(ctx context.Context, d *chat.Dialogue) error {
	variants := make([]chat.Variant, 2+v.rng.IntN(2))
	for i := range variants {
		a, err := v.adapter(ctx)
		if err != nil {
			return err
		}
		variants[i] = d.Variant()
		variants[i].Name, variants[i].Adapter = fmt.Sprint(i), a
	}
	if v.rng.IntN(2) == 0 {
		return d.Compare(variants)
	}
	return d.SendCompare(v.words(), variants)
}

// moveHouse writes a conversation to a bundle, deletes it, and reads it back:
// it is there again with everything, or not at all.
func (v *victim) moveHouse(ctx context.Context, at int) error {
	d := v.open[at]
	view := d.View()
	if view.Live != nil || len(view.Turns) == 0 {
		return nil
	}
	var file bytes.Buffer
	err := phase("export", func() error { return v.workspace.ExportTree(ctx, &file, d.ID(), transfer.Bundle, v.rng.IntN(2) == 0) })
	if errors.Is(err, chat.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	_, turns, err := v.store.Load(ctx, d.ID())
	if err != nil {
		return err
	}
	if err := v.delete(ctx, at); err != nil {
		return err
	}
	shout("coming %d %d", d.ID(), len(turns))
	err = phase("import", func() error {
		arrivals, err := v.workspace.Import(ctx, bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err == nil && (len(arrivals) != 1 || arrivals[0].ID != d.ID()) {
			err = fmt.Errorf("conversation %d was imported as %+v", d.ID(), arrivals)
		}
		return err
	})
	if err != nil {
		return err
	}
	shout("arrived %d", d.ID())
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.heads, d.ID())
	for _, t := range turns {
		delete(v.said, t.ID)
	}
	v.open[at] = v.workspace.Open(d.ID())
	return nil
}

// bake makes a state and begins a conversation from it. The states of
// conversations that are gone go too.
func (v *victim) bake(ctx context.Context, at int) error {
	kept := v.workspace.Library()
	states, err := kept.List(ctx)
	if err != nil {
		return err
	}
	for _, s := range states[min(len(states), 2):] {
		shout("unbaked %d", s.ID)
		err := phase("unbake", func() error { return v.workspace.DeleteState(ctx, s) })
		var used *turn.InUseError
		if err != nil && !errors.As(err, &used) {
			return err
		}
	}
	var baked turn.State
	err = phase("bake", func() error {
		recipe := library.Recipe{Name: fmt.Sprint("book ", time.Now().UnixNano()), Source: "torture", Text: v.words() + v.words()}
		baked, err = kept.Bake(ctx, v.workspace.Engine(), recipe, nil)
		return err
	})
	if err != nil {
		return err
	}
	shout("baked %d", baked.ID)
	d, err := v.workspace.NewFrom(baked)
	if err != nil {
		return err
	}
	return v.replace(ctx, at, d)
}
