package cpu

import (
	"fmt"

	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// A v7aLayer is the weights of a layer of RWKV-7 with DeepEmbed. S is the rank of its
// branch, D = S².
type v7aLayer struct {
	v7Layer
	deep struct {
		table    *table         // [V, D]
		residual *kernel.Matrix // [D, C], of the token's embedding
		down     *kernel.Matrix // [S, C]
		up       *kernel.Matrix // [F, S]
		bias     []float32      // [F]
	}
}

func newV7aLayer() layer { return new(v7aLayer) }

func (l *v7aLayer) clone() layer {
	own := *l
	return &own
}

func (l *v7aLayer) places() places {
	return l.v7Layer.places().with(places{
		"ffn.s_emb.weight": &l.deep.table, "ffn.s_emb_x.weight": &l.deep.residual,
		"ffn.s1": &l.deep.down, "ffn.s2": &l.deep.up, "ffn.s0": &l.deep.bias,
	})
}

// v7a runs the layers of RWKV-7 with DeepEmbed. It is version 7 with a channel mix in
// which each token has a matrix E of its own:
//
//	E = table[token] + residual·LN(emb; ln0)
//	h ← h ⊙ (up·((down·xn)ᵀ E) + bias)
//
// The reference adds the residual to the tables while loading. Here the tables stay in
// the file.
type v7a struct {
	*v7
	embedding *kernel.Batch // [tokens, C]: LN(emb; ln0)
	matrices  *kernel.Batch // [tokens, D]: E
	low       *kernel.Batch // [tokens, S]: down·xn
	mixed     *kernel.Batch // [tokens, S]: after E
	scale     *kernel.Batch // [tokens, F]
	tableRows *kernel.Batch // [tokens, D]: rows of the table
	deep      struct {
		multiply func(i int)
		apply    func(lo, hi int)
	}
}

func newV7a(r *runner, arena *kernel.Arena) (program, error) {
	plain, err := newV7(r, arena)
	if err != nil {
		return plain, err
	}
	p := &v7a{v7: asV7(plain)}
	s := r.model.shape
	rank, deep := s.Ranks[4], s.Dim(rwkv.DimDeep)
	p.embedding, p.matrices, p.tableRows = p.input(), p.batch(deep, false), p.batch(deep, false)
	p.low, p.mixed, p.scale = p.batch(rank, false), p.batch(rank, false), p.batch(s.FFN, false)
	p.deep.multiply, p.deep.apply = p.multiplyTokens, p.applyScale
	p.queueDeep, p.scaleDeep = p.queueBranch, p.scaleHidden
	r.kept = p.embedding
	return p, p.err
}

func asV7(p program) *v7 {
	v, ok := p.(*v7)
	if !ok {
		panic(fmt.Sprintf("the program of RWKV-7 is a %T", p))
	}
	return v
}

// v7aOf is a layer of a version 7a model as what it is.
func v7aOf(l layer) *v7aLayer {
	v, ok := l.(*v7aLayer)
	if !ok {
		panic(fmt.Sprintf("a layer of RWKV-7a is a %T", l))
	}
	return v
}

func (r *v7a) runLayer() {
	if r.layer == 0 {
		for t := range r.tokens {
			copy(r.embedding.Row(t), r.act.x.Row(t))
			r.quantise(r.embedding, t)
		}
	}
	r.v7.runLayer()
}

// queueBranch queues the products of the channel mix's inputs.
func (r *v7a) queueBranch() {
	r.queueProduct(func(l layer) *kernel.Matrix { return v7aOf(l).deep.residual }, r.embedding, r.matrices, nil)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7aOf(l).deep.down }, r.act.xn, r.low, nil)
}

// scaleHidden scales h.
func (r *v7a) scaleHidden() {
	r.eachToken(r.deep.multiply)
	r.queueProduct(func(l layer) *kernel.Matrix { return v7aOf(l).deep.up }, r.mixed, r.scale, r.deep.apply)
	r.runQueue()
}

// multiplyTokens completes E for a chunk of tokens and multiplies with it.
func (r *v7a) multiplyTokens(chunk int) {
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		e, own := r.matrices.Row(t), r.tableRows.Row(t)
		table := v7aOf(r.variantLayer(t)).deep.table
		if err := table.read(own, int(r.tokens[t])*table.width); err != nil {
			failed := fmt.Errorf("layer %d: %w", r.layer, err)
			r.failure.Store(&failed)
			return
		}
		r.path.Add(e, own)
		out := r.mixed.Row(t)
		clear(out)
		for i, x := range r.low.Row(t) {
			for j, v := range e[i*len(out) : (i+1)*len(out)] {
				out[j] += x * v
			}
		}
	}
}

// applyScale scales some columns of h and makes the int8 form of the result.
func (r *v7a) applyScale(lo, hi int) {
	h := r.ffn.hidden
	for t := range r.tokens {
		bias := v7aOf(r.variantLayer(t)).deep.bias[lo:hi]
		v, scale := h.Row(t)[lo:hi], r.scale.Row(t)[lo:hi]
		for i, b := range bias {
			v[i] *= scale[i] + b
		}
		if h.Quantised() {
			r.path.Quantise(h, t, lo, hi)
		}
	}
}

// v7aWeights are what synthetic weights of a layer are like.
func v7aWeights(s rwkv.Shape) map[string]distribution {
	return plainWeights(s).with(weights{
		"ffn.s_emb.weight":   spread(0, 0.2),
		"ffn.s_emb_x.weight": scaled(0.1, s.Embed),
		"ffn.s1":             scaled(1, s.Embed),
		"ffn.s2":             scaled(0.5, s.Ranks[4]),
		"ffn.s0":             around1,
	})
}
