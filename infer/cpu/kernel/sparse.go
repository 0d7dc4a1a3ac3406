package kernel

import "math"

// A Sparse multiplies a few rows of activations that are mostly zeros, such as
// those after relu², without reading the weights of columns that are zero in
// all rows. The sums are those of Pool.Multiply, bit for bit, for finite
// weights: what is left out is ±0. It belongs to one Pool and is used by the
// goroutine that uses the pool.
type Sparse struct {
	pool    *Pool
	tiles   *sparseTiles // nil where the path has none
	product Product
	step    int // panels in a chunk
	body    func(worker, chunk int)

	cols   []int32 // columns that are not zero in all rows, for float weights
	blocks []int32 // for Q8: number and count of groups of blocks that are not zero
	groups []int32 // for Q8: offsets of the weights and the quants of groups of 4 columns
}

// sparseTiles are the kernels of a path.
type sparseTiles struct {
	f32, f16, bf16 []sparseTile // those for most rows first, the last takes one
	q8             func(w *byte, blocks, groups *int32, n int, xq *int8, xs *float32, xo *int32, y *float32)
}

// A sparseTile multiplies listed columns of a panel with rows rows of x; see
// the generator.
type sparseTile struct {
	rows int
	run  func(w *byte, cols *int32, x, y *float32, xstride, ystride, n int)
}

const (
	// sparseAhead is how many entries of a list the kernels look ahead, to
	// prefetch; lists are padded by as many.
	sparseAhead = 16
	// sparseUnroll is what the length of a list of columns is a multiple of.
	sparseUnroll = 4
	// sparseRows is the number of rows up to which leaving out columns can pay.
	sparseRows = 4
)

// NewSparse makes a Sparse for matrices of up to cols columns.
func NewSparse(pool *Pool, cols int) *Sparse {
	s := &Sparse{
		pool:   pool,
		tiles:  sparsePaths[pool.path],
		cols:   make([]int32, cols+sparseUnroll+sparseAhead),
		blocks: make([]int32, 2*(cols/BlockSize)),
		groups: make([]int32, 2*(cols/4+sparseAhead)),
	}
	s.body = s.chunk
	return s
}

// Multiply computes one product, whose matrix has at most the columns of
// NewSparse, as Pool.Multiply does: in full where the activations have too few
// zeros, too many rows, or the path no kernels for it.
func (s *Sparse) Multiply(q Product) {
	q.check()
	if s.tiles == nil || q.X.rows == 0 || q.X.rows > sparseRows || !s.list(&q) {
		s.pool.Multiply(q)
		return
	}
	s.product = q
	panels := q.W.panels()
	s.step = (panels + s.pool.threads - 1) / s.pool.threads
	s.pool.parallel((panels+s.step-1)/s.step, s.body)
	s.product = Product{}
}

func (s *Sparse) chunk(_, chunk int) {
	q := &s.product
	first := chunk * s.step
	last := min(first+s.step, q.W.panels())
	for p := first; p < last; p++ {
		if q.W.typ == Q8 {
			s.panelQ8(q, p)
		} else {
			s.panelFloat(q, p)
		}
	}
	if q.Then != nil {
		q.Then(first*PanelRows, min(last*PanelRows, q.W.rows))
	}
}

func (s *Sparse) panelFloat(q *Product, p int) {
	list := s.tiles.float(q.W.typ)
	x, y := q.X, q.Y
	for i := 0; i < x.rows; {
		for x.rows-i < list[0].rows {
			list = list[1:]
		}
		list[0].run(&q.W.panel(p)[0], &s.cols[0], &x.data[i*x.stride], &y.data[i*y.stride+p*PanelRows],
			4*x.stride, 4*y.stride, len(s.cols))
		i += list[0].rows
	}
}

func (s *Sparse) panelQ8(q *Product, p int) {
	x, y := q.X, q.Y
	s.tiles.q8(&q.W.panel(p)[0], &s.blocks[0], &s.groups[0], len(s.blocks)/2,
		&x.quants[0], &x.scales[0], &x.offsets[0], &y.data[p*PanelRows])
}

func (t *sparseTiles) float(typ Type) []sparseTile {
	switch typ {
	case F16:
		return t.f16
	case BF16:
		return t.bf16
	default:
		return t.f32
	}
}

// list notes what is not zero in X. It says whether that is little enough.
func (s *Sparse) list(q *Product) bool {
	if q.W.typ == Q8 {
		return q.X.rows == 1 && s.listGroups(q.X)
	}
	return s.listCols(q.X)
}

// listCols makes the list of columns: where at most a third are not zero, for
// lines of memory here and there come slower than a stream. Entries that make
// the list a whole number of steps are of a column of zeros.
func (s *Sparse) listCols(x *Batch) bool {
	cols := s.cols[:x.cols]
	n := 0
	zero := int32(-1)
	for k := range x.cols {
		var bits uint32
		for i := range x.rows {
			bits |= math.Float32bits(x.data[i*x.stride+k]) << 1
		}
		cols[n] = int32(k)
		if bits != 0 {
			n++
		} else {
			zero = int32(k)
		}
	}
	if n == 0 || 3*n > x.cols {
		return false
	}
	s.cols = s.cols[:cap(s.cols)]
	end := padded(n, sparseUnroll)
	for i := n; i < end+sparseAhead; i++ {
		s.cols[i] = zero
	}
	s.cols = s.cols[:end]
	return true
}

// listGroups makes the lists of blocks and groups for a single row: where at
// most two thirds of the groups are not zero.
func (s *Sparse) listGroups(x *Batch) bool {
	blocks, groups := s.blocks[:0], s.groups[:0]
	for b := range x.cols / BlockSize {
		before := len(groups)
		for j := range BlockSize / 4 {
			at := b*BlockSize + 4*j
			q := x.quants[at : at+4 : at+4]
			if q[0]|q[1]|q[2]|q[3] != 0 {
				groups = append(groups, int32(b*q8BlockBytes+j*4*PanelRows), int32(at))
			}
		}
		if n := len(groups) - before; n > 0 {
			blocks = append(blocks, int32(b), int32(n/2))
		}
	}
	if len(blocks) == 0 || 6*len(groups) > 2*x.cols {
		return false
	}
	s.blocks, s.groups = blocks, groups
	for range sparseAhead {
		groups = append(groups, groups[len(groups)-2], groups[len(groups)-1])
	}
	return true
}
