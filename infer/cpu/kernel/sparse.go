package kernel

// A Sparse multiplies activations that are mostly zeros, such as those after
// relu², without reading the weights that meet a zero. The sums are those of
// Pool.Multiply, bit for bit, for finite weights: what is left out is ±0. A
// Sparse belongs to one Pool and is used by the goroutine that uses the pool.
type Sparse struct {
	pool    *Pool
	tiles   *sparseTiles // nil where the path has none
	product Product
	step    int // panels in a chunk
	listing func(worker, chunk int)
	running func(worker, chunk int)

	rows []sparseRow // for float weights

	blocks []int32 // for Q8: number and count of groups of blocks that are not zero
	groups []int32 // for Q8: offsets of the weights and the quants of groups of 4 columns
}

// A sparseRow is the columns of a row of activations that are not zero.
type sparseRow struct {
	cols  []int32 // as long as there is room; see count
	count int     // of the list, with padding; 0: the row has too few zeros
}

// sparseTiles are the kernels of a path.
type sparseTiles struct {
	f32, f16, bf16 [2]skipTile // for one and for two panels
	q8             func(w *byte, blocks, groups *int32, n int, xq *int8, xs *float32, xo *int32, y *float32)
	// nonzero lists which of n values, a multiple of 16, are not zero, as
	// their indices plus first. There is room for 16 entries more.
	nonzero func(dst *int32, x *float32, first, n int) int
}

// A skipTile multiplies listed columns with one row; see the generator.
type skipTile func(w *byte, cols *int32, x, y *float32, panel, n int)

const (
	// sparseFew and sparseMany are the parts of the activations, one in so
	// many, up to which reading only their columns is faster than reading all
	// in a stream, for one or two rows and for more, which share a stream.
	sparseFew, sparseMany = 3, 6
	// sparsePiece is how many columns are listed at a time.
	sparsePiece = 256
	// sparseAhead is how many entries of a list the kernels look ahead, to
	// prefetch; lists are padded by as many.
	sparseAhead = 16
	// sparseUnroll is what the length of a list of columns is a multiple of.
	sparseUnroll = 4
)

// NewSparse makes a Sparse for up to rows rows of activations and matrices of
// up to cols columns.
func NewSparse(pool *Pool, rows, cols int) *Sparse {
	s := &Sparse{
		pool:   pool,
		tiles:  sparsePaths[pool.path],
		rows:   make([]sparseRow, rows),
		blocks: make([]int32, 2*(padded(cols, BlockSize)/BlockSize)),
		groups: make([]int32, 2*(cols/4+sparseAhead)),
	}
	room := cols/sparseFew + sparsePiece + sparseUnroll + sparseAhead
	lists := make([]int32, rows*room)
	for i := range s.rows {
		s.rows[i].cols = lists[i*room : (i+1)*room : (i+1)*room]
	}
	s.listing, s.running = s.listRow, s.runPanels
	return s
}

// Multiply computes one product of at most the rows and columns of NewSparse,
// as Pool.Multiply does: in full where the activations have too few zeros or
// the path has no kernels for it. It returns how many bytes of weights it read,
// at most: what two rows both need is counted twice.
func (s *Sparse) Multiply(q Product) (read int64) {
	q.check()
	s.product = q
	defer func() { s.product = Product{} }()
	if s.tiles == nil || q.X.rows == 0 || !s.list() {
		s.pool.Multiply(q)
		return q.W.Bytes()
	}
	panels := q.W.panels()
	s.step = padded((panels+s.pool.threads-1)/s.pool.threads, 2)
	if q.X.rows >= blockedRows {
		s.step = 2
	}
	s.pool.parallel((panels+s.step-1)/s.step, s.running)
	return min(s.listedBytes(), q.W.Bytes())
}

