package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rookery/config"
	"rookery/infer"
	"rookery/infer/cpu"
	"rookery/infer/cpu/kernel"
	"rookery/infer/measure"
	"rookery/infer/rwkv"
)

// shapes are the sizes of released models that `bench --shape` makes random
// weights for.
var shapes = map[string]rwkv.Shape{
	"0.1b": released(12, 768, 64, 64, 32, 128),
	"0.4b": released(24, 1024, 64, 64, 32, 128),
	"1.5b": released(24, 2048, 96, 96, 64, 256),
	"2.9b": released(32, 2560, 96, 96, 64, 320),
	"7.2b": released(32, 4096, 128, 128, 96, 480),
}

func released(layers, embed, w, a, v, g int) rwkv.Shape {
	return rwkv.Shape{
		Version: rwkv.V7, Layers: layers, Embed: embed, Heads: embed / 64, HeadSize: 64, FFN: 4 * embed, Vocab: 65536,
		RankW: w, RankA: a, RankV: v, RankG: g,
	}
}

// benchOptions are the flags of `bench`.
type benchOptions struct {
	shape   string
	rows    []int
	prompts []int
	runs    int
	json    bool
}

func (a *app) benchCommand() *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure loading, decoding and reading prompts",
		Long: "Measure a model, or random weights of a released shape, end to end: embedding, forward pass, sampling,\n" +
			"and the token back. Decoding is bound by reading weights; the table says what share of the bandwidth,\n" +
			"measured in the same run over as many bytes as the weights have, the weights that were read make up.",
		Example: "rookery bench\nrookery bench --shape 0.1b --weights int8 --threads 1 --rows 1,8",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.bench(cmd, o)
		},
	}
	a.modelFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.shape, "shape", "", fmt.Sprintf("random weights of this size instead of a model: %q", slices.Sorted(maps.Keys(shapes))))
	cmd.Flags().IntSliceVar(&o.rows, "rows", []int{1, 2, 8, 32}, "conversations decoding together")
	cmd.Flags().IntSliceVar(&o.prompts, "prompt", []int{512}, "tokens of the prompt to read")
	cmd.Flags().IntVar(&o.runs, "runs", 5, "runs of each measurement; the median is printed")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// A report is what `bench --json` prints.
type report struct {
	Model         string         `json:"model"`
	Backend       string         `json:"backend"`
	Go            string         `json:"go"`
	Parameters    int64          `json:"parameters"`
	WeightBytes   int64          `json:"weight_bytes"`
	StateBytes    int64          `json:"state_bytes_per_row"`
	LoadSeconds   float64        `json:"load_seconds"`
	ReadBandwidth float64        `json:"read_bandwidth_bytes_per_second"`
	Results       []measurements `json:"results"`
}

type measurements struct {
	What           string    `json:"what"`
	Rows           int       `json:"rows"`
	Tokens         int       `json:"tokens"`
	Median         float64   `json:"tokens_per_second"`
	Runs           []float64 `json:"runs"`
	StepP50        float64   `json:"step_p50_seconds"`
	StepP95        float64   `json:"step_p95_seconds"`
	BandwidthShare float64   `json:"bandwidth_share,omitempty"`
}

func (a *app) bench(cmd *cobra.Command, o benchOptions) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	start := time.Now()
	name, shape, b, err := benchBackend(cmd, c, o)
	if err != nil {
		return err
	}
	r := report{
		Model: name, Backend: b.Name(), Go: runtime.Version(), Parameters: shape.Params(), WeightBytes: b.Memory().Weights,
		StateBytes: int64(4 * shape.StateLen()), LoadSeconds: time.Since(start).Seconds(),
	}
	err = r.measure(cmd.Context(), b, shape, c.Engine.Threads, o)
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	if o.json {
		out := json.NewEncoder(cmd.OutOrStdout())
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	return r.write(cmd.OutOrStdout())
}

