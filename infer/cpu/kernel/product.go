package kernel

import "fmt"

// A Product is one matrix applied to every row of a batch: Y = X·Wᵀ.
type Product struct {
	W *Matrix
	X *Batch // Cols is W.Cols(); for Q8, the int8 form is read
	Y *Batch // Cols is W.Rows(); at least as many rows as X
	// Then, if not nil, is called after outputs lo to hi (columns of Y, lo a
	// multiple of PanelRows) of all rows are there, by the thread that made
	// them, once for every part. It is the place for what follows elementwise:
	// an activation function, a residual, quantisation.
	Then func(lo, hi int)
}

func (p *Product) check() {
	switch {
	case p.X.cols != p.W.cols, p.Y.cols != p.W.rows, p.Y.cap < p.X.rows:
		panic(fmt.Sprintf("kernel: product of %d x %d weights with %d x %d activations into %d x %d",
			p.W.rows, p.W.cols, p.X.rows, p.X.cols, p.Y.cap, p.Y.cols))
	case p.W.typ == Q8 && p.X.qstride == 0:
		panic("kernel: product of int8 weights with activations that have no int8 form")
	}
}

// run computes panels first to last.
func (p *Product) run(path Path, first, last int, scratch []float32) {
	tables[path].product(p.W, p.X, p.Y, first, last, scratch)
	if p.Then != nil {
		p.Then(first*PanelRows, min(last*PanelRows, p.W.rows))
	}
}

// Multiply computes all products in one parallel region: those that do not
// depend on each other's results belong in one call. It returns when all
// outputs are there.
func (p *Pool) Multiply(products ...Product) {
	total := 0
	p.jobs = p.jobs[:0]
	for i := range products {
		q := &products[i]
		q.check()
		if q.X.rows == 0 {
			continue
		}
		step := p.chunkPanels(q)
		p.jobs = append(p.jobs, job{Product: *q, step: step, first: total})
		total += (q.W.panels() + step - 1) / step
	}
	p.parallel(total, p.multiply)
	clear(p.jobs)
}

// A job is a Product cut into chunks.
type job struct {
	Product
	step  int // panels in a chunk
	first int // number of its first chunk
}

// chunkPanels is how many panels a thread takes at once. Decoding streams the
// weights, and one long stream for each thread is what the prefetchers like.
// With many rows it is arithmetic that counts, and smaller chunks balance
// better.
func (p *Pool) chunkPanels(q *Product) int {
	panels := q.W.panels()
	share := (panels + p.threads - 1) / p.threads
	if q.X.rows < blockedRows {
		return share
	}
	return max(1, min(prefillPanels, share/2))
}

// prefillPanels bounds a chunk of a blocked product: the outputs of so many
// panels and 512 rows stay in the L2 cache.
const prefillPanels = 8

// multiplyChunk is the body of Multiply's region.
func (p *Pool) multiplyChunk(worker, chunk int) {
	i := len(p.jobs) - 1
	for p.jobs[i].first > chunk {
		i--
	}
	j := &p.jobs[i]
	first := (chunk - j.first) * j.step
	j.run(p.path, first, min(first+j.step, j.W.panels()), p.scratch[worker])
}

const (
	// blockCols is the number of columns that a blocked product takes at a
	// time: the widened weights of a panel, 32 KB, and a tile of activations
	// stay near the core.
	blockCols = 256
	// blockedRows is the number of rows from which that pays.
	blockedRows = 16
)