// listedBytes is the size of the weights in the lists.
func (s *Sparse) listedBytes() int64 {
	q, n := &s.product, 0
	if q.W.typ == Q8 {
		const group, scales = 4 * PanelRows, 2 * PanelRows
		n = len(s.groups)/2*group + len(s.blocks)/2*scales
	} else {
		for i := range q.X.rows {
			n += s.rows[i].count * q.W.typ.panelBytes(1)
		}
	}
	return int64(n) * int64(q.W.panels())
}

// runPanels computes a chunk of panels. With many rows, two panels stay in the
// L2 cache while all rows pass over them.
func (s *Sparse) runPanels(_, chunk int) {
	q := &s.product
	first := chunk * s.step
	last := min(first+s.step, q.W.panels())
	for p := first; p < last; p += 2 {
		n := min(2, last-p)
		if q.W.typ != Q8 {
			s.panelsFloat(q, p, n)
			continue
		}
		for i := range n {
			s.panelQ8(q, p+i)
		}
	}
	if q.Then != nil {
		q.Then(first*PanelRows, min(last*PanelRows, q.W.rows))
	}
}

// panelsFloat applies panels p to p+n, one or two, to all rows.
func (s *Sparse) panelsFloat(q *Product, p, n int) {
	x, y, w := q.X, q.Y, &q.W.panel(p)[0]
	run := s.tiles.float(q.W.typ)[n-1]
	for i := range x.rows {
		list := &s.rows[i]
		run(w, &list.cols[0], &x.data[i*x.stride], &y.data[i*y.stride+p*PanelRows], q.W.panelSize, list.count)
	}
}

func (s *Sparse) panelQ8(q *Product, p int) {
	x, y := q.X, q.Y
	s.tiles.q8(&q.W.panel(p)[0], &s.blocks[0], &s.groups[0], len(s.blocks)/2,
		&x.quants[0], &x.scales[0], &x.offsets[0], &y.data[p*PanelRows])
}

func (t *sparseTiles) float(typ Type) *[2]skipTile {
	switch typ {
	case F16:
		return &t.f16
	case BF16:
		return &t.bf16
	default:
		return &t.f32
	}
}

// list notes what is not zero in X and says whether that is little enough.
func (s *Sparse) list() bool {
	x := s.product.X
	if s.product.W.typ == Q8 {
		return x.rows == 1 && s.listGroups(x)
	}
	s.pool.parallel(x.rows, s.listing)
	total := 0
	for i := range x.rows {
		if s.rows[i].count == 0 {
			return false
		}
		total += s.rows[i].count
	}
	return x.rows <= 2 || total <= x.rows*x.cols/sparseMany
}

// listRow lists the columns of a row that are not zero, padded with columns
// that are.
func (s *Sparse) listRow(_, i int) {
	x, row := s.product.X.Row(i), &s.rows[i]
	row.count = 0
	n := 0
	for k := 0; k < len(x); k += sparsePiece {
		n += s.tiles.list(row.cols[n:], x[k:min(k+sparsePiece, len(x))], k)
		if n > len(x)/sparseFew {
			return
		}
	}
	end := padded(max(n, 1), sparseUnroll)
	zero := firstZero(x)
	for j := n; j < end+sparseAhead; j++ {
		row.cols[j] = zero
	}
	row.count = end
}

// list notes the indices, plus first, of values that are not zero.
func (t *sparseTiles) list(dst []int32, x []float32, first int) int {
	if t.nonzero != nil && len(x)%16 == 0 {
		return t.nonzero(&dst[0], &x[0], first, len(x))
	}
	n := 0
	for k, v := range x {
		dst[n] = int32(first + k)
		if v != 0 {
			n++
		}
	}
	return n
}

// firstZero is a column of zeros; listRow only asks where there are some.
func firstZero(x []float32) int32 {
	for k, v := range x {
		if v == 0 {
			return int32(k)
		}
	}
	return 0
}

// listGroups makes the lists of blocks and groups for a single row: where at
// most two thirds of the groups are not zero.
func (s *Sparse) listGroups(x *Batch) bool {
	blocks, groups := s.blocks[:0], s.groups[:0]
	for b := range padded(x.cols, BlockSize) / BlockSize {
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
