package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"rookery/chat/transfer"
	"rookery/infer/load"
	"rookery/sessions"
	"rookery/untrusted"
)

// importedJSON is an imported conversation as --json gives it.
type importedJSON struct {
	ID     string           `json:"id,omitempty"`
	Title  string           `json:"title"`
	Turns  int              `json:"turns"`
	States int              `json:"states"`
	Fate   transfer.Outcome `json:"fate"` // new, copy, present or refused
	Note   string           `json:"note,omitempty"`
}

func (a *app) importCommand() *cobra.Command {
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read conversations from files",
		Long: "Read conversations from bundles, JSON exports, and files in the forms of ShareGPT and OpenAI.\n" +
			"The command stores all of them, or none, and changes nothing that is stored: it gives another version\n" +
			"of a conversation a number of its own, and leaves out one that is stored already.",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.importFiles(cmd, args, dry, asJSON) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be stored, and store nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func (a *app) importFiles(cmd *cobra.Command, args []string, dry, asJSON bool) (err error) {
	paths, err := expandPatterns(args)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	p, err := a.newImport(cmd.Context())
	if err != nil {
		return err
	}
	for _, path := range paths {
		f, err := untrusted.Open(cmd.Context(), path, untrusted.Unbounded)
		if err != nil {
			return fmt.Errorf("importing: %w; nothing was stored", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		if err := p.Read(f, f.Size()); err != nil {
			return fmt.Errorf("%s: %w; nothing was stored", path, err)
		}
	}
	if dry {
		return a.planImport(cmd, p, asJSON)
	}
	return a.writeSessions(cmd.Context(), func(s *sessions.Store) error {
		arrivals, err := p.Commit(cmd.Context(), s)
		if err != nil {
			return err
		}
		return printImports(cmd.OutOrStdout(), arrivals, false, asJSON)
	})
}

// newImport is an import whose conversations of other programs begin as new ones of
// the configured model do. Without a model that can be read they begin as those of
// the World family.
func (a *app) newImport(ctx context.Context) (*transfer.Import, error) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	m, err := load.Identify(ctx, modelSpec(c, nil))
	if err != nil {
		return new(transfer.Import), nil //nolint:nilerr // conversations can be imported on a machine without the model
	}
	d, err := chatDefaults(c, m)
	like := d.Conversation(m)
	return &transfer.Import{Like: &like}, err
}

// planImport shows what an import would do; a chat may be running.
func (a *app) planImport(cmd *cobra.Command, p *transfer.Import, asJSON bool) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	store, err := readStore(cmd.Context(), c)
	if err != nil {
		return err
	}
	arrivals, err := p.Plan(cmd.Context(), store)
	if err = errors.Join(err, store.Close()); err != nil {
		return exitWith(exitStore, err)
	}
	return printImports(cmd.OutOrStdout(), arrivals, true, asJSON)
}

// expandPatterns returns the files that the arguments name. It expands patterns that
// the shell has not expanded.
func expandPatterns(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		if _, err := os.Stat(arg); err == nil {
			paths = append(paths, arg)
			continue
		}
		matches, err := filepath.Glob(arg)
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern of files: %w", arg, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("there is no file %s", arg)
		}
		paths = append(paths, matches...)
	}
	return slices.Compact(paths), nil
}

// printImports prints what became of every conversation.
func printImports(w io.Writer, arrivals []transfer.Result, dry, asJSON bool) error {
	all := make([]importedJSON, len(arrivals))
	count := map[transfer.Outcome]int{}
	for i, a := range arrivals {
		all[i] = importedJSON{Title: a.Title, Turns: a.Turns, States: a.States, Fate: a.Outcome, Note: a.Note}
		if a.ID != 0 {
			all[i].ID = a.ID.String()
		}
		count[a.Outcome]++
	}
	if asJSON {
		return printJSON(w, all)
	}
	for _, a := range all {
		line := fmt.Sprintf("%-8s%s", a.Fate, oneLine(a.Title))
		if a.Fate != transfer.OutcomeRefused {
			line += fmt.Sprintf(" (%s, %s)", a.ID, countText(a.Turns, "turn"))
		}
		if a.Note != "" {
			line += ": " + a.Note
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	done := "stored"
	if dry {
		done = "would be stored"
	}
	_, err := fmt.Fprintf(w, "%s %s; %d there already, %d refused\n",
		countText(count[transfer.OutcomeNew]+count[transfer.OutcomeCopy], "conversation"), done, count[transfer.OutcomePresent], count[transfer.OutcomeRefused])
	return err
}
