package cpu

import (
	"fmt"

	"rookery/infer"
	"rookery/infer/cpu/kernel"
)

// A runner takes steps: it owns the activations and knows the batch being
// computed. Everything it needs is made once, closures included, so that a
// step allocates nothing.
type runner struct {
	model  *model
	pool   *kernel.Pool
	path   kernel.Path
	sparse *kernel.Sparse // for the products of relu²
	slots  *slots
	act    activations

	tokens    []int32 // of all rows, packed; rows of one variant lie together
	spans     []span  // the rows, by variant
	groups    []group // the variants
	owner     []int32 // for each token, its span
	wanted    []int32 // spans whose logits are wanted
	order     []int32 // rows by variant
	seen      []bool  // by slot: occurs in this step
	rows      []infer.Row
	drawn     []infer.Drawn
	layer     int              // being computed
	read      int64            // bytes of weights read in this step
	everyStep int64            // those of them that depend on nothing
	headMixes []kernel.TimeMix // of that layer, for each group

	variants map[infer.AdapterID]*variant // 0 is the model itself
	adapted  bool                         // a row of this step has an adapter
	extra    *extra                       // nil until an adapter is loaded
	queue    queue
	follow   follow
	reshapes []reshape

	regions regions
}

// A span is the place of a row's tokens in the batch, and its state.
type span struct {
	*variant
	row         int32 // of the step
	group       int32
	first, last int // tokens [first, last)
	state       []float32
}

// regions are the bodies of parallel regions, made once.
type regions struct {
	embed, norm1, shiftAtt, heads, norm2, shiftFFN, lnOut, sample func(i int)
	reshape, follow, route, square, gather, settle                func(i int)
	tanh, sigmoid, relu2, residual                                func(lo, hi int)
}

// activations are the batches of a step, [tokens, ...]. Several names share
// one batch where the second use comes after the last read of the first.
type activations struct {
	x  *kernel.Batch // residual stream
	xn *kernel.Batch // after ln1 or ln2; then output of a block, before it is added to x

	// x after token shift with each mix
	xr, xw, xk, xv, xa, xg *kernel.Batch

	r, k, v, vFirst *kernel.Batch

	decay, rate, values, gate *kernel.Batch // between the low-rank matrices

	hidden *kernel.Batch // [tokens, F]

	last   *kernel.Batch // [rows, C] after ln_out
	logits *kernel.Batch // [rows, V]

	// bytes of memory for each token and for each row with logits, and the
	// most of them in one step so far: memory never touched is never taken
	tokenBytes, rowBytes   int64
	mostTokens, mostWanted int
}

func newRunner(m *model, pool *kernel.Pool, arena *kernel.Arena, s *slots) (*runner, error) {
	r := &runner{
		model: m, pool: pool, path: pool.Path(), sparse: kernel.NewSparse(pool, maxTokens, m.shape.FFN), slots: s, seen: make([]bool, len(s.states)), everyStep: m.everyStepBytes(),
		variants: map[infer.AdapterID]*variant{0: {model: m}},
	}
	r.queue.path = r.path
	if err := r.act.reserve(m, arena, min(len(s.states), maxTokens)); err != nil {
		return nil, fmt.Errorf("reserve memory for activations: %w", err)
	}
	r.regions = regions{
		embed: r.embedTokens, norm1: r.normAtt, shiftAtt: r.shiftAtt, heads: r.runHead,
		norm2: r.normFFN, shiftFFN: r.shiftFFN, lnOut: r.normOut, sample: r.sampleRow,
		reshape: r.reshapeTokens, follow: r.runFollow, route: r.routeTokens, square: r.squareTokens,
		gather: r.gatherTokens, settle: r.settleTokens,
		tanh: r.tanhDecay, sigmoid: r.sigmoidGate, relu2: r.squareHidden, residual: r.addResidual,
	}
	return r, nil
}

// reserve makes the batches. Memory that no step touches is never used.
func (a *activations) reserve(m *model, arena *kernel.Arena, rows int) error {
	s, start := m.shape, arena.Used()
	quantised := m.typ == kernel.Q8
	var first error
	batch := func(n, cols int, quantised bool) *kernel.Batch {
		b, err := kernel.NewBatch(arena, n, cols, quantised)
		if err != nil && first == nil {
			first = err
		}
		return b
	}
	wide := func(quantised bool) *kernel.Batch { return batch(maxTokens, s.Embed, quantised) }
	rank := func(l lowRank) *kernel.Batch { return batch(maxTokens, l.down.Rows(), false) }

	a.x, a.xn = wide(false), wide(false)
	a.xr, a.xk, a.xv = wide(quantised), wide(quantised), wide(quantised)
	a.xw, a.xa, a.xg = wide(false), wide(false), wide(false)
	a.r, a.k, a.v, a.vFirst = wide(false), wide(false), wide(false), wide(false)
	top := &m.layers[len(m.layers)-1].att
	a.decay, a.rate, a.gate = rank(top.decay), rank(top.rate), rank(top.gate)
	if top.values.down != nil {
		a.values = rank(top.values)
	}
	a.hidden = batch(maxTokens, s.FFN, quantised)
	before := arena.Used()
	a.last = batch(rows, s.Embed, quantised)
	a.logits = batch(rows, s.Vocab, false)
	a.rowBytes = (arena.Used() - before) / int64(rows)
	a.tokenBytes = (before - start) / maxTokens
	return first
}

// bytes is the memory that steps have touched so far.
func (a *activations) bytes() int64 {
	return a.tokenBytes*int64(a.mostTokens) + a.rowBytes*int64(a.mostWanted)
}

// resize sets the number of tokens of every batch of tokens.
func (a *activations) resize(tokens int) {
	a.mostTokens = max(a.mostTokens, tokens)
	for _, b := range []*kernel.Batch{
		a.x, a.xn, a.xr, a.xw, a.xk, a.xv, a.xa, a.xg, a.r, a.k, a.v, a.vFirst,
		a.decay, a.rate, a.values, a.gate, a.hidden,
	} {
		if b != nil {
			b.Resize(tokens)
		}
	}
}

// tokenChunk is how many tokens a thread takes at once where the work on one
// is a few microseconds.
const tokenChunk = 4

// eachToken runs body over chunks of the batch's tokens.
func (r *runner) eachToken(body func(chunk int)) {
	r.pool.Run((len(r.tokens)+tokenChunk-1)/tokenChunk, body)
}

// chunk is the tokens of a chunk.
func (r *runner) chunk(i int) (lo, hi int) {
	return i * tokenChunk, min((i+1)*tokenChunk, len(r.tokens))
}

// quantise makes the int8 form of a row, if int8 matrices will read it.
func (r *runner) quantise(b *kernel.Batch, row int) {
	if b.Quantised() {
		r.path.Quantise(b, row, 0, b.Cols())
	}
}
