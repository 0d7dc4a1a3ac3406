package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/measure"
)

// adapterFlags name an adapter and say what its file does not say.
type adapterFlags struct {
	name     string
	strength float32 // 0: the adapter is read and not used
	options  adapter.Options
}

// noAdapter is the flags where none was given.
var noAdapter = adapterFlags{strength: 1}

// addTo adds the flags; with named, also the flag that names the adapter.
func (f *adapterFlags) addTo(flags *pflag.FlagSet, named bool) {
	if named {
		flags.StringVar(&f.name, "adapter", "", "name or file of an adapter")
	}
	flags.Float32Var(&f.strength, "adapter-strength", 1, "factor on the whole change of the adapter; 0 is none")
	flags.Float32Var(&f.options.Alpha, "alpha", 0, "alpha of a LoRA or DoRA file; its scale is alpha/rank")
	flags.Float32Var(&f.options.Scale, "adapter-scale", 0, "scale of a LoRA or DoRA file, in place of alpha/rank")
	flags.StringVar(&f.options.Blocks, "blocks", "", "direction of the blocks of a Bone file: column or row")
	flags.StringVar(&f.options.Init, "init", "", "file with the values of a PiSSA adapter at the start of training")
	flags.BoolVar(&f.options.Partial, "partial", false, "accept an adapter that covers only some of the layers")
}

// checkNamed refuses flags about an adapter if no adapter is named.
func (f *adapterFlags) checkNamed() error {
	if f.name == "" && *f != noAdapter {
		return exitWith(exitUsage, errors.New("name the adapter too: --adapter NAME or --adapter FILE"))
	}
	return nil
}

// loadAdapter loads the adapter into the engine and returns its fingerprint, or ""
// if no adapter is named.
func (f *adapterFlags) loadAdapter(ctx context.Context, c config.Config, e *infer.Engine) (string, error) {
	if f.name == "" {
		return "", f.checkNamed()
	}
	store, err := adapterStore(ctx, c)
	if err != nil {
		return "", err
	}
	open, own := adaptersOf(e.Model())
	a, err := library.NewAdapterRegistry(e, store, open, own).FindAt(ctx, f.name, f.options, f.strength)
	return a.Fingerprint, nameAdapterFlag(err)
}

// read reads an adapter as the flags say, for a command that needs one.
func (f *adapterFlags) read(ctx context.Context, r *library.AdapterRegistry, name string) (*adapter.Adapter, error) {
	if f.strength == 0 {
		return nil, exitWith(exitUsage, errors.New("--adapter-strength 0 is no adapter: give another strength"))
	}
	o := f.options
	o.Strength = f.strength
	a, err := r.Read(ctx, name, o)
	return a, nameAdapterFlag(err)
}

// setAdapter gives the adapter to the first conversation of a workspace. If first is
// nil and an adapter is named, it opens a new conversation.
func (f *adapterFlags) setAdapter(ctx context.Context, workspace *chat.Workspace, first *chat.Dialogue) (*chat.Dialogue, error) {
	if f.name == "" {
		return first, f.checkNamed()
	}
	a, err := workspace.Adapters().FindAt(ctx, f.name, f.options, f.strength)
	if err != nil {
		return first, nameAdapterFlag(err)
	}
	if first == nil {
		first = workspace.New()
	}
	return first, first.SetAdapter(a)
}

// computeLogits returns the logits that a request ends with, with the named adapter.
func (f *adapterFlags) computeLogits(ctx context.Context, c config.Config, e *infer.Engine, r infer.Request) ([]float32, error) {
	fingerprint, err := f.loadAdapter(ctx, c, e)
	if err != nil {
		return nil, err
	}
	r.Adapter = fingerprint
	return computeLogits(ctx, e, r)
}

// computeLogits returns the logits that a request ends with; of a mix, the combined
// ones.
func computeLogits(ctx context.Context, e *infer.Engine, r infer.Request) ([]float32, error) {
	r.Logits = true
	s, err := e.Submit(r)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		s.Cancel()
		<-s.Done()
		return nil, context.Cause(ctx)
	}
	if err := s.Ending().Err; err != nil {
		return nil, err
	}
	return s.Ending().Snapshot.Distribution().Logits, nil
}

// loadAdapter loads the adapter to be measured into the plan.
func (r *report) loadAdapter(ctx context.Context, s subject, c config.Config, o benchOptions, plan *measure.Plan) error {
	if o.adapter.name == "" {
		return o.adapter.checkNamed()
	}
	if s.model == nil {
		return exitWith(exitUsage, errors.New("--adapter needs the model that it was trained for, but --shape runs random weights"))
	}
	b, ok := s.backend.(infer.AdapterBackend)
	if !ok {
		return infer.ErrNoAdapters
	}
	store, err := adapterStore(ctx, c)
	if err != nil {
		return err
	}
	open, own := adaptersOf(s.model)
	read, err := o.adapter.read(ctx, library.NewAdapterRegistry(nil, store, open, own), o.adapter.name)
	if err != nil {
		return err
	}
	plan.Adapter, err = b.LoadAdapter(read, o.merged)
	r.Adapter, r.AdapterBytes = read.Name, b.AdapterBytes(plan.Adapter)
	return err
}

// nameAdapterFlag gives an error about an adapter its exit code. If the file does not
// say something, the error names the flag that says it.
func nameAdapterFlag(err error) error {
	var q *adapter.QuestionError
	if !errors.As(err, &q) {
		return exitWith(exitModel, err)
	}
	value := "NUMBER"
	if len(q.Choices) > 0 && q.Choices[0] != "" {
		value = q.Choices[0]
	}
	return exitWith(exitUsage, fmt.Errorf("%w (--%s %s)", err, q.Asked, value))
}
