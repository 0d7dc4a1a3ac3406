package cpu

import (
	"context"
	"errors"
	"fmt"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
)

// maxTokens bounds the tokens of one step. With more, a weight is not read
// noticeably less often for each token, and activations no longer fit the caches.
const maxTokens = 512

// A Backend runs one model on the processor. It implements infer.Backend.
type Backend struct {
	model *model
	arena *kernel.Arena
	pool  *kernel.Pool
	slots *slots
	run   *runner
	// tables is the model's file, for tensors that are read while it runs; else nil.
	tables *checkpoint.File

	weightBytes int64
	lastAdapter infer.AdapterID
}

var _ infer.SideReader = (*Backend)(nil)

// Load reads a model into memory. shape is that of rwkv.Detect. The caller can
// close the file afterwards: tables, which stay on disk, are opened again. When ctx
// is done, Load stops and returns its cause.
func Load(ctx context.Context, f *checkpoint.File, shape rwkv.Shape, o Options) (*Backend, error) {
	typ, err := parseWeights(o.Weights, fileType(f, shape))
	if err != nil {
		return nil, err
	}
	src := fileSource(f)
	var tables *checkpoint.File
	if hasTables(shape) {
		if tables, err = checkpoint.Open(f.Path()); err != nil {
			return nil, fmt.Errorf("open the tables: %w", err)
		}
		src = src.withTables(tables, shape)
	}
	b, err := load(ctx, src, shape, typ, o)
	if err != nil {
		err = fmt.Errorf("load %s: %w", f.Path(), err)
		if tables != nil {
			err = errors.Join(err, tables.Close())
		}
		return nil, err
	}
	b.tables = tables
	return b, nil
}

// Synthetic makes a model with random weights, which depend on the seed alone, for
// benchmarks and tests. Activations behave like those of trained weights: they
// stay small, and 90 % of relu² are zero. "auto" weights are fp32.
func Synthetic(ctx context.Context, shape rwkv.Shape, seed uint64, o Options) (*Backend, error) {
	typ, err := parseWeights(o.Weights, kernel.F32)
	if err != nil {
		return nil, err
	}
	b, err := load(ctx, syntheticSource(shape, seed), shape, typ, o)
	if err != nil {
		return nil, fmt.Errorf("make synthetic weights: %w", err)
	}
	return b, nil
}

func load(ctx context.Context, src source, shape rwkv.Shape, typ kernel.Type, o Options) (b *Backend, err error) {
	path := kernel.Best()
	if o.ISA != "" {
		if path, err = kernel.ParsePath(o.ISA); err != nil {
			return nil, err
		}
	}
	if err := runnable(shape); err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads < 1 {
		threads = infer.Cores()
	}
	arena := kernel.NewArena()
	defer func() {
		if err != nil {
			err = errors.Join(err, arena.Close())
		}
	}()
	l := &loader{src: src, arena: arena, typ: typ}
	m, err := l.build(shape)
	if err != nil {
		return nil, err
	}
	if err := l.convert(ctx, threads, o.Progress); err != nil {
		return nil, err
	}
	for _, own := range m.layers {
		own.prepare(shape)
	}
	weights := arena.Used()
	pool := kernel.NewPool(path, threads)
	slots := newSlots(shape, slotCount(o.Slots))
	run, err := newRunner(m, pool, arena, slots)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Backend{
		model: m, arena: arena, pool: pool, slots: slots, run: run,
		weightBytes: weights,
	}, nil
}

// runnable says why a model of a shape cannot be run here, or nil.
func runnable(s rwkv.Shape) error {
	if err := checkVersion(s); err != nil {
		return err
	}
	if s.Layers < 1 || s.Vocab < 1 || s.FFN < 1 || s.Heads < 1 || s.HeadSize < 1 || s.Heads*s.HeadSize != s.Embed {
		return fmt.Errorf("%d layers, %d heads of %d in a width of %d, vocabulary of %d: not a possible model", s.Layers, s.Heads, s.HeadSize, s.Embed, s.Vocab)
	}
	return nil
}

func slotCount(n int) int {
	if n < 1 {
		return defaultSlots
	}
	return n
}

// fileType is the type of the large matrices of a file. It is int8 only if all of
// them are, so that nothing is rounded to int8 unasked.
func fileType(f *checkpoint.File, shape rwkv.Shape) kernel.Type {
	t, ok := f.Tensor("blocks.0.ffn.key.weight")
	if !ok {
		return kernel.F32 // loading names the tensor that is missing
	}
	typ := typeOf(t.DType)
	for _, name := range shape.Matrices(false) {
		if t, ok := f.Tensor(name); ok && typ == kernel.Q8 && typeOf(t.DType) != kernel.Q8 {
			return kernel.F16
		}
	}
	return typ
}

// pathNames names the kernel paths for people.
var pathNames = map[kernel.Path]string{
	kernel.Go:         "plain Go",
	kernel.AVX2:       "AVX2",
	kernel.AVX512:     "AVX-512",
	kernel.AVX512VNNI: "AVX-512 VNNI",
}

// Name says what runs the model, for people.
func (b *Backend) Name() string {
	n := b.pool.Threads()
	threads := "threads"
	if n == 1 {
		threads = "thread"
	}
	return fmt.Sprintf("cpu, %d %s, %s, %s", n, threads, pathNames[b.pool.Path()], b.model.typ)
}

// Slots is the size of the pool.
func (b *Backend) Slots() int { return len(b.slots.states) }

// MaxTokens bounds the tokens of one step.
func (b *Backend) MaxTokens() int { return maxTokens }

// ReadSlot copies a state, in the canonical layout, to dst.
func (b *Backend) ReadSlot(s infer.Slot, dst []float32) error { return b.slots.read(s, dst) }

// ReadSlotBeside is ReadSlot while another goroutine steps with other slots.
func (b *Backend) ReadSlotBeside(s infer.Slot, dst []float32) error { return b.slots.read(s, dst) }

// WriteSlot copies a state in the canonical layout from src.
func (b *Backend) WriteSlot(s infer.Slot, src []float32) error { return b.slots.write(s, src) }

// CopySlot copies a state from one slot to another.
func (b *Backend) CopySlot(dst, src infer.Slot) error { return b.slots.copy(dst, src) }

// ZeroSlot makes a slot the zero state.
func (b *Backend) ZeroSlot(s infer.Slot) error { return b.slots.zero(s) }

// Memory is what the backend occupies without adapters (see AdapterBytes). States
// grows with the slots that are used, Scratch with the size of steps.
func (b *Backend) Memory() infer.Memory {
	return infer.Memory{Weights: b.weightBytes, States: b.slots.bytes, Scratch: b.run.act.bytes()}
}

// StepBytes is how many bytes of weights the last step read from memory, without
// the embedding and the weights that zeros after relu² spare. It tells what share
// of the memory's bandwidth a rate comes to.
func (b *Backend) StepBytes() int64 { return b.run.read }

// Close ends the threads and frees the memory. The backend must not be used
// afterwards.
func (b *Backend) Close() error {
	b.pool.Close()
	b.slots.states = nil
	var file error
	if b.tables != nil {
		file = b.tables.Close()
	}
	if err := errors.Join(b.closeAdapters(), b.run.program.close(), b.arena.Close(), file); err != nil {
		return fmt.Errorf("close the CPU backend: %w", err)
	}
	return nil
}
