package cpu

import (
	"cmp"
	"fmt"
	"slices"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// Step feeds every row's tokens to its slot and draws for rows with a Sampler. An
// error of a file that is read meanwhile leaves the rows' states undefined.
func (b *Backend) Step(rows []infer.Row, drawn []infer.Drawn) error {
	if err := b.run.packBatch(rows, drawn); err != nil {
		return fmt.Errorf("step of %d rows: %w", len(rows), err)
	}
	b.run.runForward()
	if err := b.run.failure.Swap(nil); err != nil {
		return *err
	}
	return nil
}

// packBatch checks the rows of a step and packs their tokens.
func (r *runner) packBatch(rows []infer.Row, drawn []infer.Drawn) error {
	if len(drawn) != len(rows) {
		return fmt.Errorf("room for %d results", len(drawn))
	}
	if err := r.checkRows(rows); err != nil {
		return err
	}
	r.rows, r.drawn = rows, drawn
	r.tokens, r.spans, r.owner, r.wanted = r.tokens[:0], r.spans[:0], r.owner[:0], r.wanted[:0]
	r.sortRows(rows)
	for i, at := range r.order {
		row, first := &rows[at], len(r.tokens)
		r.tokens = append(r.tokens, row.Tokens...)
		r.spans = append(r.spans, span{
			variant: r.variants[row.Adapter], row: at, first: first, last: len(r.tokens), state: r.slots.state(row.Slot),
		})
		for range row.Tokens {
			r.owner = append(r.owner, int32(i))
		}
		if row.Sampler != nil || row.Logits != nil {
			r.wanted = append(r.wanted, int32(i))
		}
	}
	r.groupSpans()
	return nil
}

// sortRows sorts the rows by adapter, so that those of one adapter are adjacent.
func (r *runner) sortRows(rows []infer.Row) {
	r.order, r.adapted = r.order[:0], false
	for i, row := range rows {
		r.order = append(r.order, int32(i))
		r.adapted = r.adapted || row.Adapter != 0
	}
	if r.adapted {
		slices.SortStableFunc(r.order, func(a, b int32) int { return cmp.Compare(rows[a].Adapter, rows[b].Adapter) })
	}
}

func (r *runner) checkRows(rows []infer.Row) error {
	vocab := r.model.shape.Vocab
	clear(r.seen)
	tokens := 0
	for i, row := range rows {
		if err := r.slots.check(row.Slot); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if r.seen[row.Slot] {
			return fmt.Errorf("row %d: slot %d occurs twice", i, row.Slot)
		}
		r.seen[row.Slot] = true
		if len(row.Tokens) == 0 {
			return fmt.Errorf("row %d: no tokens", i)
		}
		if r.variants[row.Adapter] == nil {
			return fmt.Errorf("row %d: adapter %d is not loaded", i, row.Adapter)
		}
		if row.Logits != nil && len(row.Logits) != vocab {
			return fmt.Errorf("row %d: room for %d logits where the model has %d", i, len(row.Logits), vocab)
		}
		for _, t := range row.Tokens {
			if t < 0 || int(t) >= vocab {
				return fmt.Errorf("row %d: token %d is not one of the model's, 0 to %d", i, t, vocab-1)
			}
		}
		tokens += len(row.Tokens)
	}
	if tokens > maxTokens {
		return fmt.Errorf("%d tokens, and at most %d fit in one step", tokens, maxTokens)
	}
	return nil
}

// runForward computes the packed batch: embedding, layers and head.
func (r *runner) runForward() {
	r.read = 0
	if len(r.tokens) == 0 {
		return
	}
	r.read = r.everyStep
	r.resize(len(r.tokens))
	r.eachToken(r.regions.embed)
	for r.layer = range r.model.layers {
		r.program.runLayer()
	}
	r.runHead()
}

// keepLast drops from the batch (the residual stream and y) the tokens that nothing
// depends on once the time mix of the last layer has updated the states. It keeps the
// last token of each row and the one before it, whose input the token shift reads. The
// output of that one is wrong from here on, and not used.
func (r *runner) keepLast(y *kernel.Batch) {
	if len(r.tokens) == len(r.spans) {
		return
	}
	a, n := &r.act, 0
	for i := range r.spans {
		s := &r.spans[i]
		first := n
		for t := max(s.first, s.last-2); t < s.last; t++ {
			r.tokens[n] = r.tokens[t]
			copy(a.x.Row(n), a.x.Row(t))
			if r.kept != nil {
				copy(r.kept.Row(n), r.kept.Row(t))
				r.quantise(r.kept, n)
			}
			copy(y.Row(n), y.Row(t))
			r.quantise(y, n)
			r.owner[n] = int32(i)
			n++
		}
		s.first, s.last = first, n
	}
	r.tokens = r.tokens[:n]
	r.resize(n)
	r.groupSpans()
}

// embedTokens looks up x = LN(emb[token]; ln0).
func (r *runner) embedTokens(chunk int) {
	lo, hi := r.chunk(chunk)
	for t := lo; t < hi; t++ {
		m, x := r.spans[r.owner[t]].model, r.act.x.Row(t)
		m.emb.Row(x, int(r.tokens[t]))
		r.path.LayerNorm(x, x, m.ln0.weight, m.ln0.bias, normEps)
	}
}

// runHead computes the logits after the last token of the rows that want them, and
// draws.
func (r *runner) runHead() {
	n := len(r.wanted)
	if n == 0 {
		return
	}
	r.act.mostWanted = max(r.act.mostWanted, n)
	r.act.last.Resize(n)
	r.act.logits.Resize(n)
	r.read += r.model.head.Bytes()
	r.pool.Run(n, r.regions.lnOut)
	if r.adapted {
		r.runAdaptedHead()
	} else {
		r.pool.Multiply(kernel.Product{W: r.model.head, X: r.act.last, Y: r.act.logits})
	}
	r.pool.Run(n, r.regions.sample)
}

// runAdaptedHead computes the logits group by group.
func (r *runner) runAdaptedHead() {
	a, q := &r.act, &r.queue
	for first := 0; first < len(r.wanted); {
		v, last := r.spans[r.wanted[first]].variant, first
		for last < len(r.wanted) && r.spans[r.wanted[last]].variant == v {
			last++
		}
		q.products = append(q.products, kernel.Product{W: v.model.head, X: q.window(a.last, first, last, a.last.Cols()), Y: q.window(a.logits, first, last, a.logits.Cols())})
		r.multiplyHead(v, first, last)
		first = last
	}
}

// multiplyHead runs the queued product of wanted rows first to last-1, with what the
// adapter changes in it.
func (r *runner) multiplyHead(v *variant, first, last int) {
	a, q := &r.act, &r.queue
	d, t := v.head, adapter.Head
	if d.reshapes() {
		for i := first; i < last; i++ {
			x := a.last.Row(i)
			if d.gain != nil {
				for j, g := range d.gain {
					x[j] *= g
				}
			} else {
				d.addBlocks(x, r.adapterBatches.low[t].Row(i), r.adapterBatches.wide[t].Row(i))
			}
			r.quantise(a.last, i)
		}
	}
	if d != nil && d.down != nil {
		q.addDown(d, first, last, a.last, r.adapterBatches.low[t])
	}
	r.runQueue()
	if d != nil {
		q.addUp(d, first, last, r.adapterBatches.low[t], r.adapterBatches.wide[t], a.logits)
		r.runQueue()
	}
}

func (r *runner) normOut(i int) {
	s := &r.spans[r.wanted[i]]
	last, ln := s.last-1, &s.lnOut
	r.path.LayerNorm(r.act.last.Row(i), r.act.x.Row(last), ln.weight, ln.bias, normEps)
	r.quantise(r.act.last, i)
}

// sampleRow copies the logits of one row to its caller and draws from them.
func (r *runner) sampleRow(i int) {
	at := r.spans[r.wanted[i]].row
	row, logits := &r.rows[at], r.act.logits.Row(i)
	if row.Logits != nil {
		copy(row.Logits, logits)
	}
	if row.Sampler == nil {
		return
	}
	d := &r.drawn[at]
	d.Top = nil
	if row.Top > 0 {
		d.Top = row.Sampler.Top(logits, row.Top)
	}
	d.Token, d.LogProb = row.Sampler.Sample(logits)
}
