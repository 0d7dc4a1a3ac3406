package load

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/cpu"
	"rookery/infer/demo"
	"rookery/infer/rwkv"
)

// A Spec says what to load and how. The zero value is the embedded model on
// the best backend.
type Spec struct {
	Model   string // path; empty: the embedded model
	Backend string // "auto" (or empty) or "cpu"
	Threads int    // 0: one per processor
	Weights string // "auto" (or empty: as the file has them), "fp32", "fp16", "bf16" or "int8"
	Vocab   string // path of a vocabulary file; empty: choose
	Slots   int    // sequences that can run at once; 0: the backend's default
}

// Progress is how far loading is.
type Progress struct {
	Done, Total int64 // weights
}

// Open loads a model. progress may be nil; it is called by one goroutine at a
// time. The caller closes the backend, or gives it to an engine. Errors are one
// line that names the file and a way out; when ctx is done, Open gives up.
func Open(ctx context.Context, spec Spec, progress func(Progress)) (m *infer.Model, b infer.Backend, err error) {
	if spec.Backend != "" && spec.Backend != "auto" && spec.Backend != "cpu" {
		return nil, nil, fmt.Errorf("backend %q: use auto or cpu", spec.Backend)
	}
	f, err := openFile(spec.Model)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		// The weights are copied by now: failing to unmap the file matters only
		// as part of another failure.
		if e := f.Close(); e != nil && err != nil {
			err = fmt.Errorf("%w (and closing it: %w)", err, e)
		}
	}()
	shape, err := rwkv.Detect(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	tok, err := chooseTokenizer(spec, f, shape)
	if err != nil {
		return nil, nil, err
	}
	need, err := cpu.EstimateLoad(f, shape, spec.Weights)
	if err != nil {
		return nil, nil, err
	}
	if err := checkMemory(f, shape, need, availableMemory()); err != nil {
		return nil, nil, err
	}
	options := cpu.Options{Threads: spec.Threads, Weights: spec.Weights, Slots: spec.Slots}
	if progress != nil {
		options.Progress = func(done, total int64) { progress(Progress{Done: done, Total: total}) }
	}
	backend, err := cpu.Load(ctx, f, shape, options)
	if err != nil {
		return nil, nil, err
	}
	m = &infer.Model{
		Name:  modelName(spec.Model),
		Path:  spec.Model,
		Shape: shape,
		// A state belongs to the weights as they were rounded: with others it
		// would go on, but not bit for bit.
		Fingerprint: f.Fingerprint() + "-" + need.Weights,
		Tokenizer:   tok,
	}
	return m, backend, nil
}

// openFile opens a checkpoint, or the embedded one.
func openFile(path string) (*checkpoint.File, error) {
	if path == "" {
		return demo.Open()
	}
	return checkpoint.Open(path)
}

// modelName is what a person calls a model.
func modelName(path string) string {
	if path == "" {
		return demo.Name
	}
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
