package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/demo"
	"rookery/infer/rwkv"
)

// A Spec says what to load and how. The zero value is the embedded model on
// the best backend.
type Spec struct {
	Model   string // path; empty: the embedded model
	Backend string // "auto" (or empty: the GPU if it can be used), "cpu" or "cuda"
	Threads int    // on the CPU; 0: one per processor
	Weights string // "auto" (or empty: as the file has them, fp16 on a GPU), "fp32", "fp16", "bf16" or "int8"
	State   string // of the WKV state on a GPU: "fp32" (or empty) or "fp16"
	Vocab   string // path of a vocabulary file; empty: choose
	Slots   int    // sequences that can run at once; 0: the backend's default
	// Note, if not nil, is called with one line that says why the CPU is used although
	// the library for a GPU was found, or why a model runs slower than it could.
	Note func(line string)
	// Metadata is said of the model beside what its file says. What a file says
	// under a name that begins with "rookery." does not count.
	Metadata map[string]string
	// Untuned skips measuring products when a shape is loaded on a GPU for the first
	// time.
	Untuned bool
}

// Progress is how much of a model is loaded.
type Progress struct {
	Done, Total int64 // weights
}

// Open loads a model. progress may be nil; it is called by one goroutine at a
// time. The caller closes the backend, or gives it to an engine. Errors are one
// line that names the file and a way out; when ctx is done, Open gives up.
func Open(ctx context.Context, spec Spec, progress func(Progress)) (m *infer.Model, b infer.Backend, err error) {
	f, err := openFile(spec.Model)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		// The weights are copied by now, so a failure to unmap the file matters only
		// beside another error.
		if e := f.Close(); e != nil && err != nil {
			err = fmt.Errorf("%w (and closing it: %w)", err, e)
		}
	}()
	shape, err := rwkv.Detect(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	tok, err := chooseTokenizer(ctx, spec, f, shape)
	if err != nil {
		return nil, nil, err
	}
	out, err := spec.loadFile(ctx, f, shape, tok, progress)
	if err != nil {
		return nil, nil, err
	}
	weights := f.Fingerprint()
	if weights == "" {
		err = fmt.Errorf("%s: it cannot be read any more: another program has changed it", f.Path())
		return nil, nil, errors.Join(err, out.backend.Close())
	}
	m = &infer.Model{
		Name:  ModelName(spec.Model),
		Path:  spec.Model,
		Shape: shape,
		// With weights that are rounded to another type, a state would not go on bit
		// for bit.
		Fingerprint: weights + "-" + out.width,
		Tokenizer:   tok,
		Metadata:    spec.metadata(f),
	}
	return m, out.backend, nil
}

// metadata is what is said of the model.
func (spec Spec) metadata(f *checkpoint.File) map[string]string {
	all := map[string]string{}
	for name, text := range f.Metadata() {
		if !strings.HasPrefix(name, "rookery.") {
			all[name] = text
		}
	}
	maps.Copy(all, spec.Metadata)
	return all
}

// openFile opens a checkpoint, or the embedded one.
func openFile(path string) (*checkpoint.File, error) {
	if path == "" {
		return demo.Open()
	}
	return checkpoint.Open(path)
}

// ModelName is what a person calls a model.
func ModelName(path string) string {
	if path == "" {
		return demo.Name
	}
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
