package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/untrusted"
)

// compareOptions are the flags of `compare` alone.
type compareOptions struct {
	prompts   string
	variants  []string
	file      string
	samples   int
	reference string
	mix       mixFlag // of variants without one
	rows      int
	json      bool
	jsonl     bool
	out       string
}

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use: "compare", Short: "Answer prompts in several ways and compare",
		Args: onlyOneFlag(usageArgs(cobra.NoArgs), "json", "jsonl"),
		Long: "Answer every prompt of a file with every variant, all as rows of the same steps.\n\n" +
			"A line of the file is a prompt, {\"prompt\": ...} or {\"messages\": [{\"role\": ..., \"content\": ...}, ...]}.\n" +
			"A variant is a name and settings: " + variantKeyNames() + ".\n" +
			"With -o the results go to a file as they come; after an interruption the same command goes on from there.",
		Example: "rookery compare --prompts p.jsonl --variant bare: --variant 'sad: state=demo-sad, temp=0.8' -o out.jsonl\n" +
			"rookery compare --prompts p.txt --variants ways.toml --samples 4 --reference bare --json\nrookery compare votes --csv",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.comparePrompts(cmd, o) },
	}
	a.modelFlags(cmd.Flags())
	a.chatFlags(cmd.Flags())
	a.samplingFlags(cmd.Flags())
	fs := cmd.Flags()
	fs.StringVar(&o.prompts, "prompts", "", "file of prompts, one a line; - is standard input")
	fs.StringArrayVar(&o.variants, "variant", nil, "a variant as \"name: key=value, ...\" (repeatable)")
	fs.StringVar(&o.file, "variants", "", "file of variants, TOML or JSON")
	fs.StringVar(&o.mix.text, "mix", "", "mix of the variants that have none of their own: own=1,state=weight,...")
	fs.IntVar(&o.samples, "samples", 1, "number of answers of each variant to each prompt, with consecutive seeds")
	fs.StringVar(&o.reference, "reference", "", "variant that judges the answers by their perplexity")
	fs.IntVar(&o.rows, "rows", 32, "number of answers that run at once")
	fs.BoolVar(&o.json, "json", false, "print one JSON object at the end")
	fs.BoolVar(&o.jsonl, "jsonl", false, "print a JSON object for each prompt as it is done")
	fs.StringVarP(&o.out, "out", "o", "", "file to append a JSON object to for each finished prompt; prompts that it has are skipped")
	cmd.AddCommand(a.votesCommand())
	return cmd
}

const (
	maxSamples = 1000    // answers of one variant to one prompt
	maxRows    = 1 << 16 // answers that run at once, as engine.slots
)

// readSpecs returns the variants that the flags name.
func (o *compareOptions) readSpecs(ctx context.Context) ([]variantSpec, error) {
	var list []variantSpec
	if o.file != "" {
		var err error
		if list, err = readVariants(ctx, o.file); err != nil {
			return nil, err
		}
	}
	for _, text := range o.variants {
		v, err := parseVariant(text)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	for i := range list {
		list[i].Mix = cmp.Or(list[i].Mix, o.mix.text)
	}
	switch {
	case o.samples < 1 || o.samples > maxSamples:
		return nil, fmt.Errorf("--samples %d: it must be 1 to %d", o.samples, maxSamples)
	case o.rows < 1 || o.rows > maxRows:
		return nil, fmt.Errorf("--rows %d: it must be 1 to %d", o.rows, maxRows)
	}
	return list, checkVariants(list)
}

func (a *app) comparePrompts(cmd *cobra.Command, o compareOptions) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	specs, err := o.readSpecs(cmd.Context())
	if err != nil {
		return exitWith(exitUsage, err)
	}
	prompts, err := o.readPrompts(cmd)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	c.Engine.Slots = min(c.Engine.Slots, o.slotCount(specs))
	return withComparison(cmd, c, specs, func(b *comparison) error {
		if err := b.chooseReference(o.reference); err != nil {
			return exitWith(exitUsage, err)
		}
		const spare = 2 // answers that wait for a slot while other prompts wait for their longest answers
		b.samples, b.rows = o.samples, spare*o.rows
		return b.writeResults(cmd, prompts, o)
	})
}

// slotCount returns enough slots for the rows that run at once and for the largest mix.
func (o *compareOptions) slotCount(specs []variantSpec) int {
	n := o.rows
	for _, v := range specs {
		mix := mixFlag{text: v.Mix}
		n = max(n, mix.slotCount())
	}
	return n
}

// readPrompts reads the file of prompts that the flags name.
func (o *compareOptions) readPrompts(cmd *cobra.Command) ([]promptLine, error) {
	switch o.prompts {
	case "":
		return nil, errors.New("there are no prompts: name a file with --prompts")
	case "-":
		return readPrompts(cmd.InOrStdin(), "standard input")
	}
	f, err := untrusted.Open(cmd.Context(), o.prompts, untrusted.Unbounded)
	if err != nil {
		return nil, err
	}
	prompts, err := readPrompts(f, filepath.Base(o.prompts))
	return prompts, errors.Join(err, f.Close())
}

// A contestant is a variant that is ready to answer.
type contestant struct {
	spec      variantSpec
	variant   chat.Variant
	workspace *chat.Workspace
}

// model returns the model that the variant runs on.
func (c *contestant) model() *infer.Model {
	if g := c.variant.Model; g != nil {
		return g.Model()
	}
	return c.workspace.Engine().Model()
}

// makeContestant turns what a person wrote into a variant: it loads the adapter and
// finds the states.
func (v variantSpec) makeContestant(ctx context.Context, c config.Config, workspace *chat.Workspace) (contestant, error) {
	out, err := v.resolveVariant(ctx, c, workspace)
	if err != nil {
		return contestant{}, exitWith(exitUsage, fmt.Errorf("variant %s: %w", v.Name, err))
	}
	if err := out.Check(workspace.Engine().Model()); err != nil {
		return contestant{}, exitWith(exitUsage, err)
	}
	return contestant{v, out, workspace}, nil
}

func (v variantSpec) resolveVariant(ctx context.Context, c config.Config, workspace *chat.Workspace) (out chat.Variant, err error) {
	out.Name = v.Name
	name := c.Chat.Preset
	if v.Preset != "" {
		name = v.Preset
	}
	m := workspace.Engine().Model()
	preset, err := findPreset(prompt.Presets(m, ownPresets(c)...), m, name)
	if err != nil {
		return out, err
	}
	if out.Sampling, err = c.Sampling.Over(preset.Sampling); err != nil {
		return out, err
	}
	if out.Sampling, err = v.Sampling.Over(out.Sampling); err != nil {
		return out, err
	}
	if v.State != "" {
		if out.Base, err = workspace.Library().Find(ctx, v.State); err != nil {
			return out, err
		}
	}
	if v.Adapter != "" {
		strength := float32(1)
		if v.Strength != nil {
			strength = *v.Strength
		}
		if out.Adapter, err = workspace.Adapters().FindAt(ctx, v.Adapter, adapter.Options{}, strength); err != nil {
			return out, err
		}
	} else if v.Strength != nil {
		return out, errors.New("it has a strength and no adapter")
	}
	if v.Mix != "" {
		out.Mix, err = workspace.Library().ParseMix(ctx, v.Mix)
	}
	return out, err
}
