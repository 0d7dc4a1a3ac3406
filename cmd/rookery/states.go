package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/load"
	"rookery/infer/statefile"
	"rookery/untrusted"
)

func (a *app) statesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "states", Short: "Manage the states that conversations begin from", Args: usageArgs(cobra.NoArgs),
		Long: "Manage the library of states. A state is what a model remembers: baked from a text, tuned by training, or\n" +
			"saved after a turn of a conversation. A conversation that begins from a state has read all of it.",
		Example: "rookery states bake book.txt --name book\nrookery chat --state book\nrookery run --state demo-sad 'Tell me a story.'",
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "ls", Short: "List the states", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listStates(cmd, asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		list, a.bakeCommand(), a.importStateCommand(), a.exportStateCommand(), a.inspectStateCommand(), a.distanceCommand(),
		templateCommand(a, "template NAME", "Set how a state is spoken to", func(name string) string { return stateTemplate + name }),
		&cobra.Command{Use: "rename NAME NEW", Short: "Give a state another name", Args: usageArgs(cobra.ExactArgs(2)), RunE: a.renameState},
		&cobra.Command{Use: "rm NAME...", Short: "Delete states that no conversation begins from", Args: usageArgs(cobra.MinimumNArgs(1)), RunE: a.removeStates},
	)
	return cmd
}

