package cpu

import (
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// A group is the tokens of a step that are of one variant. They are adjacent.
type group struct {
	*variant
	first, last int
}

// groupSpans sets the groups of the batch, whose spans are sorted by variant.
func (r *runner) groupSpans() {
	r.groups = r.groups[:0]
	for i := range r.spans {
		s, n := &r.spans[i], len(r.groups)
		if n == 0 || r.groups[n-1].variant != s.variant {
			r.groups = append(r.groups, group{s.variant, s.first, s.last})
			n++
		}
		r.groups[n-1].last, s.group = s.last, int32(n-1)
	}
}

// A pick is a matrix of a layer.
type pick func(l layer) *kernel.Matrix

// queueProduct queues the product of the model's weight w with x for all tokens. then,
// if not nil, runs on the columns of y when they are complete.
func (r *runner) queueProduct(w pick, x, y *kernel.Batch, then func(lo, hi int)) {
	q := &r.queue
	if r.haveSame(w) {
		q.products = append(q.products, kernel.Product{W: w(r.groups[0].layers[r.layer]), X: x, Y: y, Then: then})
		return
	}
	for _, g := range r.groups {
		m := w(g.layers[r.layer])
		q.products = append(q.products, kernel.Product{W: m, X: q.window(x, g.first, g.last, x.Cols()), Y: q.window(y, g.first, g.last, y.Cols())})
	}
	if then != nil {
		q.followUps = append(q.followUps, followUp{then, y.Cols()})
	}
}

// haveSame says whether all groups have the same matrix.
func (r *runner) haveSame(w pick) bool {
	first := w(r.groups[0].layers[r.layer])
	for _, g := range r.groups[1:] {
		if w(g.layers[r.layer]) != first {
			return false
		}
	}
	return true
}

// queueDown queues low = down·x for the adapters that change a product of x.
func (r *runner) queueDown(t adapter.Target, x *kernel.Batch) {
	if !r.adapted {
		return
	}
	for _, g := range r.groups {
		if d := g.at(r.layer, t); d != nil && d.down != nil {
			r.queue.addDown(d, g.first, g.last, x, r.adapterBatches.low[t])
		}
	}
}

// queueUp queues y += up·low for the adapters that change a product.
func (r *runner) queueUp(t adapter.Target, y *kernel.Batch) {
	if !r.adapted {
		return
	}
	for _, g := range r.groups {
		if d := g.at(r.layer, t); d != nil {
			r.queue.addUp(d, g.first, g.last, r.adapterBatches.low[t], r.adapterBatches.wide[t], y)
		}
	}
}

// changesProduct says whether the adapter of any group changes one of the products.
func (r *runner) changesProduct(targets ...adapter.Target) bool {
	if !r.adapted {
		return false
	}
	for _, g := range r.groups {
		for _, t := range targets {
			if g.at(r.layer, t) != nil {
				return true
			}
		}
	}
	return false
}

// runQueue runs the queued products and then their follow-ups.
func (r *runner) runQueue() {
	q := &r.queue
	if len(q.products) > 0 {
		r.pool.Multiply(q.products...)
	}
	for _, f := range q.followUps {
		r.followUp = f
		r.pool.Run((f.cols+followCols-1)/followCols, r.regions.followUp)
	}
	q.reset()
}

// followCols is how many columns of a follow-up a thread takes at a time.
const followCols = 8 * kernel.PanelRows

// A followUp runs after a product that was queued group by group.
type followUp struct {
	then func(lo, hi int)
	cols int
}

func (r *runner) runFollowUp(i int) {
	r.followUp.then(i*followCols, min((i+1)*followCols, r.followUp.cols))
}

// A queue is the products of one parallel region. Its windows and sums are reused in
// every step, so that a step allocates nothing.
type queue struct {
	path      kernel.Path
	products  []kernel.Product
	followUps []followUp
	windows   []*kernel.Batch
	used      int // of windows
	sums      []*sum
	summing   int // of sums
}

func (q *queue) reset() {
	clear(q.products)
	q.products, q.followUps, q.used, q.summing = q.products[:0], q.followUps[:0], 0, 0
}

func (q *queue) window(b *kernel.Batch, first, last, cols int) *kernel.Batch {
	if q.used == len(q.windows) {
		q.windows = append(q.windows, new(kernel.Batch))
	}
	q.used++
	return b.Window(q.windows[q.used-1], first, last, cols)
}

func (q *queue) addDown(d *delta, first, last int, x, low *kernel.Batch) {
	q.products = append(q.products, kernel.Product{
		W: d.down, X: q.window(x, first, last, x.Cols()), Y: q.window(low, first, last, d.down.Rows()),
	})
}

func (q *queue) addUp(d *delta, first, last int, low, wide, y *kernel.Batch) {
	if q.summing == len(q.sums) {
		s := &sum{path: q.path}
		s.then = s.add
		q.sums = append(q.sums, s)
	}
	s := q.sums[q.summing]
	q.summing++
	s.dst, s.src, s.first, s.last = y, wide, first, last
	q.products = append(q.products, kernel.Product{
		W: d.up, X: q.window(low, first, last, d.up.Cols()), Y: q.window(wide, first, last, d.up.Rows()), Then: s.then,
	})
}

// A sum adds rows of one batch to those of another: dst += src.
type sum struct {
	path        kernel.Path
	dst, src    *kernel.Batch
	first, last int
	then        func(lo, hi int) // add, made once
}

func (s *sum) add(lo, hi int) {
	for t := s.first; t < s.last; t++ {
		s.path.Add(s.dst.Row(t)[lo:hi], s.src.Row(t)[lo:hi])
	}
}
