package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"rookery/chat/library"
	"rookery/config"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/load"
	"rookery/sessions"
)

func (a *app) adaptersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "adapters", Short: "Manage the adapters that conversations use", Args: usageArgs(cobra.NoArgs),
		Long: "Adapters change a model beside its weights: LoRA, PiSSA, DoRA, DiSHA, BAT, Bone, MoLE and replaced tensors, as\n" +
			"the public trainers write them. Conversations with different adapters run together. docs/adapters.md has the formats.",
		Example: "rookery adapters inspect lora.pth --model model.pth --alpha 32\nrookery run --adapter demo-pirate 'Tell me a story.'",
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "ls", Short: "List the known adapters", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listAdapters(cmd, asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.modelFlags(list.Flags())
	cmd.AddCommand(list, a.inspectAdapterCommand(), a.checkAdapterCommand(), &cobra.Command{
		Use: "forget NAME...", Short: "Remove adapters from the list; keep their files", Args: usageArgs(cobra.MinimumNArgs(1)), RunE: a.forgetAdapters,
	})
	return cmd
}

// An adapterJSON is an adapter as `adapters ls --json` prints it.
type adapterJSON struct {
	Name        string    `json:"name"`
	Path        string    `json:"path,omitempty"` // "": it comes with the model
	Fingerprint string    `json:"fingerprint,omitempty"`
	Strength    float32   `json:"strength"`
	Alpha       float32   `json:"alpha,omitempty"`
	Scale       float32   `json:"scale,omitempty"`
	Blocks      string    `json:"blocks,omitempty"`
	Merged      bool      `json:"merged"`
	Used        time.Time `json:"used,omitzero"`
}

func (a *app) listAdapters(cmd *cobra.Command, asJSON bool) error {
	registry, err := a.openRegistry(cmd.Context())
	if err != nil {
		return err
	}
	list, err := registry.List(cmd.Context())
	if err != nil {
		return err
	}
	if asJSON {
		out := make([]adapterJSON, len(list))
		for i, l := range list {
			out[i] = adapterJSON{
				Name: l.Name, Path: l.Path, Fingerprint: l.Fingerprint, Strength: l.Strength(), Alpha: l.Options.Alpha,
				Scale: l.Options.Scale, Blocks: l.Options.Blocks, Merged: l.Merged, Used: l.Used,
			}
		}
		return printJSON(cmd.OutOrStdout(), out)
	}
	w := newTable(cmd.OutOrStdout())
	for _, l := range list {
		w.fact(l.Title(), "%s", cmp.Or(l.Path, "comes with the model"))
	}
	return w.Flush()
}

// openRegistry opens the registry of adapters for the configured model, without
// loading the model.
func (a *app) openRegistry(ctx context.Context) (*library.AdapterRegistry, error) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	m, err := load.Identify(ctx, modelSpec(c, nil))
	if err != nil {
		return nil, exitWith(exitModel, err)
	}
	store, err := adapterStore(ctx, c)
	if err != nil {
		return nil, err
	}
	open, own := adaptersOf(m)
	return library.NewAdapterRegistry(nil, store, open, own), nil
}

func (a *app) inspectAdapterCommand() *cobra.Command {
	var f adapterFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "inspect FILE", Short: "Show kinds, ranks, layers and memory of a file", Args: usageArgs(cobra.ExactArgs(1)),
		Long: "Show what an adapter is when the model of --model (by default the embedded one) uses it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			registry, err := a.openRegistry(cmd.Context())
			if err != nil {
				return err
			}
			read, err := f.read(cmd.Context(), registry, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), describeAdapter(read, f.strength))
			}
			return describeAdapter(read, f.strength).write(cmd.OutOrStdout())
		},
	}
	a.modelFlags(cmd.Flags())
	f.addTo(cmd.Flags(), false)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) checkAdapterCommand() *cobra.Command {
	var f adapterFlags
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Load an adapter with its model and run one token", Args: usageArgs(cobra.ExactArgs(1)),
		Long: "Load an adapter with the model of --model (by default the embedded one), run a token with the adapter and one\n" +
			"without, and say whether the adapter can be used and how far it moves the logits.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return exitWith(exitUsage, errors.New("no adapter is named: give a name or a file"))
			}
			if f.name = args[0]; f.strength == 0 {
				return exitWith(exitUsage, errors.New("--adapter-strength 0 is no adapter: give another strength"))
			}
			return a.checkAdapter(cmd, f)
		},
	}
	a.modelFlags(cmd.Flags())
	f.addTo(cmd.Flags(), false)
	return cmd
}

func (a *app) checkAdapter(cmd *cobra.Command, f adapterFlags) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	e, err := openModel(cmd.Context(), cmd, c)
	if err != nil {
		return err
	}
	return errors.Join(checkAdapterOn(cmd, c, e, f), e.Close())
}

// checkAdapterOn runs a token on an engine, with the adapter and without, and prints
// how far the logits differ.
func checkAdapterOn(cmd *cobra.Command, c config.Config, e *infer.Engine, f adapterFlags) error {
	tokens := e.Model().Tokenizer.Encode(nil, "User:")
	with, err := f.computeLogits(cmd.Context(), c, e, infer.Request{Tokens: tokens})
	if err != nil {
		return err
	}
	without, err := computeLogits(cmd.Context(), e, infer.Request{Tokens: tokens})
	if err != nil {
		return err
	}
	loaded, err := e.Adapters(cmd.Context())
	if err != nil {
		return err
	}
	most := float32(0)
	for i, v := range with {
		if v-v != 0 {
			return exitWith(exitModel, fmt.Errorf("%s: with this adapter the model's logits are not numbers: the training has failed, use an earlier file", f.name))
		}
		most = max(most, v-without[i], without[i]-v)
	}
	l := loaded[0]
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok, %s of rank %d for %s, %s in memory; it moves logits by up to %.3g\n",
		l.Name, l.Kinds(), l.Rank(), e.Model().Name, bytesText(l.Bytes), most)
	return err
}

func (a *app) forgetAdapters(cmd *cobra.Command, args []string) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	s, err := sessions.Open(cmd.Context(), c.Storage.DataDir)
	if err != nil {
		return exitWith(exitStore, err)
	}
	none := func(context.Context, string, string, adapter.Options) (*adapter.Adapter, error) {
		return nil, fs.ErrNotExist
	}
	registry := library.NewAdapterRegistry(nil, s, none, nil)
	for _, name := range args {
		if err = registry.ForgetNamed(cmd.Context(), name); err != nil {
			break
		}
	}
	return errors.Join(err, s.Close())
}
