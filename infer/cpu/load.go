package cpu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"

	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// taskValues is about how many weights a thread converts at a time.
const taskValues = 1 << 18

// A loader builds a model from a source. build reads the vectors, reserves the
// matrices and lists the conversions; convert then fills the matrices on all
// threads, each with one buffer.
type loader struct {
	src   source
	arena *kernel.Arena
	typ   kernel.Type
	tasks []task
	total int64 // weights of all tasks
	err   error // the first error of building
}

// A task converts some rows of a matrix.
type task struct {
	weights int
	run     func(buf []float32) error
	buf     int // values the buffer must hold
}

// build makes a model of a shape, whose matrices are still empty.
func (l *loader) build(s rwkv.Shape) (*model, error) {
	m := &model{shape: s, typ: l.typ}
	at := m.places()
	for _, spec := range s.ModelTensors() {
		l.tensor(at[spec.Name], spec.Name, spec, s)
	}
	for i := range s.Layers {
		own := versions[s.Version].layer()
		at := own.places()
		for _, spec := range s.LayerTensors() {
			if i > 0 || !spec.NotFirst {
				l.tensor(at[spec.Name], rwkv.LayerName(i, spec.Name), spec, s)
			}
		}
		m.layers = append(m.layers, own)
	}
	return m, l.err
}

// tensor reads or reserves one tensor and puts it in its place.
func (l *loader) tensor(place any, name string, spec rwkv.TensorSpec, s rwkv.Shape) {
	switch p := place.(type) {
	case *[]float32:
		*p = l.vector(name, spec, s)
	case **kernel.Matrix:
		if sizes := spec.Sizes(s); spec.Kind == rwkv.LowRank {
			*p = l.lowRank(name, part{in: sizes[0], out: sizes[1]}.of(l.stored(name, sizes), 0, 1))
		} else {
			*p = l.matrix(name, sizes[0], sizes[1])
		}
	case **table:
		*p = l.table(name, spec, s)
	case *stack:
		for i := range p {
			p[i] = l.lowRank(name, partOf(spec, s, l.stored(name, spec.Sizes(s)), i))
		}
	default:
		l.err = cmp.Or(l.err, fmt.Errorf("tensor %s: the CPU has no place for it", name))
	}
}

func (l *loader) vector(name string, spec rwkv.TensorSpec, s rwkv.Shape) []float32 {
	if l.err != nil {
		return nil
	}
	if spec.Log != "" {
		if v, err := l.src.vector(spec.LogName(name), spec.Len(s)); err == nil {
			for i, x := range v {
				v[i] = float32(math.Exp(float64(x)))
			}
			return v
		}
	}
	v, err := l.src.vector(name, spec.Len(s))
	l.err = err
	return v
}

// table finds a tensor that stays in the file.
func (l *loader) table(name string, spec rwkv.TensorSpec, s rwkv.Shape) *table {
	if l.err != nil {
		return nil
	}
	t, err := l.src.sized(name, spec.Len(s))
	l.err = err
	return &table{width: s.Dim(spec.Dims[1]), read: t.read}
}

// matrix reserves a large matrix [rows, cols] and adds the tasks that fill it.
func (l *loader) matrix(name string, rows, cols int) *kernel.Matrix {
	t, m := l.reserve(name, l.typ, rows, cols, rows*cols)
	if m == nil {
		return nil
	}
	step := max(taskValues/cols/kernel.PanelRows, 1) * kernel.PanelRows
	for lo := 0; lo < rows; lo += step {
		hi := min(lo+step, rows)
		l.addTask(task{weights: (hi - lo) * cols, buf: cols, run: func(buf []float32) error {
			return copyRows(m, t, lo, hi, buf)
		}})
	}
	return m
}

// copyRows fills rows [lo, hi) of m from a tensor of the same shape. It copies the
// blocks of an int8 file as they are.
func copyRows(m *kernel.Matrix, t tensor, lo, hi int, buf []float32) error {
	cols := m.Cols()
	if m.Type() == kernel.Q8 && cols%checkpoint.Q8Block == 0 {
		const n = checkpoint.Q8Block
		ok, err := t.blocks(lo*cols, (hi-lo)*cols, func(values []int8, scales []uint16) {
			for r := range hi - lo {
				m.SetRowBlocks(lo+r, values[r*cols:(r+1)*cols], scales[r*cols/n:(r+1)*cols/n])
			}
		})
		if ok || err != nil {
			return err
		}
	}
	for r := lo; r < hi; r++ {
		if err := t.read(buf[:cols], r*cols); err != nil {
			return err
		}
		m.SetRow(r, buf[:cols])
	}
	return nil
}

