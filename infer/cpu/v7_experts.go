package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// experts is a mixture of LoRA experts on a layer's channel mix.
type experts struct {
	active     int
	strength   float32
	router     []float32 // [n-1, C]; the first expert has the score 0
	key, value []*delta  // nil: the expert changes nothing
}

func (m *variantMaker) addExperts(i int, e *adapter.Experts) {
	out := &experts{active: e.Active, strength: e.Strength, router: e.Router}
	for _, side := range []struct {
		from []*adapter.Delta
		to   *[]*delta
	}{{e.Key, &out.key}, {e.Value, &out.value}} {
		for _, d := range side.from {
			var own *delta
			switch {
			case d == nil:
			case d.OnlyMerged() || d.Form == adapter.DoRA:
				m.err = errors.Join(m.err, fmt.Errorf("experts of the form %s cannot be run; those of LoRA, PiSSA, DiSHA and BAT can", d.Form))
			default:
				own = m.newDelta(d)
			}
			*side.to = append(*side.to, own)
		}
	}
	m.v.deltas[i].experts, m.v.mole = out, true
}

// moleBatches are what experts need.
type moleBatches struct {
	arena              *kernel.Arena
	hidden             *kernel.Batch // [tokens, F] of one expert
	sum                *kernel.Batch // [tokens, F] of all, by their shares
	out                *kernel.Batch // [tokens, C] what the experts' second changes add
	bentIn, bent, full *kernel.Batch // of BAT experts: [tokens, C] and [tokens, F] inputs, [tokens, F] of the first product
	shares             []float32     // [tokens, most]
	most               int           // experts
	expert             int           // being computed
	bend               bend          // the inputs being changed
}

// reserveMole makes the batches for a variant's experts.
func (r *v7) reserveMole(v *variant) error {
	most := 0
	for _, l := range v.deltas {
		if l.experts != nil {
			most = max(most, len(l.experts.key))
		}
	}
	if most == 0 || r.mole != nil && r.mole.most >= most {
		return nil
	}
	b := &moleBatches{arena: kernel.NewArena(), most: most, shares: make([]float32, maxTokens*most)}
	s := r.model.shape
	var errs [6]error
	b.hidden, errs[0] = kernel.NewBatch(b.arena, maxTokens, s.FFN, false)
	b.sum, errs[1] = kernel.NewBatch(b.arena, maxTokens, s.FFN, false)
	b.out, errs[2] = kernel.NewBatch(b.arena, maxTokens, s.Embed, false)
	b.bentIn, errs[3] = kernel.NewBatch(b.arena, maxTokens, s.Embed, r.act.xk.Quantised())
	b.bent, errs[4] = kernel.NewBatch(b.arena, maxTokens, s.FFN, false)
	b.full, errs[5] = kernel.NewBatch(b.arena, maxTokens, s.FFN, false)
	if err := errors.Join(errs[:]...); err != nil {
		return errors.Join(fmt.Errorf("reserve memory for experts: %w", err), b.arena.Close())
	}
	err := r.closeMole()
	r.mole = b
	return err
}

func (r *v7) closeMole() error {
	if r.mole == nil {
		return nil
	}
	return r.mole.arena.Close()
}

// expertsOf is the mixture of a token's variant in the current layer, or nil.
func (r *v7) expertsOf(token int) *experts {
	v := r.spans[r.owner[token]].variant
	if !v.mole {
		return nil
	}
	return v.deltas[r.layer].experts
}

// haveExperts says whether any group has experts in the current layer.
func (r *v7) haveExperts() bool {
	return r.adapted && slices.ContainsFunc(r.groups, func(g group) bool { return g.mole && g.deltas[r.layer].experts != nil })
}

// runExperts turns the product of the first weight into the input of the second one,
// for the groups with experts:
//
//	hidden = Σ_e γ_e h_e,  h_e = relu²(hidden + Key_e z);  out = Σ_e γ_e Value_e h_e
//
// Experts of the form BAT bend the inputs of both products, z and h_e.
//
// of which a strength below 1 takes a part, and the rest from the model's own.
func (r *v7) runExperts() {
	if !r.haveExperts() {
		return
	}
	b := r.mole
	r.eachToken(r.regions.route)
	for b.expert = range b.most {
		r.expertProducts(func(e *experts) []*delta { return e.key }, adapter.FFNKey, r.act.xk, b.bentIn)
		r.eachToken(r.regions.square)
		r.expertProducts(func(e *experts) []*delta { return e.value }, adapter.FFNValue, b.hidden, b.bent)
		r.eachToken(r.regions.gather)
	}
	r.eachToken(r.regions.settle)
}

