package native

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"rookery/infer"
	"rookery/infer/adapter"
)

// LoadAdapter brings an adapter to the device, beside the weights; see
// infer.AdapterBackend. What cannot be run there is refused by name.
func (b *Backend) LoadAdapter(a *adapter.Adapter, merged bool) (infer.AdapterID, error) {
	if err := b.runnable(a, merged); err != nil {
		return 0, fmt.Errorf("adapter %s: %w", a.Name, err)
	}
	var id int32
	if err := b.check(b.api.newAdapter(b.handle, &id), "adapter "+a.Name); err != nil {
		return 0, err
	}
	if err := b.sendAdapter(id, a); err != nil {
		return 0, errors.Join(err, b.DropAdapter(infer.AdapterID(id)))
	}
	return infer.AdapterID(id), nil
}

// DropAdapter gives its memory back. No row may name it any more.
func (b *Backend) DropAdapter(id infer.AdapterID) error {
	return b.check(b.api.dropAdapter(b.handle, int32(id)), fmt.Sprintf("drop adapter %d", id))
}

// AdapterBytes is what a loaded adapter takes on the device.
func (b *Backend) AdapterBytes(id infer.AdapterID) int64 {
	var n int64
	if b.check(b.api.adapterBytes(b.handle, int32(id), &n), "adapters") != nil {
		return 0
	}
	return n
}

const onCPU = "the CPU can (--backend cpu)"

// runnable says why the device cannot run an adapter, or nil.
func (b *Backend) runnable(a *adapter.Adapter, merged bool) error {
	switch {
	case a.Shape != b.shape:
		return fmt.Errorf("it is for a model of %d layers and %d channels, and this one has %d and %d", a.Shape.Layers, a.Shape.Embed, b.shape.Layers, b.shape.Embed)
	case merged:
		return errors.New("a GPU does not keep weights of an adapter's own: use it without, or " + onCPU)
	case len(a.Replaced) > 0:
		return fmt.Errorf("it has a tensor of its own, %s, and a GPU does not run those beside the model's: %s", slices.Min(slices.Collect(maps.Keys(a.Replaced))), onCPU)
	case slices.ContainsFunc(a.Layers, func(l adapter.Layer) bool { return l.Experts != nil }):
		return errors.New("it has a mixture of experts, which a GPU does not run: " + onCPU)
	}
	targets := versions[b.shape.Version].targets
	return eachDelta(a, func(layer int, t adapter.Target, d *adapter.Delta) error {
		_, known := targets[t]
		switch {
		case !known:
			return fmt.Errorf("it changes %s of layer %d, which a GPU does not run: %s", t, layer, onCPU)
		case d.OnlyMerged():
			return fmt.Errorf("%s of layer %d is of the form %s, which a GPU does not run: %s", t, layer, d.Form, onCPU)
		case d.Rank > rankMax:
			return fmt.Errorf("%s of layer %d has rank %d, and a GPU runs up to %d: %s", t, layer, d.Rank, rankMax, onCPU)
		}
		return nil
	})
}

// eachDelta goes through all changes of an adapter, up to the first error.
func eachDelta(a *adapter.Adapter, do func(layer int, t adapter.Target, d *adapter.Delta) error) error {
	for i, l := range a.Layers {
		for _, t := range slices.Sorted(maps.Keys(l.Deltas)) {
			if err := do(i, t, l.Deltas[t]); err != nil {
				return err
			}
		}
	}
	if a.Head == nil {
		return nil
	}
	return do(0, adapter.Head, a.Head)
}

func (b *Backend) sendAdapter(id int32, a *adapter.Adapter) error {
	targets := versions[b.shape.Version].targets
	return eachDelta(a, func(layer int, t adapter.Target, d *adapter.Delta) error {
		down, up := narrow(d)
		var blocks []float32
		if d.Form == adapter.BAT {
			blocks = d.Blocks
		}
		s := b.api.setDelta(b.handle, id, int32(layer), targets[t], int32(d.Rank), unsafe.SliceData(down), unsafe.SliceData(up),
			unsafe.SliceData(d.Gain), unsafe.SliceData(blocks), int32(d.Rank))
		runtime.KeepAlive(d)
		return b.check(s, fmt.Sprintf("adapter %s, %s of layer %d", a.Name, t, layer))
	})
}

// narrow makes the two narrow products of a change, [rank, in] and [out, rank],
// whose first one reads the product's input as it is: y = W x' + up·down·x.
//
//	LoRA, PiSSA  s B, A
//	DoRA         s B, A c; the gain of W's own input goes to the device apart
//	DiSHA        Dᵀ, and ones that add the pieces of x up
//	BAT          ones that repeat, and the blocks side by side
func narrow(d *adapter.Delta) (down, up []float32) {
	r := d.Rank
	switch d.Form {
	case adapter.DiSHA:
		down = make([]float32, r*d.In)
		for j := range d.In {
			down[j%r*d.In+j] = 1
		}
		return down, d.Up
	case adapter.BAT:
		down, up = make([]float32, r*d.In), make([]float32, d.Out*r)
		for i := range r {
			for j := range d.In {
				down[i*d.In+j] = d.Blocks[(j/r*r+i)*r+j%r]
			}
		}
		for o := range d.Out {
			up[o*r+o%r] = 1
		}
		return down, up
	}
	down, up = d.Down, make([]float32, len(d.Up))
	for i, v := range d.Up {
		up[i] = d.Scale * v
	}
	if d.Inner != nil {
		down = slices.Clone(down)
		for i := range down {
			down[i] *= d.Inner[i%d.In]
		}
	}
	return down, up
}
