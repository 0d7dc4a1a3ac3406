package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rookery/config"
	"rookery/infer"
	"rookery/infer/cpu/kernel"
	"rookery/infer/load"
	"rookery/infer/measure"
	"rookery/infer/native"
	"rookery/infer/rwkv"
	"rookery/infer/tokenizer"
)

// shapes are the shapes of released models; `bench --shape` makes random weights for
// them.
var shapes = rwkv.Released()

// benchOptions are the flags of `bench`.
type benchOptions struct {
	shape   string
	rows    []int // nil: the defaults of the backend
	prompts []int // likewise
	runs    int
	time    time.Duration // of one run
	tune    time.Duration
	json    bool
	adapter adapterFlags
	mix     mixFlag
	merged  bool // merge the adapter into weights of its own
}

// Without flags, bench measures these rows and prompts, on the CPU and on a GPU. It
// leaves out numbers of rows that the GPU has no memory for.
var (
	cpuRows, cpuPrompts = []int{1, 2, 8, 32}, []int{512}
	gpuRows, gpuPrompts = []int{1, 8, 32, 128, 320, 960}, []int{4096}
)

func (a *app) benchCommand() *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure loading, decoding and reading prompts",
		Long: "Measure a model, or random weights of a released shape, end to end: embedding, forward pass, sampling, and the\n" +
			"token on the host. A decoding step reads every weight once. On the CPU the table shows what share of the memory's\n" +
			"read bandwidth, measured in the same run, decoding reaches. On a GPU it shows the memory traffic and the\n" +
			"arithmetic of a dense step, and their shares of what the same card reached in a long copy and a large matrix\n" +
			"product. (A few rows can exceed 100 %, because weights that meet only zeros are not read.) The step of a prompt\n" +
			"is the time to its first token.",
		Example: "rookery bench\nrookery bench --shape 0.1b --weights int8 --threads 1 --rows 1,8\nrookery bench --backend cuda --shape 7.2b --tune --json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runBench(cmd, o)
		},
	}
	a.modelFlags(cmd.Flags())
	o.adapter.addTo(cmd.Flags(), true)
	cmd.Flags().StringVar(&o.mix.text, "mix", "", "also measure a mix (own=1,state=weight,... or a number of states) and one state alone")
	cmd.Flags().BoolVar(&o.merged, "merged", false, "merge the adapter into weights of its own")
	cmd.Flags().StringVar(&o.shape, "shape", "", fmt.Sprintf("shape of random weights to run instead of a model: %q", slices.Sorted(maps.Keys(shapes))))
	cmd.Flags().IntSliceVar(&o.rows, "rows", nil, fmt.Sprintf("numbers of conversations that decode together (default %v, on a GPU %v)", cpuRows, gpuRows))
	cmd.Flags().IntSliceVar(&o.prompts, "prompt", nil, fmt.Sprintf("lengths of the prompts in tokens (default %v, on a GPU %v)", cpuPrompts, gpuPrompts))
	cmd.Flags().IntVar(&o.runs, "runs", 5, "number of runs of each measurement; the table shows the median")
	cmd.Flags().DurationVar(&o.time, "time", time.Second, "length of each run of decoding")
	cmd.Flags().DurationVar(&o.tune, "tune", 0, "time to look for the fastest matrix products first; saves the result")
	cmd.Flags().Lookup("tune").NoOptDefVal = "1m"
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) runBench(cmd *cobra.Command, o benchOptions) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := o.checkSizes(); err != nil {
		return exitWith(exitUsage, err)
	}
	c.Engine.Slots = slices.Max(append(slices.Clone(o.rows), 1, o.mix.slotCount()))
	if o.rows == nil {
		c.Engine.Slots = max(slices.Max(gpuRows), o.mix.slotCount())
	}
	peaks := gpuPeaks(c) // while the card's memory is free
	start := time.Now()
	s, err := openSubject(cmd, c, o.shape)
	if err != nil {
		return err
	}
	r := newReport(s, time.Since(start), peaks)
	err = r.measureAll(cmd.Context(), s, c, o)
	if err = errors.Join(err, s.backend.Close()); err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), r)
	}
	return r.write(cmd.OutOrStdout())
}

