package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/cpu"
	"rookery/infer/native"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// A loaded is a backend and how it rounded the weights, for the fingerprint.
type loaded struct {
	backend infer.Backend
	width   string
}

// choose loads on the backend that Spec.Backend names. By default that is the GPU, or
// the CPU if the GPU cannot be used; Spec.Note is told if the library for a GPU is
// there and cannot be used.
func (s Spec) choose(ctx context.Context, gpu, cpu func() (loaded, error)) (loaded, error) {
	switch s.Backend {
	case "cpu":
		return cpu()
	case "cuda":
		out, err := gpu()
		var e *native.Error
		if errors.As(err, &e) && e.Memory {
			err = fmt.Errorf("%w; use a smaller model, or --backend cpu", err)
		}
		return out, err
	case "", "auto":
		out, err := gpu()
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		if s.Note != nil && !errors.Is(err, native.ErrAbsent) {
			s.Note(fmt.Sprintf("running on the CPU: %v", err))
		}
		return cpu()
	}
	return loaded{}, fmt.Errorf("backend %q: use auto, cpu or cuda", s.Backend)
}

// loadFile loads a file's model.
func (s Spec) loadFile(ctx context.Context, f *checkpoint.File, shape rwkv.Shape, tok *tokenizer.Tokenizer, progress func(Progress)) (loaded, error) {
	return s.choose(ctx, func() (loaded, error) {
		return s.onGPU(progress, func(l *native.Library, o native.Options) (*native.Backend, error) {
			o.TokenLimit, o.Exempt = min(tok.Size(), shape.Vocab), exempt(tok)
			return l.Load(ctx, f, shape, o)
		})
	}, func() (loaded, error) {
		need, err := cpu.EstimateLoad(f, shape, s.Weights)
		if err != nil {
			return loaded{}, err
		}
		if err := checkMemory(f, shape, need, AvailableMemory()); err != nil {
			return loaded{}, err
		}
		if line := widening(f, need); line != "" && s.Note != nil {
			s.Note(line)
		}
		b, err := cpu.Load(ctx, f, shape, s.onCPU(progress))
		return loaded{b, need.Weights}, err
	})
}

// Synthetic makes a model of a shape with random weights, for benchmarks. It ignores
// Model and Vocab of the Spec.
func Synthetic(ctx context.Context, shape rwkv.Shape, spec Spec, progress func(Progress)) (infer.Backend, error) {
	const seed = 1
	out, err := spec.choose(ctx, func() (loaded, error) {
		return spec.onGPU(progress, func(l *native.Library, o native.Options) (*native.Backend, error) {
			o.TokenLimit = min(tokenizer.World().Size(), shape.Vocab)
			return l.Generate(ctx, shape, cpu.SyntheticValues(shape, seed), o)
		})
	}, func() (loaded, error) {
		o := spec.onCPU(progress)
		if o.Weights == "" || o.Weights == "auto" {
			o.Weights = "fp16"
		}
		b, err := cpu.Synthetic(ctx, shape, seed, o)
		return loaded{b, o.Weights}, err
	})
	if err != nil {
		return nil, err
	}
	return out.backend, nil
}

func (s Spec) onCPU(progress func(Progress)) cpu.Options {
	return cpu.Options{Threads: s.Threads, Weights: s.Weights, Slots: s.Slots, Progress: counting(progress)}
}

// onGPU opens the library and loads with it.
func (s Spec) onGPU(progress func(Progress), load func(*native.Library, native.Options) (*native.Backend, error)) (loaded, error) {
	l, err := native.Open()
	if err != nil {
		return loaded{}, err
	}
	b, err := load(l, native.Options{
		Weights: s.Weights, State: s.State, Slots: s.Slots, Tuning: tuningDir(), Progress: counting(progress),
	})
	if err != nil {
		return loaded{}, err
	}
	s.tune(b)
	return loaded{b, b.Precision()}, nil
}

// firstTuning is for how many seconds products are measured when a shape is loaded on
// a GPU for the first time, and tunedFrom from how many bytes of weights on.
const (
	firstTuning = 8
	tunedFrom   = 1 << 30
)

// tune finds the fastest products, once for each GPU and shape. Without it a model
// runs slower.
func (s Spec) tune(b *native.Backend) {
	if s.Untuned || b.Memory().Weights < tunedFrom || b.Tuned() {
		return
	}
	if err := b.Tune(firstTuning); err != nil && s.Note != nil {
		s.Note(fmt.Sprintf("products run as cuBLASLt guesses: %v", err))
	}
}

// counting adapts a function of Progress; nil stays nil.
func counting(progress func(Progress)) func(done, total int64) {
	if progress == nil {
		return nil
	}
	return func(done, total int64) { progress(Progress{Done: done, Total: total}) }
}

// tuningDir is the folder for the results of `rookery bench --tune`, or empty if the
// system has no cache folder.
func tuningDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "rookery", "tuning")
}

// exempt are the tokens that the sampler's ModePip does not count.
func exempt(tok *tokenizer.Tokenizer) []int32 {
	var out []int32
	for id := range int32(tok.Size()) {
		if sampler.PipExempt(tok.Bytes(id)) {
			out = append(out, id)
		}
	}
	return out
}
