package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"rookery/infer/checkpoint"
	"rookery/infer/rwkv"
)

// Load copies a model from a file to the first GPU. shape is what the file was
// recognised as. The file may be closed afterwards. When ctx is done, Load
// gives up and returns its cause.
func (l *Library) Load(ctx context.Context, f *checkpoint.File, shape rwkv.Shape, o Options) (*Backend, error) {
	if err := checkVersion(shape); err != nil {
		return nil, fmt.Errorf("load %s: %w", f.Path(), err)
	}
	tensors, err := fileTensors(f, shape)
	if err != nil {
		return nil, err
	}
	b, err := l.load(ctx, tensors, shape, o)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", f.Path(), err)
	}
	return b, nil
}

// Generate makes a model of a shape whose weights a function says: values off
// and following of a tensor, in row-major order. It is called by several
// goroutines at a time.
func (l *Library) Generate(ctx context.Context, shape rwkv.Shape, values func(name string, dst []float32, off int) error, o Options) (*Backend, error) {
	b, err := l.load(ctx, generatedTensors(shape, values), shape, o)
	if err != nil {
		return nil, fmt.Errorf("make weights on the GPU: %w", err)
	}
	return b, nil
}

// load opens an engine and fills it.
func (l *Library) load(ctx context.Context, tensors []tensor, shape rwkv.Shape, o Options) (b *Backend, err error) {
	if err := checkVersion(shape); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if b, err = l.open(shape, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err, b = errors.Join(err, b.Close()), nil
		}
	}()
	if err := b.fill(ctx, tensors, o.Progress); err != nil {
		return b, err
	}
	return b, b.start(o)
}

// open opens an engine on the first device, with as many slots as there is
// memory for.
func (l *Library) open(s rwkv.Shape, o Options) (*Backend, error) {
	weights, err := parseWeights(o.Weights)
	if err != nil {
		return nil, err
	}
	state, err := parseState(o.State)
	if err != nil {
		return nil, err
	}
	dev, err := l.first()
	if err != nil {
		return nil, err
	}
	limit := s.Vocab
	if o.TokenLimit > 0 && o.TokenLimit < limit {
		limit = o.TokenLimit
	}
	b := &Backend{api: l.api, device: dev, shape: s, weights: weights, state: state, limit: limit}
	if o.Tuning != "" {
		b.tuning = filepath.Join(o.Tuning, b.tuningName())
	}
	size, abi := o.limits(), shapeOf(s)
	for more := true; more; {
		b.handle, err = b.tryOpen(abi, size)
		var e *Error
		if !errors.As(err, &e) || !e.Memory {
			break
		}
		size, more = size.less()
	}
	if err != nil {
		return nil, err
	}
	b.slots = make([]slot, size.slots)
	b.tokens = size.tokens
	return b, nil
}

func (b *Backend) tryOpen(s shape, size limits) (e handle, err error) {
	o := options{
		device: int32(b.device.Index), weights: b.weights, state: b.state,
		slots: int32(size.slots), maxRows: int32(size.slots), maxTokens: int32(size.tokens), tokenLimit: int32(b.limit),
	}
	if b.tuning != "" {
		o.tuning = &append([]byte(b.tuning), 0)[0]
	}
	return e, b.api.check(b.api.open(&s, &o, &e), "GPU "+b.device.Name)
}

// tuningName is the file that what was tuned for this device, shape and widths
// is kept in.
func (b *Backend) tuningName() string {
	s := b.shape
	r := s.Ranks
	name := fmt.Sprintf("%s-%s-%dx%dx%dx%d-%d.%d.%d.%d-%s-%s.tuning", b.device.Name, s.Version.ID(), s.Layers, s.Embed, s.FFN, s.Vocab,
		r[0], r[1], r[2], r[3], typeNames[b.weights], typeNames[b.state])
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune(`/\:`, r) {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

// fill copies the tensors. While one is copied, the system reads the next ones.
func (b *Backend) fill(ctx context.Context, tensors []tensor, progress func(done, total int64)) error {
	ahead := startPrefetch(tensors)
	defer ahead.stop()
	var done, total int64
	for i := range tensors {
		total += int64(tensors[i].len())
	}
	var stage stager
	for i := range tensors {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := b.send(&stage, &tensors[i]); err != nil {
			return err
		}
		ahead.passed()
		done += int64(tensors[i].len())
		if progress != nil {
			progress(done, total)
		}
	}
	return nil
}

// send copies one tensor.
func (b *Backend) send(stage *stager, t *tensor) error {
	data, dtype, err := stage.stage(t)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return fmt.Errorf("tensor %s: it is empty", t.name)
	}
	dims := make([]int64, len(t.dims))
	for i, d := range t.dims {
		dims[i] = int64(d)
	}
	s := b.api.load(b.handle, t.name, dtype, unsafe.SliceData(dims), int32(len(dims)), unsafe.Pointer(unsafe.SliceData(data)), int64(len(data)))
	return b.check(s, "tensor "+t.name)
}

// start makes the filled engine ready for steps.
func (b *Backend) start(o Options) error {
	if err := b.check(b.api.ready(b.handle), "GPU "+b.device.Name); err != nil {
		return err
	}
	exempt := exemptBelow(o.Exempt, b.limit)
	b.exempt = make(map[int32]bool, len(exempt))
	for _, id := range exempt {
		b.exempt[id] = true
	}
	if err := b.check(b.api.setExempt(b.handle, unsafe.SliceData(exempt), int32(len(exempt))), "exempt tokens"); err != nil {
		return err
	}
	return b.check(b.api.memory(b.handle, &b.memory), "memory of the GPU")
}

// exemptBelow are the tokens that can be drawn.
func exemptBelow(tokens []int32, limit int) []int32 {
	var out []int32
	for _, id := range tokens {
		if id >= 0 && int(id) < limit {
			out = append(out, id)
		}
	}
	return out
}

// Tuned reports whether there is a file of what tuning found for this device,
// shape and widths. It need not be of this version of cuBLASLt.
func (b *Backend) Tuned() bool {
	if b.tuning == "" {
		return false
	}
	_, err := os.Stat(b.tuning)
	return err == nil
}

// Tune measures how each matrix product runs fastest, for about as many
// seconds, and keeps what it found where Options.Tuning said.
func (b *Backend) Tune(seconds float64) error {
	if b.tuning != "" {
		if err := os.MkdirAll(filepath.Dir(b.tuning), 0o755); err != nil {
			return fmt.Errorf("a place for what tuning finds: %w", err)
		}
	}
	return b.check(b.api.tune(b.handle, seconds), "tuning")
}
