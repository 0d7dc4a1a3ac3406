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

// adapterFlags say which adapter is used, and what its file does not.
type adapterFlags struct {
	name    string
	options adapter.Options
}

// add adds the flags; named says that one of them names the adapter.
func (f *adapterFlags) add(flags *pflag.FlagSet, named bool) {
	if named {
		flags.StringVar(&f.name, "adapter", "", "use this adapter: its name, or a file")
	}
	flags.Float32Var(&f.options.Strength, "adapter-strength", 0, "factor on the adapter's whole change (default 1)")
	flags.Float32Var(&f.options.Alpha, "alpha", 0, "alpha of a LoRA or DoRA file, whose scale is alpha/rank")
	flags.Float32Var(&f.options.Scale, "adapter-scale", 0, "scale of a LoRA or DoRA file, instead of alpha/rank")
	flags.StringVar(&f.options.Blocks, "blocks", "", "which way the blocks of a Bone file lie: column or row")
	flags.StringVar(&f.options.Init, "init", "", "file with a PiSSA adapter's values as training began")
	flags.BoolVar(&f.options.Partial, "partial", false, "accept an adapter that has nothing for some layers")
}

// check refuses flags that say something about no adapter.
func (f *adapterFlags) check() error {
	if f.name == "" && f.options != (adapter.Options{}) {
		return exitWith(exitUsage, errors.New("name the adapter too: --adapter NAME or --adapter FILE"))
	}
	return nil
}

// load gives the engine the adapter and returns its fingerprint, "" for none.
func (f *adapterFlags) load(ctx context.Context, c config.Config, e *infer.Engine) (string, error) {
	if f.name == "" {
		return "", f.check()
	}
	store, err := adapterStore(ctx, c)
	if err != nil {
		return "", err
	}
	open, own := adaptersOf(e.Model())
	a, err := library.NewAdapterRegistry(e, store, open, own).Find(ctx, f.name, f.options)
	return a.Fingerprint, asked(err)
}

// begin gives a new conversation of a workspace the adapter; first is one that is
// there already, or nil.
func (f *adapterFlags) begin(ctx context.Context, workspace *chat.Workspace, first *chat.Dialogue) (*chat.Dialogue, error) {
	if f.name == "" {
		return first, f.check()
	}
	a, err := workspace.Adapters().Find(ctx, f.name, f.options)
	if err != nil {
		return first, asked(err)
	}
	if first == nil {
		first = workspace.New()
	}
	return first, first.SetAdapter(a)
}

// logits are those after tokens.
func (f *adapterFlags) logits(ctx context.Context, c config.Config, e *infer.Engine, tokens []int32) ([]float32, error) {
	mark, err := f.load(ctx, c, e)
	if err != nil {
		return nil, err
	}
	return logitsWith(ctx, e, tokens, mark)
}

// logitsWith are those after tokens by an adapter that is loaded, or by none.
func logitsWith(ctx context.Context, e *infer.Engine, tokens []int32, fingerprint string) ([]float32, error) {
	if fingerprint == "" {
		return e.Logits(ctx, tokens)
	}
	s, err := e.Submit(infer.Request{Tokens: tokens, Logits: true, Adapter: fingerprint})
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
	return s.Ending().Snapshot.Logits, nil
}

// adapt loads the adapter to measure.
func (r *report) adapt(ctx context.Context, s subject, c config.Config, o benchOptions, plan *measure.Plan) error {
	if o.adapter.name == "" {
		return o.adapter.check()
	}
	if s.model == nil {
		return exitWith(exitUsage, errors.New("--adapter needs the model that it was trained for, and --shape has random weights"))
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
	read, err := library.NewAdapterRegistry(nil, store, open, own).Read(ctx, o.adapter.name, o.adapter.options)
	if err != nil {
		return asked(err)
	}
	plan.Adapter, err = b.LoadAdapter(read, o.merged)
	r.Adapter, r.AdapterBytes = read.Name, b.AdapterBytes(plan.Adapter)
	return err
}

// asked is an error about an adapter; a question gets the flag that answers it.
func asked(err error) error {
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
