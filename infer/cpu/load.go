package cpu

import (
	"context"
	"fmt"
	"sync"

	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// taskValues is about how many weights a worker converts at a time.
const taskValues = 1 << 18

// A loader builds a model from a source. Building it only reserves memory and
// notes what there is to do; run then fills the matrices on all threads,
// through one buffer for each of them.
type loader struct {
	src   source
	arena *kernel.Arena
	typ   kernel.Type
	tasks []task
	total int64 // weights in tasks
	err   error // the first error of building
}

// A task converts some rows of a matrix.
type task struct {
	weights int
	run     func(buf []float32) error
	buf     int // values the buffer must hold
}

// build reserves a model of a shape.
func (l *loader) build(s rwkv.Shape) (*model, error) {
	m := &model{
		shape: s,
		typ:   l.typ,
		emb:   l.matrix("emb.weight", s.Vocab, s.Embed),
		ln0:   l.norm("blocks.0.ln0", s.Embed),
		lnOut: l.norm("ln_out", s.Embed),
		head:  l.matrix("head.weight", s.Vocab, s.Embed),
	}
	for i := range s.Layers {
		m.layers = append(m.layers, l.layer(s, i))
	}
	return m, l.err
}

func (l *loader) layer(s rwkv.Shape, i int) layer {
	block := fmt.Sprintf("blocks.%d.", i)
	att, ffn := block+"att.", block+"ffn."
	c := s.Embed
	out := layer{
		ln1: l.norm(block+"ln1", c),
		ln2: l.norm(block+"ln2", c),
		att: timeMix{
			mixR: l.vector(att+"x_r", c), mixW: l.vector(att+"x_w", c), mixK: l.vector(att+"x_k", c),
			mixV: l.vector(att+"x_v", c), mixA: l.vector(att+"x_a", c), mixG: l.vector(att+"x_g", c),
			receptance: l.matrix(att+"receptance.weight", c, c),
			key:        l.matrix(att+"key.weight", c, c),
			value:      l.matrix(att+"value.weight", c, c),
			output:     l.matrix(att+"output.weight", c, c),
			decay:      l.lowRank(att, "w", c, s.RankW),
			rate:       l.lowRank(att, "a", c, s.RankA),
			gate:       l.lowRank(att, "g", c, s.RankG),
			kk:         l.vector(att+"k_k", c),
			ka:         l.vector(att+"k_a", c),
			rk:         l.vector(att+"r_k", c),
			lnX:        l.norm(att+"ln_x", c),
		},
		ffn: channelMix{
			mixK:  l.vector(ffn+"x_k", c),
			key:   l.matrix(ffn+"key.weight", s.FFN, c),
			value: l.matrix(ffn+"value.weight", c, s.FFN),
		},
	}
	if i > 0 { // layer 0 makes the first value; what it may carry here is ignored
		out.att.values = l.lowRank(att, "v", c, s.RankV)
	}
	return out
}

func (l *loader) norm(name string, n int) norm {
	return norm{weight: l.vector(name+".weight", n), bias: l.vector(name+".bias", n)}
}

func (l *loader) vector(name string, n int) []float32 {
	if l.err != nil {
		return nil
	}
	v, err := l.src.vector(name, n)
	l.err = err
	return v
}

// matrix reserves a large matrix [rows, cols] and plans its conversion.
func (l *loader) matrix(name string, rows, cols int) *kernel.Matrix {
	t, m := l.reserve(name, l.typ, rows, cols, rows*cols)
	if m == nil {
		return nil
	}
	step := max(taskValues/cols/kernel.PanelRows, 1) * kernel.PanelRows
	for lo := 0; lo < rows; lo += step {
		hi := min(lo+step, rows)
		l.plan(task{weights: (hi - lo) * cols, buf: cols, run: func(buf []float32) error {
			return copyRows(m, t, lo, hi, buf)
		}})
	}
	return m
}

// copyRows fills rows [lo, hi) of m from a tensor of the same shape. Blocks of
// an int8 file are taken as they are.
func copyRows(m *kernel.Matrix, t tensor, lo, hi int, buf []float32) error {
	cols := m.Cols()
	if values, scales, ok := t.blocks(); ok && m.Type() == kernel.Q8 {
		const n = checkpoint.Q8Block
		for r := lo; r < hi; r++ {
			m.SetRowBlocks(r, values[r*cols:(r+1)*cols], scales[r*cols/n:(r+1)*cols/n])
		}
		return nil
	}
	for r := lo; r < hi; r++ {
		if err := t.read(buf[:cols], r*cols); err != nil {
			return err
		}
		m.SetRow(r, buf[:cols])
	}
	return nil
}

// lowRank reserves a branch: x1 [C, R], x2 [R, C] and, but for the gate, the
// bias x0 [C]. The rank is padded with zeros to whole blocks.
func (l *loader) lowRank(att, x string, c, rank int) lowRank {
	padded := (rank + kernel.BlockSize - 1) / kernel.BlockSize * kernel.BlockSize
	out := lowRank{
		down: l.transposed(att+x+"1", c, rank, padded, c),
		up:   l.transposed(att+x+"2", rank, c, c, padded),
	}
	if x != "g" {
		out.bias = l.vector(att+x+"0", c)
	}
	return out
}

// transposed reserves a matrix [rows, cols] and plans its conversion from a
// tensor [in, out], which it holds transposed in its upper left corner.
func (l *loader) transposed(name string, in, out, rows, cols int) *kernel.Matrix {
	if l.err != nil {
		return nil
	}
	stored, err := l.src.sized(name, in*out)
	if err != nil {
		l.err = err
		return nil
	}
	t, m := l.reserve(name, lowRankType(l.typ, typeOf(stored.dtype)), rows, cols, in*out)
	if m == nil {
		return nil
	}
	l.plan(task{weights: in * out, buf: in*out + cols, run: func(buf []float32) error {
		row, whole := buf[:cols], buf[cols:cols+in*out]
		if err := t.read(whole, 0); err != nil {
			return err
		}
		clear(row)
		for r := range out {
			for k := range in {
				row[k] = whole[k*out+r]
			}
			m.SetRow(r, row)
		}
		return nil
	}})
	return m
}

// reserve finds a tensor of n values and makes the matrix for it. The matrix
// is nil after an error.
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

func (l *loader) plan(t task) {
	l.tasks = append(l.tasks, t)
	l.total += int64(t.weights)
}

// run carries out the tasks on threads goroutines. It stops at the first error
// and when ctx is done.
func (l *loader) run(ctx context.Context, threads int, progress func(done, total int64)) error {
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
