package cpu

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// replace puts an adapter's own tensors in the place of the model's. They have the
// names and sizes of the model's.
func (m *variantMaker) replace(tensors map[string][]float32) {
	specs := maps.Collect(m.v.shape.Tensors())
	for name, v := range tensors {
		if m.err != nil {
			return
		}
		place, inLayer := m.v.places()[name], name
		if place == nil {
			place, inLayer = m.layerPlace(name)
		}
		switch p := place.(type) {
		case *[]float32:
			*p = v
			if inLayer == adapter.TimeOffset {
				*p = gainOf(v)
			}
		case **kernel.Matrix:
			m.weight(p, specs[name], v)
		case **table:
			*p = &table{width: (*p).width, read: func(dst []float32, off int) error {
				copy(dst, v[off:])
				return nil
			}}
		case *stack:
			for i := range p {
				from := partOf(specs[name], m.v.shape, specs[name].Sizes(m.v.shape), i)
				m.replaceMatrix(&p[i], func(row []float32, o int) { from.column(row, v, o) })
			}
		default:
			m.err = fmt.Errorf("tensor %s: nothing in the model to replace", name)
		}
	}
}

// gainOf is 1+v: the time_offset of post-wkv tuning, y ← y⊙(1+offset), as a gain.
func gainOf(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = 1 + x
	}
	return out
}

// weight replaces a matrix. Files hold low-rank ones as [in, out], all others as
// [out, in].
func (m *variantMaker) weight(p **kernel.Matrix, spec rwkv.TensorSpec, v []float32) {
	if spec.Kind != rwkv.LowRank {
		cols := (*p).Cols()
		m.replaceMatrix(p, func(row []float32, o int) { copy(row, v[o*cols:(o+1)*cols]) })
		return
	}
	from := part{}.of(spec.Sizes(m.v.shape), 0, 1)
	m.replaceMatrix(p, func(row []float32, o int) { from.column(row, v, o) })
}

// replaceMatrix puts a matrix of the variant's own in the place of one of the model's,
// of the same type and size. fill sets row o.
func (m *variantMaker) replaceMatrix(p **kernel.Matrix, fill func(row []float32, o int)) {
	was := *p
	if was == nil {
		return // layer 0 does not have it
	}
	w := m.newMatrix(was.Type(), was.Rows(), was.Cols())
	if w == nil {
		return
	}
	row := make([]float32, w.Cols())
	for o := range w.Rows() {
		clear(row)
		fill(row, o)
		w.SetRow(o, row)
	}
	*p = w
}

// layerPlace is where a layer keeps the tensor of a full name, or nil, and the
// tensor's name in the layer.
func (m *variantMaker) layerPlace(name string) (place any, inLayer string) {
	rest, ok := strings.CutPrefix(name, "blocks.")
	if !ok {
		return nil, ""
	}
	number, rest, _ := strings.Cut(rest, ".")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(m.v.layers) || rwkv.LayerName(i, rest) != name {
		return nil, ""
	}
	return m.v.layers[i].places()[rest], rest
}