// expertProducts computes one expert's change of a product of x, in wide. Of a BAT
// expert it is that of the input that the expert bends, in bent.
func (r *v7) expertProducts(side func(*experts) []*delta, t adapter.Target, x, bent *kernel.Batch) {
	e, b := r.adapterBatches, r.mole
	each := func(do func(d *delta, g group)) {
		for _, g := range r.groups {
			if !g.mole || g.deltas[r.layer].experts == nil {
				continue
			}
			if ds := side(g.deltas[r.layer].experts); b.expert < len(ds) && ds[b.expert] != nil {
				do(ds[b.expert], g)
			}
		}
	}
	bends := false
	each(func(d *delta, g group) {
		if d.blocks != nil {
			bends = true
		} else {
			r.queue.addDown(d, g.first, g.last, x, e.low[t])
		}
	})
	r.runQueue()
	if bends {
		b.bend = bend{side, t, x, bent}
		r.eachToken(r.regions.bend)
	}
	each(func(d *delta, g group) {
		r.queue.products = append(r.queue.products, kernel.Product{
			W: d.up,
			X: r.queue.window(e.low[t], g.first, g.last, d.up.Cols()),
			Y: r.queue.window(e.wide[t], g.first, g.last, d.up.Rows()),
		})
		if d.blocks != nil && t == adapter.FFNKey {
			w := ffnKey(g.layers[r.layer])
			r.queue.products = append(r.queue.products, kernel.Product{
				W: w, X: r.queue.window(bent, g.first, g.last, w.Cols()), Y: r.queue.window(b.full, g.first, g.last, w.Rows()),
			})
		}
	})
	r.runQueue()
}

// A bend is the inputs that BAT experts change.
type bend struct {
	side    func(*experts) []*delta
	t       adapter.Target
	x, bent *kernel.Batch
}

// bendTokens makes the inputs of one BAT expert for a chunk of tokens.
func (r *v7) bendTokens(chunk int) {
	b := r.mole
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		e := r.expertsOf(t)
		if e == nil {
			continue
		}
		d := e.one(b.bend.side(e), b.expert)
		if d == nil || d.blocks == nil {
			continue
		}
		x := b.bend.bent.Row(t)
		copy(x, b.bend.x.Row(t))
		d.addBlocks(x, r.adapterBatches.low[b.bend.t].Row(t), r.adapterBatches.wide[b.bend.t].Row(t))
		r.quantise(b.bend.bent, t)
	}
}

// one is the change of one expert, or nil.
func (e *experts) one(of []*delta, expert int) *delta {
	if expert >= len(of) {
		return nil
	}
	return of[expert]
}

// routeTokens computes the experts' shares of a chunk of tokens.
func (r *v7) routeTokens(chunk int) {
	b := r.mole
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		e := r.expertsOf(t)
		if e == nil {
			continue
		}
		e.shareTokens(b.shares[t*b.most:(t+1)*b.most], r.act.xk.Row(t))
		clear(b.sum.Row(t))
		clear(b.out.Row(t))
	}
}

// shareTokens sets γ: the softmax of the active largest scores, 0 for the others. Of
// equal scores the first ones count.
func (e *experts) shareTokens(shares, z []float32) {
	clear(shares)
	n := len(e.key)
	scores := shares[:n]
	for i := 1; i < n; i++ {
		for j, w := range e.router[(i-1)*len(z) : i*len(z)] {
			scores[i] += w * z[j]
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	top, sum := scores[order[0]], float32(0)
	for _, i := range order[:e.active] {
		scores[i] = float32(math.Exp(float64(scores[i] - top)))
		sum += scores[i]
	}
	for rank, i := range order {
		if rank < e.active {
			scores[i] /= sum
		} else {
			scores[i] = 0
		}
	}
}

// squareTokens computes one expert's h for a chunk of tokens.
func (r *v7) squareTokens(chunk int) {
	b := r.mole
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		e := r.expertsOf(t)
		if e == nil {
			continue
		}
		h, d := b.hidden.Row(t), e.one(e.key, b.expert)
		if d != nil && d.blocks != nil {
			copy(h, b.full.Row(t))
		} else {
			copy(h, r.act.hidden.Row(t))
		}
		if d != nil {
			r.path.Add(h, r.adapterBatches.wide[adapter.FFNKey].Row(t))
		}
		r.path.SquaredReLU(h, h)
	}
}

// gatherTokens adds one expert's share of the second product's input to sum, and of
// its change to out.
func (r *v7) gatherTokens(chunk int) {
	b := r.mole
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		e := r.expertsOf(t)
		if e == nil {
			continue
		}
		share := b.shares[t*b.most+b.expert]
		if share == 0 {
			continue
		}
		h, d := b.hidden.Row(t), e.one(e.value, b.expert)
		if d != nil && d.blocks != nil {
			h = b.bent.Row(t)
		}
		for i, v := range h {
			b.sum.Row(t)[i] += share * v
		}
		if d == nil {
			continue
		}
		for i, v := range r.adapterBatches.wide[adapter.FFNValue].Row(t) {
			b.out.Row(t)[i] += share * v
		}
	}
}

// settleTokens replaces hidden by the sum of the experts and adds out to the residual
// stream.
func (r *v7) settleTokens(chunk int) {
	b := r.mole
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		e := r.expertsOf(t)
		if e == nil {
			continue
		}
		h := r.act.hidden.Row(t)
		if k := e.strength; k == 1 {
			copy(h, b.sum.Row(t))
		} else {
			r.path.SquaredReLU(h, h)
			for i, v := range b.sum.Row(t) {
				h[i] += k * (v - h[i])
			}
			for i := range b.out.Row(t) {
				b.out.Row(t)[i] *= k
			}
		}
		r.path.Add(r.act.x.Row(t), b.out.Row(t))
	}
}
