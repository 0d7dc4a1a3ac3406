package cpu

import (
	"errors"
	"fmt"
	"sync/atomic"

	"rookery/infer"
	"rookery/infer/cpu/kernel"
)

// A runner computes steps. It owns the activations and holds the current batch.
// All it needs is made once, closures included, so that a step allocates nothing.
type runner struct {
	model  *model
	pool   *kernel.Pool
	path   kernel.Path
	sparse *kernel.Sparse // for products whose input is mostly zero
	slots  *slots
	act    activations

	tokens    []int32 // of all rows; rows of one variant are adjacent
	spans     []span  // the rows, by variant
	groups    []group // the variants
	owner     []int32 // for each token the index of its span
	wanted    []int32 // indices of the spans whose logits are wanted
	order     []int32 // indices of the rows, sorted by variant
	seen      []bool  // by slot: it occurs in this step
	rows      []infer.Row
	drawn     []infer.Drawn
	layer     int     // the current one
	read      int64   // bytes of weights read in this step
	everyStep int64   // the part of read that is the same for every batch
	program   program // the layers of the model's version
	// kept is a batch of tokens that a version reads in every layer, or nil.
	kept    *kernel.Batch
	failure atomic.Pointer[error] // the last one of reading a table in this step

	variants       map[infer.AdapterID]*variant // 0 is the base model
	adapted        bool                         // any row of this step has an adapter
	adapterBatches *adapterBatches              // nil until an adapter is loaded
	queue          queue
	followUp       followUp
	reshapes       []reshape

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
	embed, lnOut, sample, reshape, followUp func(i int)
}

// activations are the batches of a step that every version has.
type activations struct {
	x  *kernel.Batch // residual stream, [tokens, C]
	xn *kernel.Batch // after ln1 or ln2; then output of a block, before it is added to x

	last   *kernel.Batch // [rows, C] after ln_out
	logits *kernel.Batch // [rows, V]

	// Bytes of memory for each token and each row with logits, and the most of both
	// in one step so far: memory that no step touches is never taken.
	tokenBytes, rowBytes   int64
	mostTokens, mostWanted int
}

func newRunner(m *model, pool *kernel.Pool, arena *kernel.Arena, s *slots) (*runner, error) {
	r := &runner{
		model: m, pool: pool, path: pool.Path(), sparse: kernel.NewSparse(pool, maxTokens, m.shape.FFN), slots: s, seen: make([]bool, len(s.states)), everyStep: m.everyStepBytes(),
		variants: map[infer.AdapterID]*variant{0: {model: m}},
	}
	r.queue.path = r.path
	if err := r.reserve(arena, min(len(s.states), maxTokens)); err != nil {
		return nil, fmt.Errorf("reserve memory for activations: %w", err)
	}
	r.regions = regions{embed: r.embedTokens, lnOut: r.normOut, sample: r.sampleRow, reshape: r.reshapeTokens, followUp: r.runFollowUp}
	return r, nil
}

// reserve makes the batches. Memory that no step touches is never used.
func (r *runner) reserve(arena *kernel.Arena, rows int) (err error) {
	a, m, start := &r.act, r.model, arena.Used()
	var errs [4]error
	a.x, errs[0] = kernel.NewBatch(arena, maxTokens, m.shape.Embed, false)
	a.xn, errs[1] = kernel.NewBatch(arena, maxTokens, m.shape.Embed, false)
	if r.program, err = versions[m.shape.Version].program(r, arena); err != nil {
		return err
	}
	before := arena.Used()
	a.last, errs[2] = kernel.NewBatch(arena, rows, m.shape.Embed, m.typ == kernel.Q8)
	a.logits, errs[3] = kernel.NewBatch(arena, rows, m.shape.Vocab, false)
	a.rowBytes = (arena.Used() - before) / int64(rows)
	a.tokenBytes = (before - start) / maxTokens
	return errors.Join(errs[:]...)
}

// bytes is the memory that steps have touched so far.
func (a *activations) bytes() int64 {
	return a.tokenBytes*int64(a.mostTokens) + a.rowBytes*int64(a.mostWanted)
}

// resize sets the number of tokens of every batch of tokens.
func (r *runner) resize(tokens int) {
	r.act.mostTokens = max(r.act.mostTokens, tokens)
	r.act.x.Resize(tokens)
	r.act.xn.Resize(tokens)
	r.program.resize(tokens)
}

// tokenChunk is how many tokens a thread takes at a time where one takes a few
// microseconds.
const tokenChunk = 4

// eachToken runs body over chunks of the batch's tokens.
func (r *runner) eachToken(body func(chunk int)) {
	r.pool.Run((len(r.tokens)+tokenChunk-1)/tokenChunk, body)
}

// chunk is the range of tokens of chunk i.
func (r *runner) chunk(i int) (lo, hi int) {
	return i * tokenChunk, min((i+1)*tokenChunk, len(r.tokens))
}

// quantise makes the int8 form of a row if int8 matrices read it.
func (r *runner) quantise(b *kernel.Batch, row int) {
	if b.Quantised() {
		r.path.Quantise(b, row, 0, b.Cols())
	}
}
