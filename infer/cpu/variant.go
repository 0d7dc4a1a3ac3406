package cpu

import (
	"errors"
	"fmt"
	"math"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// A variant is the model with one adapter. It shares the memory of all weights that
// the adapter leaves alone with the base model.
type variant struct {
	*model
	id     infer.AdapterID
	deltas []layerDeltas // by layer; nil for the base model
	head   *delta
	arena  *kernel.Arena // of the adapter's matrices
	rank   int           // the largest of any delta, padded to whole blocks
	mole   bool          // it has experts
}

// layerDeltas are the changes of one layer.
type layerDeltas struct {
	of      map[adapter.Target]*delta
	experts *experts
}

// A delta is the change of one product in the form that the kernels run:
//
//	x ← gain∘x;  low = down·x;  y = W x + up·low          (LoRA, PiSSA, DoRA, DiSHA)
//	z_b = D_b x_b;  x_b ← x_b + z_b;  low = Σ z_b;  y = W x + up·low      (BAT)
//
// up includes the scale. Ranks are padded with zeros to whole blocks.
type delta struct {
	down *kernel.Matrix // [rank, in]; nil where blocks make low
	up   *kernel.Matrix // [out, rank]
	gain []float32      // [in]
	// blocks are BAT's D, [in/size, size, size].
	blocks []float32
	size   int
}

// reshapes says whether the delta changes the input of the product.
func (d *delta) reshapes() bool { return d != nil && (d.gain != nil || d.blocks != nil) }

// at is the delta of a product in a layer, or nil.
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

// newVariant prepares an adapter for the kernels. merged makes copies of all weights
// that it changes, with the changes in them.
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
			m.addDelta(i, t, l.Deltas[t], merged)
		}
		if l.Experts != nil {
			m.addExperts(i, l.Experts)
		}
	}
	for _, l := range m.v.layers {
		l.prepare(base.shape)
	}
	m.addHeadDelta(a.Head, merged)
	if m.err != nil {
		return nil, errors.Join(fmt.Errorf("adapter %s: %w", a.Name, m.err), m.v.arena.Close())
	}
	return m.v, nil
}

// addDelta adds the change of one product of a layer.
func (m *variantMaker) addDelta(i int, t adapter.Target, d *adapter.Delta, merged bool) {
	switch {
	case d == nil || m.err != nil:
	case merged || d.OnlyMerged():
		place, ok := m.v.layers[i].places()[string(t)+".weight"].(**kernel.Matrix)
		if !ok {
			m.err = fmt.Errorf("%s of layer %d is no matrix: a delta cannot be merged into it", t, i)
			return
		}
		*place = m.newMerged(*place, d)
	default:
		m.v.deltas[i].of[t] = m.newDelta(d)
	}
}

func (m *variantMaker) addHeadDelta(d *adapter.Delta, merged bool) {
	switch {
	case d == nil || m.err != nil:
	case merged || d.OnlyMerged():
		m.v.model.head = m.newMerged(m.v.model.head, d)
	default:
		m.v.head = m.newDelta(d)
	}
}

// newMerged makes a copy of a weight with the change in it.
func (m *variantMaker) newMerged(w *kernel.Matrix, d *adapter.Delta) *kernel.Matrix {
	own := m.newMatrix(w.Type(), w.Rows(), w.Cols())
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

// newDelta brings a change into the form that the kernels run.
func (m *variantMaker) newDelta(d *adapter.Delta) *delta {
	out := &delta{gain: awayFromZero(d.Gain)}
	rank := padded(d.Rank)
	m.v.rank = max(m.v.rank, rank)
	switch d.Form {
	case adapter.BAT:
		out.blocks, out.size = d.Blocks, d.Rank
		out.up = m.newFilled(d.Out, rank, func(row []float32, o int) { row[o%d.Rank] = 1 })
	case adapter.DiSHA:
		out.down = m.newFilled(rank, d.In, func(row []float32, i int) {
			for j := i; j < d.In && i < d.Rank; j += d.Rank {
				row[j] = 1
			}
		})
		out.up = m.newFilled(d.Out, rank, func(row []float32, o int) { copy(row, d.Up[o*d.Rank:(o+1)*d.Rank]) })
	default:
		out.down = m.newFilled(rank, d.In, func(row []float32, i int) {
			if i >= d.Rank {
				return
			}
			copy(row, d.Down[i*d.In:(i+1)*d.In])
			for j, c := range d.Inner {
				row[j] *= c / out.gain[j] // of the input that has the gain in it
			}
		})
		out.up = m.newFilled(d.Out, rank, func(row []float32, o int) {
			for i, v := range d.Up[o*d.Rank : (o+1)*d.Rank] {
				row[i] = d.Scale * v
			}
		})
	}
	return out
}

// awayFromZero are gains that can be divided by. Strengths above 1 can make them 0.
func awayFromZero(gain []float32) []float32 {
	const least = 1e-9
	var out []float32
	for _, g := range gain {
		if g > -least && g < least {
			g = least
		}
		out = append(out, g)
	}
	return out
}

// newFilled makes a matrix of the narrowest type that holds its values exactly. fill
// sets row i.
func (m *variantMaker) newFilled(rows, cols int, fill func(row []float32, i int)) *kernel.Matrix {
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
	w := m.newMatrix(typ, rows, cols)
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

func (m *variantMaker) newMatrix(t kernel.Type, rows, cols int) *kernel.Matrix {
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