// benchBackend loads the model or makes the shape.
func benchBackend(cmd *cobra.Command, c config.Config, o benchOptions) (string, rwkv.Shape, infer.Backend, error) {
	if o.shape == "" {
		m, b, err := loadModel(cmd.Context(), cmd.ErrOrStderr(), c)
		if err != nil {
			return "", rwkv.Shape{}, nil, err
		}
		return m.Name, m.Shape, b, nil
	}
	shape, ok := shapes[o.shape]
	if !ok {
		return "", shape, nil, exitWith(exitUsage, fmt.Errorf("--shape is %q; it must be one of %q", o.shape, slices.Sorted(maps.Keys(shapes))))
	}
	if c.Engine.Weights == "auto" {
		c.Engine.Weights = "fp16"
	}
	meter := newMeter(cmd.ErrOrStderr())
	b, err := cpu.Synthetic(cmd.Context(), shape, 1, cpu.Options{
		Threads: c.Engine.Threads, Weights: c.Engine.Weights, Slots: c.Engine.Slots,
		Progress: func(done, total int64) { meter.show("making random weights", done, total, "weights") },
	})
	meter.clear()
	return o.shape + ", random weights", shape, b, exitWith(exitModel, err)
}

func (r *report) measure(ctx context.Context, b infer.Backend, shape rwkv.Shape, threads int, o benchOptions) error {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	var err error
	read := r.WeightBytes - embeddingBytes(shape, r.WeightBytes)
	if r.ReadBandwidth, err = kernel.ReadBandwidth(kernel.Best(), threads, read); err != nil {
		return err
	}
	for _, rows := range o.rows {
		s, err := measure.Decode(ctx, b, shape.Vocab, rows, measure.Plan{Runs: o.runs})
		if err != nil {
			return err
		}
		m := newMeasurements("decode", s)
		m.BandwidthShare = m.Median / float64(rows) * s.Bytes / r.ReadBandwidth
		r.Results = append(r.Results, m)
	}
	for _, n := range o.prompts {
		s, err := measure.Prefill(ctx, b, shape.Vocab, n, measure.Plan{Runs: o.runs})
		if err != nil {
			return err
		}
		r.Results = append(r.Results, newMeasurements("prompt", s))
	}
	return nil
}

// embeddingBytes is about what the embedding occupies, of which a step reads
// one row only: its share of the parameters.
func embeddingBytes(s rwkv.Shape, weights int64) int64 {
	return int64(float64(weights) * float64(s.Vocab*s.Embed) / float64(s.Params()))
}

func newMeasurements(what string, s measure.Series) measurements {
	return measurements{
		What: what, Rows: s.Rows, Tokens: s.Tokens, Median: s.Median(), Runs: s.Rates,
		StepP50: s.P50.Seconds(), StepP95: s.P95.Seconds(),
	}
}

func (r *report) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) } // reported by Flush
	_, err := fmt.Fprintf(out, "%s on %s\n%.1f M parameters, weights %s, loaded in %.2f s, state %s a conversation, memory reads %.1f GB/s\n\n",
		r.Model, r.Backend, float64(r.Parameters)/1e6, bytesText(r.WeightBytes), r.LoadSeconds, bytesText(r.StateBytes), r.ReadBandwidth/1e9)
	if err != nil {
		return err
	}
	line("what\trows\ttokens\ttokens/s\tlowest\thighest\tstep p50\tp95\tof bandwidth\t\n")
	for _, m := range r.Results {
		share := ""
		if m.BandwidthShare > 0 {
			share = fmt.Sprintf("%.0f %%", 100*m.BandwidthShare)
		}
		line("%s\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.2f ms\t%.2f ms\t%s\t\n", m.What, m.Rows, m.Tokens, m.Median, m.Runs[0], m.Runs[len(m.Runs)-1],
			1e3*m.StepP50, 1e3*m.StepP95, share)
	}
	return w.Flush()
}