// A part is a low-rank matrix [in, out] in a tensor, which has rows × cols of it: a
// layer with a smaller rank has zeros for the rest.
type part struct{ in, out, rows, cols, first, stride, all int }

// of is the matrix in columns n·cols of a tensor with dims, where n·of such matrices
// are beside each other.
func (p part) of(dims []int, n, of int) part {
	p.rows, p.cols, p.stride, p.all = dims[0], dims[1]/of, dims[1], dims[0]*dims[1]
	p.first = n * p.cols
	return p
}

// partOf is matrix i of a stack's tensor: [n, in, out], or [in, n·out] where all of
// them read the same. dims are those of the tensor.
func partOf(spec rwkv.TensorSpec, s rwkv.Shape, dims []int, i int) part {
	sizes := spec.Sizes(s)
	if spec.Kind == rwkv.LowRanks {
		p := part{in: sizes[1], out: sizes[2]}.of(dims[1:], 0, 1)
		p.first, p.all = i*p.all, dims[0]*p.all
		return p
	}
	return part{in: sizes[0], out: sizes[1] / len(stack{})}.of(dims, i, len(stack{}))
}

// column is output o of the matrix as a row.
func (p part) column(row, values []float32, o int) {
	clear(row)
	for k := range p.rows {
		if o < p.cols {
			row[k] = values[p.first+k*p.stride+o]
		}
	}
}

// stored are the dimensions that a low-rank tensor has in the file; like, those that
// the model's ranks need, if the file does not have as many of them.
func (l *loader) stored(name string, like []int) []int {
	if t, err := l.src(name); err == nil && len(t.shape) == len(like) {
		return t.shape
	}
	return like
}

// lowRank reserves the transposed matrix of a part of a tensor, and adds the task that
// fills it.
func (l *loader) lowRank(name string, p part) *kernel.Matrix {
	if l.err != nil {
		return nil
	}
	stored, err := l.src.sized(name, p.all)
	if err != nil {
		l.err = err
		return nil
	}
	t, m := l.reserve(name, lowRankType(l.typ, typeOf(stored.dtype)), p.out, p.in, p.all)
	if m == nil {
		return nil
	}
	l.addTask(task{weights: p.in * p.out, buf: p.all + p.in, run: func(buf []float32) error {
		row, whole := buf[:p.in], buf[p.in:p.in+p.all]
		if err := t.read(whole, 0); err != nil {
			return err
		}
		for o := range p.out {
			p.column(row, whole, o)
			m.SetRow(o, row)
		}
		return nil
	}})
	return m
}

// padded rounds a size up to whole blocks.
func padded(n int) int { return (n + kernel.BlockSize - 1) / kernel.BlockSize * kernel.BlockSize }

// reserve finds a tensor of n values and makes an empty matrix for it, which is nil
// after an error.
func (l *loader) reserve(name string, typ kernel.Type, rows, cols, n int) (tensor, *kernel.Matrix) {
	if l.err != nil {
		return tensor{}, nil
	}
	t, err := l.src.sized(name, n)
	if err != nil {
		l.err = err
		return t, nil
	}
	m, err := kernel.NewMatrix(l.arena, typ, rows, cols)
	if err != nil {
		l.err = fmt.Errorf("tensor %s: %w", name, err)
		return t, nil
	}
	return t, m
}

func (l *loader) addTask(t task) {
	l.tasks = append(l.tasks, t)
	l.total += int64(t.weights)
}

// convert runs the tasks on a number of threads. It stops at the first error and
// when ctx is done.
func (l *loader) convert(ctx context.Context, threads int, progress func(done, total int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan task)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int64
	)
	report := func(weights int) {
		mu.Lock()
		defer mu.Unlock()
		done += int64(weights)
		if progress != nil {
			progress(done, l.total)
		}
	}
	for range threads {
		wg.Go(func() {
			var buf []float32
			for t := range queue {
				if len(buf) < t.buf {
					buf = make([]float32, t.buf)
				}
				if err := t.run(buf); err != nil {
					cancel(err)
					return
				}
				report(t.weights)
			}
		})
	}
	for _, t := range l.tasks {
		select {
		case queue <- t:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}
