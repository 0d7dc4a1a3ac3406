package cpu

import (
	"errors"
	"fmt"
	"math"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// A variant is the model as rows with one adapter see it. Whatever the adapter
// leaves alone is the base model's own, memory and all.
type variant struct {
	*model
	id     infer.AdapterID
	deltas []layerDeltas // by layer; nil without an adapter
	head   *delta
	arena  *kernel.Arena // of what is the adapter's
	rank   int           // the widest, padded
	mole   bool          // it has experts
}

// layerDeltas are the changes of one layer.
type layerDeltas struct {
	of      map[adapter.Target]*delta
	experts *experts
}

// A delta is the change of one product as the kernels run it:
//
//	x ← gain∘x, or x_b ← x_b + D_b x_b, which also makes low;
//	low = down·x;  y = W x + up·low
//
// Scales are in up. Ranks are padded with zeros to whole blocks.
type delta struct {
	down *kernel.Matrix // [rank, in]; nil where blocks make low
	up   *kernel.Matrix // [out, rank]
	gain []float32      // [in]
	// blocks are BAT's D, [in/size, size, size].
	blocks []float32
	size   int
}

// reshapes says that the product's input is changed too.
func (d *delta) reshapes() bool { return d != nil && (d.gain != nil || d.blocks != nil) }

// at is the change of a product in a layer, or nil.
func (v *variant) at(layer int, t adapter.Target) *delta {
	if v.deltas == nil {
		return nil
	}
	return v.deltas[layer].of[t]
}

// A variantMaker builds a variant. The first error stays.
type variantMaker struct {
	v   *variant
	err error
}

// newVariant prepares an adapter for the kernels; merged puts all it changes
// into weights of its own.
func newVariant(base *model, a *adapter.Adapter, merged bool) (*variant, error) {
	if a.Shape != base.shape {
		return nil, fmt.Errorf("adapter %s is for a model of %d layers and %d channels, and this one has %d and %d",
			a.Name, a.Shape.Layers, a.Shape.Embed, base.shape.Layers, base.shape.Embed)
	}
	own := *base
	own.layers = nil
	for _, l := range base.layers {
		own.layers = append(own.layers, l.clone())
	}
	m := variantMaker{v: &variant{model: &own, arena: kernel.NewArena(), deltas: make([]layerDeltas, len(own.layers))}}
	m.replace(a.Replaced)
	for i, l := range a.Layers {
		m.v.deltas[i].of = map[adapter.Target]*delta{}
		for _, t := range adapter.LayerTargets(base.shape) {
			m.layer(i, t, l.Deltas[t], merged)
		}
		if l.Experts != nil {
			m.experts(i, l.Experts)
		}
	}
	m.headDelta(a.Head, merged)
	if m.err != nil {
		return nil, errors.Join(fmt.Errorf("adapter %s: %w", a.Name, m.err), m.v.arena.Close())
	}
	return m.v, nil
}

// layer takes in the change of one product of a layer.
func (m *variantMaker) layer(i int, t adapter.Target, d *adapter.Delta, merged bool) {
	switch {
	case d == nil || m.err != nil:
	case merged || d.Form == adapter.Bone:
		// The oldest Bone costs as much as the product itself at run time.
		place := m.v.layers[i].places()[string(t)+".weight"].(**kernel.Matrix)
		*place = m.merge(*place, d)
	default:
		m.v.deltas[i].of[t] = m.delta(d)
	}
}

func (m *variantMaker) headDelta(d *adapter.Delta, merged bool) {
	switch {
	case d == nil || m.err != nil:
	case merged || d.Form == adapter.Bone:
		m.v.model.head = m.merge(m.v.model.head, d)
	default:
		m.v.head = m.delta(d)
	}
}

// merge makes a weight of its own with the change in it.
func (m *variantMaker) merge(w *kernel.Matrix, d *adapter.Delta) *kernel.Matrix {
	own := m.matrix(w.Type(), w.Rows(), w.Cols())
	if own == nil {
		return w
	}
	row := make([]float32, w.Cols())
	for o := range w.Rows() {
		w.Row(row, o)
		d.Merge(row, o)
		own.SetRow(o, row)
	}
	return own
}

// delta brings a change into the form that the kernels run.
func (m *variantMaker) delta(d *adapter.Delta) *delta {
	out := &delta{gain: d.Gain}
	rank := padded(d.Rank)
	m.v.rank = max(m.v.rank, rank)
	switch d.Form {
	case adapter.BAT:
		out.blocks, out.size = d.Blocks, d.Rank
		out.up = m.filled(d.Out, rank, func(row []float32, o int) { row[o%d.Rank] = 1 })
	case adapter.DiSHA:
		out.down = m.filled(rank, d.In, func(row []float32, i int) {
			for j := i; j < d.In && i < d.Rank; j += d.Rank {
				row[j] = 1
			}
		})
		out.up = m.filled(d.Out, rank, func(row []float32, o int) { copy(row, d.Up[o*d.Rank:(o+1)*d.Rank]) })
	default:
		out.down = m.filled(rank, d.In, func(row []float32, i int) {
			if i < d.Rank {
				copy(row, d.Down[i*d.In:(i+1)*d.In])
			}
		})
		out.up = m.filled(d.Out, rank, func(row []float32, o int) {
			for i, v := range d.Up[o*d.Rank : (o+1)*d.Rank] {
				row[i] = d.Scale * v
			}
		})
	}
	return out
}

// filled makes a matrix of the narrowest type that holds its values exactly.
func (m *variantMaker) filled(rows, cols int, fill func(row []float32, i int)) *kernel.Matrix {
	row := make([]float32, cols)
	bf16, fp16 := true, true
	for i := range rows {
		clear(row)
		fill(row, i)
		for _, v := range row {
			bf16 = bf16 && math.Float32bits(v)&0xffff == 0
			fp16 = fp16 && kernel.IsHalf(v)
		}
	}
	typ := kernel.F32
	switch {
	case bf16:
		typ = kernel.BF16
	case fp16:
		typ = kernel.F16
	}
	w := m.matrix(typ, rows, cols)
	if w == nil {
		return nil
	}
	for i := range rows {
		clear(row)
		fill(row, i)
		w.SetRow(i, row)
	}
	return w
}

func (m *variantMaker) matrix(t kernel.Type, rows, cols int) *kernel.Matrix {
	if m.err != nil {
		return nil
	}
	w, err := kernel.NewMatrix(m.v.arena, t, rows, cols)
	if err != nil {
		m.err = err
		return nil
	}
	return w
}
