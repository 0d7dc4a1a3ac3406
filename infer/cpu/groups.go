package cpu

import (
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
)

// A group is the tokens of a step that are of one variant; they lie together.
type group struct {
	*variant
	first, last int
}

// regroup finds the groups of the batch, whose spans are sorted by variant.
func (r *runner) regroup() {
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

// A pick finds a matrix in a layer.
type pick func(l layer) *kernel.Matrix

// base asks for a product of the model's own weights. then follows it for all
// tokens, at once or, where variants have weights of their own, when all are
// there.
func (r *runner) base(w pick, x, y *kernel.Batch, then func(lo, hi int)) {
	q := &r.queue
	if r.shared(w) {
		q.products = append(q.products, kernel.Product{W: w(r.groups[0].layers[r.layer]), X: x, Y: y, Then: then})
		return
	}
	for _, g := range r.groups {
		m := w(g.layers[r.layer])
		q.products = append(q.products, kernel.Product{W: m, X: q.window(x, g.first, g.last, x.Cols()), Y: q.window(y, g.first, g.last, y.Cols())})
	}
	if then != nil {
		q.later = append(q.later, follow{then, y.Cols()})
	}
}

// shared says that all groups have the same matrix.
func (r *runner) shared(w pick) bool {
	first := w(r.groups[0].layers[r.layer])
	for _, g := range r.groups[1:] {
		if w(g.layers[r.layer]) != first {
			return false
		}
	}
	return true
}

// down asks for the first halves of what adapters change in a product of x.
func (r *runner) down(t adapter.Target, x *kernel.Batch) {
	if !r.adapted {
		return
	}
	for _, g := range r.groups {
		if d := g.at(r.layer, t); d != nil && d.down != nil {
			r.queue.down(d, g.first, g.last, x, r.extra.low[t])
		}
	}
}

// up asks for the second halves, which are added to y.
func (r *runner) up(t adapter.Target, y *kernel.Batch) {
	if !r.adapted {
		return
	}
	for _, g := range r.groups {
		if d := g.at(r.layer, t); d != nil {
			r.queue.up(d, g.first, g.last, r.extra.low[t], r.extra.wide[t], y)
		}
	}
}

// changes says whether any group changes a product of the layer.
func (r *runner) changes(targets ...adapter.Target) bool {
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

// multiply runs what was asked for.
func (r *runner) multiply() {
	q := &r.queue
	if len(q.products) > 0 {
		r.pool.Multiply(q.products...)
	}
	for _, f := range q.later {
		r.follow = f
		r.pool.Run((f.cols+followCols-1)/followCols, r.regions.follow)
	}
	q.reset()
}

// followCols is how many columns a thread takes of what follows a product.
const followCols = 8 * kernel.PanelRows

// A follow is what comes after a product that was cut into groups.
type follow struct {
	then func(lo, hi int)
	cols int
}

func (r *runner) runFollow(i int) {
	r.follow.then(i*followCols, min((i+1)*followCols, r.follow.cols))
}

// A queue is the products of one region. Its windows and sums are used again
// in every step, so that a step allocates nothing.
type queue struct {
	path     kernel.Path
	products []kernel.Product
	later    []follow
	windows  []*kernel.Batch
	used     int // of windows
	sums     []*sum
	summing  int // of sums
}

func (q *queue) reset() {
	clear(q.products)
	q.products, q.later, q.used, q.summing = q.products[:0], q.later[:0], 0, 0
}

func (q *queue) window(b *kernel.Batch, first, last, cols int) *kernel.Batch {
	if q.used == len(q.windows) {
		q.windows = append(q.windows, new(kernel.Batch))
	}
	q.used++
	return b.Window(q.windows[q.used-1], first, last, cols)
}

func (q *queue) down(d *delta, first, last int, x, low *kernel.Batch) {
	q.products = append(q.products, kernel.Product{
		W: d.down, X: q.window(x, first, last, x.Cols()), Y: q.window(low, first, last, d.down.Rows()),
	})
}

func (q *queue) up(d *delta, first, last int, low, wide, y *kernel.Batch) {
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

// A sum adds rows of one batch to those of another.
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
