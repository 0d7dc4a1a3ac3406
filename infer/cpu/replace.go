package cpu

import (
	"fmt"
	"strconv"
	"strings"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// replace puts an adapter's own tensors in the place of the model's. They have
// the model's names and sizes.
func (m *variantMaker) replace(tensors map[string][]float32) {
	for name, v := range tensors {
		switch {
		case m.err != nil:
			return
		case m.offset(name, v), m.vector(name, v), m.weight(name, v), m.lowRank(name, v):
		default:
			m.err = fmt.Errorf("tensor %s: nothing in the model to replace", name)
		}
	}
}

// offset takes in the time_offset of post-wkv tuning, y ← y⊙(1+offset), and
// says whether the name is one.
func (m *variantMaker) offset(name string, v []float32) bool {
	l, rest := m.inLayer(name)
	if l == nil || rest != adapter.TimeOffset {
		return false
	}
	l.att.scale = make([]float32, len(v))
	for i, x := range v {
		l.att.scale[i] = 1 + x
	}
	return true
}

// vector replaces a vector and says whether the name is one.
func (m *variantMaker) vector(name string, v []float32) bool {
	own := m.v.model
	places := map[string]*[]float32{
		"blocks.0.ln0.weight": &own.ln0.weight, "blocks.0.ln0.bias": &own.ln0.bias,
		"ln_out.weight": &own.lnOut.weight, "ln_out.bias": &own.lnOut.bias,
	}
	if l, rest := m.inLayer(name); l != nil && places[name] == nil {
		name = rest
		places = map[string]*[]float32{
			"ln1.weight": &l.ln1.weight, "ln1.bias": &l.ln1.bias, "ln2.weight": &l.ln2.weight, "ln2.bias": &l.ln2.bias,
			"att.x_r": &l.att.mixR, "att.x_w": &l.att.mixW, "att.x_k": &l.att.mixK,
			"att.x_v": &l.att.mixV, "att.x_a": &l.att.mixA, "att.x_g": &l.att.mixG,
			"att.w0": &l.att.decay.bias, "att.a0": &l.att.rate.bias, "att.v0": &l.att.values.bias,
			"att.k_k": &l.att.kk, "att.k_a": &l.att.ka, "att.r_k": &l.att.rk,
			"att.ln_x.weight": &l.att.lnX.weight, "att.ln_x.bias": &l.att.lnX.bias,
			"ffn.x_k": &l.ffn.mixK,
		}
	}
	p := places[name]
	if p != nil {
		*p = v
	}
	return p != nil
}

// weight replaces a large matrix, [out, in].
func (m *variantMaker) weight(name string, v []float32) bool {
	own := m.v.model
	places := map[string]**kernel.Matrix{"emb.weight": &own.emb, "head.weight": &own.head}
	if l, rest := m.inLayer(name); l != nil {
		name = rest
		places = map[string]**kernel.Matrix{
			"att.receptance.weight": &l.att.receptance, "att.key.weight": &l.att.key, "att.value.weight": &l.att.value,
			"att.output.weight": &l.att.output, "ffn.key.weight": &l.ffn.key, "ffn.value.weight": &l.ffn.value,
		}
	}
	p := places[name]
	if p == nil {
		return false
	}
	cols := (*p).Cols()
	m.fillLike(p, func(row []float32, o int) { copy(row, v[o*cols:(o+1)*cols]) })
	return true
}

// lowRank replaces a half of a low-rank branch, which files hold as [in, out].
func (m *variantMaker) lowRank(name string, v []float32) bool {
	l, rest := m.inLayer(name)
	if l == nil {
		return false
	}
	s := m.v.shape
	c := s.Embed
	var p **kernel.Matrix
	in, out := c, 0
	switch rest {
	case "att.w1":
		p, out = &l.att.decay.down, s.RankW
	case "att.a1":
		p, out = &l.att.rate.down, s.RankA
	case "att.v1":
		p, out = &l.att.values.down, s.RankV
	case "att.g1":
		p, out = &l.att.gate.down, s.RankG
	case "att.w2":
		p, in, out = &l.att.decay.up, s.RankW, c
	case "att.a2":
		p, in, out = &l.att.rate.up, s.RankA, c
	case "att.v2":
		p, in, out = &l.att.values.up, s.RankV, c
	case "att.g2":
		p, in, out = &l.att.gate.up, s.RankG, c
	default:
		return false
	}
	m.fillLike(p, func(row []float32, o int) {
		for i := 0; i < in && o < out; i++ {
			row[i] = v[i*out+o]
		}
	})
	return true
}

// fillLike puts a matrix of the variant's own, as large as the model's, in its place.
func (m *variantMaker) fillLike(p **kernel.Matrix, fill func(row []float32, o int)) {
	was := *p
	if was == nil {
		return // layer 0 has no use for it
	}
	w := m.matrix(was.Type(), was.Rows(), was.Cols())
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

// inLayer is the layer that a name belongs to, or nil, and the rest of the name.
func (m *variantMaker) inLayer(name string) (*layer, string) {
	rest, ok := strings.CutPrefix(name, "blocks.")
	if !ok {
		return nil, ""
	}
	number, rest, _ := strings.Cut(rest, ".")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(m.v.layers) || rwkv.LayerName(i, rest) != name {
		return nil, ""
	}
	return &m.v.layers[i], rest
}
