package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer/rwkv"
	"rookery/infer/statefile"
)

func (a *app) exportStateCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "export NAME", Short: "Write a state to a file", Args: usageArgs(cobra.ExactArgs(1)),
		Long: "Write a state to a file. The ending of its name chooses the form: .rkstate keeps everything and can be imported\n" +
			"again; .pth and .safetensors hold time_state in fp32, for trainers and other programs, without the token shifts.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.exportState(cmd, args[0], output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write: .rkstate, .pth or .safetensors")
	return cmd
}

func (a *app) exportState(cmd *cobra.Command, name, output string) error {
	format, err := statefile.FormatOf(output)
	if err != nil {
		return exitWith(exitUsage, fmt.Errorf("--output: %w", err))
	}
	s, err := a.namedState(cmd.Context(), name)
	if err != nil {
		return err
	}
	if err := transfer.WriteFile(output, func(w io.Writer) error { return s.Write(w, format) }); err != nil {
		return err
	}
	if lost := s.Lost(format); lost != "" {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "rookery: %s\n", lost)
	}
	return err
}

func (a *app) namedState(ctx context.Context, name string) (*turn.State, error) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return findState(ctx, c, name)
}

func (a *app) inspectStateCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "inspect NAME", Short: "Show where a state came from and its norms", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.namedState(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), newInspectedJSON(*s))
			}
			return printState(cmd.OutOrStdout(), *s)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// An inspectedJSON is what `states inspect --json` prints.
type inspectedJSON struct {
	stateJSON
	Norms []normsJSON `json:"norms"`
}

type normsJSON struct {
	AttShift float64   `json:"att_shift"`
	FFNShift float64   `json:"ffn_shift"`
	Heads    []float64 `json:"heads"`
}

func newInspectedJSON(s turn.State) inspectedJSON {
	out := inspectedJSON{stateJSON: newStateJSON(s)}
	for _, n := range s.Shape.Norms(s.Snapshot.State) {
		out.Norms = append(out.Norms, normsJSON(n))
	}
	return out
}

func printState(out io.Writer, s turn.State) error {
	w := newTable(out)
	w.add("name\t%s\nkind\t%s\nfrom\t%s\nmodel\t%s\ntokens\t%d\n", s.Name, s.Kind, s.Source, stateModel(s), s.Read)
	w.add("shape\t%d layers, %d heads of %d\nsize\t%s\n", s.Shape.Layers, s.Shape.Heads, s.Shape.HeadSize, bytesText(s.Bytes))
	if err := w.Flush(); err != nil {
		return err
	}
	w = newFigures(out)
	w.add("\nlayer\tatt shift\tffn shift\twkv\tlargest head\t\n")
	for i, n := range s.Shape.Norms(s.Snapshot.State) {
		most := 0
		for h, v := range n.Heads {
			if v > n.Heads[most] {
				most = h
			}
		}
		w.add("%d\t%.2f\t%.2f\t%.2f\t%d: %.2f\t\n", i, n.AttShift, n.FFNShift, n.WKV(), most, n.Heads[most])
	}
	return w.Flush()
}

func (a *app) distanceCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "distance NAME NAME", Short: "Measure how far two states are apart, by layer", Args: usageArgs(cobra.ExactArgs(2)),
		Long: "Measure how far two states are apart, by layer: the norm of the difference of the WKV parts relative to\n" +
			"the mean of their norms (0 for equal states, 2 for opposite ones), and the cosine of the angle between them.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.printDistance(cmd, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// A distanceJSON is what `states distance --json` prints.
type distanceJSON struct {
	L2     float64        `json:"relative_l2"`
	Cosine float64        `json:"cosine"`
	Layers []distanceJSON `json:"layers,omitempty"`
}

func distanceOf(d rwkv.Distance) distanceJSON { return distanceJSON{L2: d.L2, Cosine: d.Cosine} }

func (a *app) printDistance(cmd *cobra.Command, names []string, asJSON bool) error {
	one, err := a.namedState(cmd.Context(), names[0])
	if err != nil {
		return err
	}
	two, err := a.namedState(cmd.Context(), names[1])
	if err != nil {
		return err
	}
	if one.Shape != two.Shape {
		return fmt.Errorf("%q is of %s and %q of %s: states of different shapes cannot be compared", one.Name, stateModel(*one), two.Name, stateModel(*two))
	}
	layers, all := one.Shape.Distances(one.Snapshot.State, two.Snapshot.State)
	if asJSON {
		out := distanceOf(all)
		for _, d := range layers {
			out.Layers = append(out.Layers, distanceOf(d))
		}
		return printJSON(cmd.OutOrStdout(), out)
	}
	w := newFigures(cmd.OutOrStdout())
	w.add("layer\trelative L2\tcosine\t\n")
	for i, d := range layers {
		w.add("%d\t%.4f\t%.4f\t\n", i, d.L2, d.Cosine)
	}
	w.add("all\t%.4f\t%.4f\t\n", all.L2, all.Cosine)
	return w.Flush()
}