// A stateJSON is a state as `states --json` prints it. docs/states.md documents it.
type stateJSON struct {
	ID       int64     `json:"id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	Source   string    `json:"source"`
	Model    string    `json:"model"`
	Adapter  string    `json:"adapter,omitempty"`
	Layers   int       `json:"layers"`
	Embed    int       `json:"embed"`
	Heads    int       `json:"heads"`
	HeadSize int       `json:"head_size"`
	Tokens   int       `json:"tokens"`
	Bytes    int64     `json:"bytes"`
	Created  time.Time `json:"created,omitzero"`
	BuiltIn  bool      `json:"built_in"`
}

func newStateJSON(s turn.State) stateJSON {
	return stateJSON{
		ID: int64(s.ID), Name: s.Name, Kind: string(s.Kind), Source: s.Source, Model: s.ModelName, Adapter: s.AdapterName,
		Layers: s.Shape.Layers, Embed: s.Shape.Embed, Heads: s.Shape.Heads, HeadSize: s.Shape.HeadSize,
		Tokens: s.Read, Bytes: s.Bytes, Created: s.Created, BuiltIn: s.BuiltIn(),
	}
}

// printJSON prints a value for programs.
func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

func (a *app) listStates(cmd *cobra.Command, asJSON bool) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	return readLibrary(cmd.Context(), c, func(l *library.Library) error {
		list, err := l.List(cmd.Context())
		if err != nil {
			return err
		}
		if asJSON {
			out := make([]stateJSON, len(list))
			for i, s := range list {
				out[i] = newStateJSON(s)
			}
			return printJSON(cmd.OutOrStdout(), out)
		}
		w := newTable(cmd.OutOrStdout())
		for _, s := range list {
			w.add("%s\t%s\t%d tokens\t%s\t%s\n", s.Name, s.Kind, s.Read, stateModel(s), bytesText(s.Bytes))
		}
		return w.Flush()
	})
}

// stateModel returns the name of a state's model, and of its adapter.
func stateModel(s turn.State) string {
	switch {
	case s.ModelName != "" && s.AdapterName != "":
		return s.ModelName + " with " + s.AdapterName
	case s.ModelName != "":
		return s.ModelName
	}
	return fmt.Sprintf("any of %d layers, %d channels", s.Shape.Layers, s.Shape.Embed)
}

func (a *app) bakeCommand() *cobra.Command {
	var name string
	var system, asJSON bool
	cmd := &cobra.Command{
		Use: "bake [FILE]", Short: "Read a text and save the state after it", Args: usageArgs(cobra.MaximumNArgs(1)),
		Long: "Read a text file, or standard input, from the zero state and save the state after it under a name.\n" +
			"A conversation that begins from it has read the text, at no cost.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.bakeState(cmd, args, name, system, asJSON) },
	}
	a.modelFlags(cmd.Flags())
	cmd.Flags().StringVar(&name, "name", "", "name of the state (default that of the file)")
	cmd.Flags().BoolVar(&system, "system", false, "read the text as a system prompt")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the new state as JSON")
	return cmd
}

func (a *app) bakeState(cmd *cobra.Command, args []string, name string, system, asJSON bool) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	r, err := readRecipe(cmd.Context(), cmd.InOrStdin(), args, name)
	if err != nil {
		return err
	}
	r.System = system
	return writeLibrary(cmd.Context(), c, func(l *library.Library) error {
		e, err := openModel(cmd.Context(), cmd, c)
		if err != nil {
			return err
		}
		started := time.Now()
		meter := newMeter(cmd.ErrOrStderr())
		s, err := l.Bake(cmd.Context(), e, r, func(p infer.Progress) {
			meter.showCount("reading", p.Read, p.ToRead, "tokens")
		})
		meter.clear()
		if err := errors.Join(err, e.Close()); err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), newStateJSON(s))
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d tokens in %.1f s, %s\n", s.Name, s.Read, time.Since(started).Seconds(), bytesText(s.Bytes))
		return err
	})
}

// readRecipe reads the text to bake, from a file or from standard input.
func readRecipe(ctx context.Context, in io.Reader, args []string, name string) (library.Recipe, error) {
	r := library.Recipe{Name: name, Source: "standard input"}
	if len(args) > 0 && args[0] != "-" {
		f, err := untrusted.Open(ctx, args[0], maxPrompt)
		if err != nil {
			return r, exitWith(exitUsage, err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in, r.Source = f, filepath.Base(args[0])
		if name == "" {
			r.Name = strings.TrimSuffix(r.Source, filepath.Ext(r.Source))
		}
	}
	if r.Name == "" {
		return r, exitWith(exitUsage, errors.New("a text from standard input needs a name: add --name"))
	}
	text, err := readText(in)
	r.Text = text
	return r, err
}

// readText reads a text of at most maxPrompt bytes.
func readText(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
	if err != nil {
		return "", fmt.Errorf("reading the text: %w", err)
	}
	if len(data) > maxPrompt {
		return "", exitWith(exitUsage, fmt.Errorf("the text is longer than %s", bytesText(int64(maxPrompt))))
	}
	return string(data), nil
}

func (a *app) importStateCommand() *cobra.Command {
	var name string
	var transpose, anyModel, withoutOffset, asJSON bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add a state from a file to the library", Args: usageArgs(cobra.ExactArgs(1)),
		Long: "Add a state from a file to the library: a tuned state of the public trainers (blocks.N.att.time_state in .pth or\n" +
			".safetensors, alone or merged into a model), or one that `rookery states export` wrote.\n\n" +
			"The state must fit the model of --model (by default the embedded one), and belongs to that model.",
	}
	a.modelFlags(cmd.Flags())
	cmd.Flags().StringVar(&name, "name", "", "name of the state (default that of the file)")
	cmd.Flags().BoolVar(&transpose, "transpose", false, "read [key, value] matrices; most files have [value, key] (default by the kind of file)")
	cmd.Flags().BoolVar(&withoutOffset, "without-offset", false, "ignore time_offset; use the file as an adapter as well (--adapter)")
	cmd.Flags().BoolVar(&anyModel, "any-model", false, "add it for every model of the same shape")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the new state as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := statefile.Options{WithoutOffset: withoutOffset}
		if cmd.Flags().Changed("transpose") {
			o.Order = statefile.OrderValueKey
			if transpose {
				o.Order = statefile.OrderKeyValue
			}
		}
		return a.importState(cmd, args[0], name, o, anyModel, asJSON)
	}
	return cmd
}

func (a *app) importState(cmd *cobra.Command, path, name string, o statefile.Options, anyModel, asJSON bool) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	var m *infer.Model
	if !anyModel {
		if m, err = load.Identify(cmd.Context(), modelSpec(c, nil)); err != nil {
			return exitWith(exitModel, err)
		}
	}
	return writeLibrary(cmd.Context(), c, func(l *library.Library) error {
		s, err := l.Import(cmd.Context(), path, name, o, m)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), newStateJSON(s))
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %d layers of %d heads, for %s\n", s.Name, s.Kind, s.Shape.Layers, s.Shape.Heads, stateModel(s))
		return err
	})
}

func (a *app) renameState(cmd *cobra.Command, args []string) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	return writeLibrary(cmd.Context(), c, func(l *library.Library) error {
		s, err := l.Find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return l.Rename(cmd.Context(), s.ID, args[1])
	})
}

func (a *app) removeStates(cmd *cobra.Command, args []string) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	return writeLibrary(cmd.Context(), c, func(l *library.Library) error {
		return removeStates(cmd.Context(), l, args)
	})
}

func removeStates(ctx context.Context, l *library.Library, names []string) error {
	for _, name := range names {
		s, err := l.Find(ctx, name)
		if err != nil {
			return err
		}
		if err := l.Delete(ctx, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// beginFrom opens a conversation that begins from the named state. It returns nil if
// name is "".
func beginFrom(ctx context.Context, workspace *chat.Workspace, name string) (*chat.Dialogue, error) {
	if name == "" {
		return nil, nil
	}
	s, err := workspace.Library().Find(ctx, name)
	if err != nil {
		return nil, exitWith(exitUsage, err)
	}
	d, err := workspace.NewFrom(s)
	return d, exitWith(exitModel, err)
}
