package cpu

import (
	"fmt"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// adapterBatches are the activations of adapters. They are made with the first
// adapter, and anew for a larger rank.
type adapterBatches struct {
	arena *kernel.Arena
	rank  int
	low   map[adapter.Target]*kernel.Batch // [tokens, rank]: down·x
	wide  map[adapter.Target]*kernel.Batch // [tokens, out]: up·low
}

// newAdapterBatches reserves memory, which is not taken before it is used. rows is how
// many rows can want logits.
func newAdapterBatches(m *model, rank, rows int) (*adapterBatches, error) {
	e := &adapterBatches{arena: kernel.NewArena(), rank: rank, low: map[adapter.Target]*kernel.Batch{}, wide: map[adapter.Target]*kernel.Batch{}}
	var first error
	batch := func(rows, cols int) *kernel.Batch {
		b, err := kernel.NewBatch(e.arena, rows, cols, false)
		if err != nil && first == nil {
			first = fmt.Errorf("reserve memory for adapters: %w", err)
		}
		return b
	}
	for _, t := range adapter.LayerTargets(m.shape) {
		out, _ := m.shape.TargetSize(string(t))
		e.low[t], e.wide[t] = batch(maxTokens, rank), batch(maxTokens, out)
	}
	e.low[adapter.Head], e.wide[adapter.Head] = batch(rows, rank), batch(rows, m.shape.Vocab)
	return e, first
}

// A reshape is the input of a product that some adapters change.
type reshape struct {
	target adapter.Target
	x      *kernel.Batch
}

// reshapeInputs changes the inputs of products where adapters ask for it. It does so
// in place, because no other product reads them.
func (r *runner) reshapeInputs(inputs ...reshape) {
	if !r.adapted {
		return
	}
	r.reshapes = r.reshapes[:0]
	for _, in := range inputs {
		if r.changesInput(in.target) {
			r.reshapes = append(r.reshapes, in)
		}
	}
	if len(r.reshapes) > 0 {
		r.eachToken(r.regions.reshape)
	}
}

// reshapeTokens changes the inputs of a chunk of tokens.
func (r *runner) reshapeTokens(chunk int) {
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		v := r.spans[r.owner[t]].variant
		for _, in := range r.reshapes {
			d := v.at(r.layer, in.target)
			if !d.reshapes() {
				continue
			}
			x := in.x.Row(t)
			if d.gain != nil {
				for j, g := range d.gain {
					x[j] *= g
				}
			} else {
				d.addBlocks(x, r.adapterBatches.low[in.target].Row(t), r.adapterBatches.wide[in.target].Row(t))
			}
			r.quantise(in.x, t)
		}
	}
}

// addBlocks sets x_b += z_b and low = Σ z_b, with z_b = D_b x_b. z is scratch.
func (d *delta) addBlocks(x, low, z []float32) {
	n := d.size
	clear(low[:d.up.Cols()])
	for b := 0; b < len(x); b += n {
		block := d.blocks[b*n : (b+n)*n]
		for i := range n {
			sum := float32(0)
			for j, v := range x[b : b+n] {
				sum += block[i*n+j] * v
			}
			z[i] = sum
		}
		for i, v := range z[:n] {
			x[b+i] += v
			low[i] += v
		}
	}
}

// changesInput says whether the adapter of any group changes the input of a product.
func (r *runner) changesInput(t adapter.Target) bool {
	if !r.adapted {
		return false
	}
	for _, g := range r.groups {
		if g.at(r.layer, t).reshapes() {
			return true
		}
	}
	return false
}