// checkSizes refuses sizes that fit into no memory, before a model is loaded. The backend
// refuses too many rows.
func (o *benchOptions) checkSizes() error {
	const mostTokens, mostStates = 1 << 20, 64
	for _, n := range o.prompts {
		if n < 1 || n > mostTokens {
			return fmt.Errorf("--prompt %d: it must be 1 to %d", n, mostTokens)
		}
	}
	if n := o.mix.stateCount(); n > mostStates {
		return fmt.Errorf("--mix %d: it must be 1 to %d states, or a list such as own=1,book=0.5", n, mostStates)
	}
	return nil
}

// A subject is the model that is measured.
type subject struct {
	name    string
	shape   rwkv.Shape
	tokens  int // number of ids that can be drawn
	backend infer.Backend
	model   *infer.Model // nil: random weights
}

// gpu returns the subject's backend if that is a GPU, or nil.
func (s subject) gpu() *native.Backend {
	b, _ := s.backend.(*native.Backend)
	return b
}

// openSubject loads the model, or makes random weights of the shape.
func openSubject(cmd *cobra.Command, c config.Config, shapeName string) (subject, error) {
	if shapeName == "" {
		m, b, err := loadModel(cmd.Context(), cmd.ErrOrStderr(), c)
		if err != nil {
			return subject{}, err
		}
		return subject{m.Name, m.Shape, min(m.Tokenizer.Size(), m.Shape.Vocab), b, m}, nil
	}
	shape, ok := shapes[shapeName]
	if !ok {
		return subject{}, exitWith(exitUsage, fmt.Errorf("--shape is %q; it must be one of %q", shapeName, slices.Sorted(maps.Keys(shapes))))
	}
	meter := newMeter(cmd.ErrOrStderr())
	spec := modelSpec(c, meter.noteTo(cmd.ErrOrStderr()))
	spec.Untuned = true // prepareDevice tunes, if --tune says so
	b, err := load.Synthetic(cmd.Context(), shape, spec, func(p load.Progress) {
		meter.show("making random weights", p.Done, p.Total, "weights")
	})
	meter.clear()
	return subject{shapeName + ", random weights", shape, min(tokenizer.World().Size(), shape.Vocab), b, nil}, exitWith(exitModel, err)
}

// measureAll runs all measurements and adds them to the report.
func (r *report) measureAll(ctx context.Context, s subject, c config.Config, o benchOptions) error {
	rows, prompts := cpuRows, cpuPrompts
	if b := s.gpu(); b != nil {
		rows = slices.DeleteFunc(slices.Clone(gpuRows), func(n int) bool { return n > b.Slots() })
		prompts = gpuPrompts
	}
	if o.rows != nil {
		rows = o.rows
	}
	if o.prompts != nil {
		prompts = o.prompts
	}
	if err := r.prepareDevice(s, c, o); err != nil {
		return err
	}
	plan := measure.Plan{Runs: o.runs, Time: o.time}
	if err := r.loadAdapter(ctx, s, c, o, &plan); err != nil {
		return err
	}
	for _, n := range rows {
		series, err := measure.Decode(ctx, s.backend, s.tokens, n, plan)
		if err != nil {
			return err
		}
		if err := r.addResult("decode", series, s, c); err != nil {
			return err
		}
	}
	if err := r.benchMix(ctx, s, c, o, plan); err != nil {
		return err
	}
	for _, n := range prompts {
		series, err := measure.Prefill(ctx, s.backend, s.tokens, n, plan)
		if err != nil {
			return err
		}
		if err := r.addResult("prompt", series, s, c); err != nil {
			return err
		}
	}
	return nil
}

// prepareDevice tunes a GPU if --tune says so, or measures the read bandwidth of the
// processor.
func (r *report) prepareDevice(s subject, c config.Config, o benchOptions) error {
	b := s.gpu()
	switch {
	case o.tune < 0 || o.tune > 0 && b == nil:
		return exitWith(exitUsage, fmt.Errorf("--tune is for a GPU and takes a time, and this runs on %s", s.backend.Name()))
	case o.tune > 0:
		return b.Tune(o.tune.Seconds())
	case b != nil:
		return nil
	}
	threads := c.Engine.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	var err error
	r.ReadBandwidth, err = kernel.ReadBandwidth(kernel.Best(), threads, r.WeightBytes-embeddingBytes(s.shape, r.WeightBytes))
	return err
}

// embeddingBytes estimates the size of the embedding by its share of the parameters.
// A step reads only one of its rows.
func embeddingBytes(s rwkv.Shape, weights int64) int64 {
	return int64(float64(weights) * float64(s.Vocab*s.Embed) / float64(s.Params()-s.TableParams()))
}
