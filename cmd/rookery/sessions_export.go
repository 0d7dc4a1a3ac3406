package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rookery/chat"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/sessions"
)

// exportOptions say what is written, and where.
type exportOptions struct {
	format, output string
	tree, states   bool
}

func (a *app) exportCommand() *cobra.Command {
	var e exportOptions
	cmd := &cobra.Command{
		Use:   "export ID...|all",
		Short: "Write conversations as markdown, JSON or a bundle",
		Long: "Write a conversation as markdown or JSON, or conversations with all their versions as a bundle.\n" +
			"The ending of the output file chooses the format: .md, .json or " + transfer.BundleExt + ".",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.exportSessions(cmd, args, e) },
	}
	cmd.Flags().StringVarP(&e.format, "format", "f", "", "format: markdown, json or bundle (default by the ending of the file, or markdown)")
	cmd.Flags().StringVarP(&e.output, "output", "o", "", "file to write (default standard output)")
	cmd.Flags().BoolVar(&e.tree, "tree", false, "write all versions in JSON, not only the visible line; a bundle always has them")
	cmd.Flags().BoolVar(&e.states, "states", false, "include the stored states in the bundle, so that nothing is read again elsewhere")
	return cmd
}

// chooseFormat returns the format, or an error if the flags contradict each other.
func (e exportOptions) chooseFormat(args []string) (transfer.Format, error) {
	f := transfer.Format(e.format)
	switch {
	case f == "" && strings.EqualFold(filepath.Ext(e.output), transfer.BundleExt), f == "" && e.states:
		f = transfer.Bundle
	case f == "" && (e.tree || strings.EqualFold(filepath.Ext(e.output), ".json")):
		f = transfer.JSON
	case f == "":
		f = transfer.Markdown
	}
	switch {
	case f != transfer.Markdown && f != transfer.JSON && f != transfer.Bundle:
		return f, fmt.Errorf("--format is %q; it must be markdown, json or bundle", e.format)
	case f != transfer.Bundle && e.states:
		return f, errors.New("--states needs a bundle: give -o a name that ends in " + transfer.BundleExt)
	case f == transfer.Markdown && e.tree:
		return f, errors.New("--tree needs JSON or a bundle; markdown has only the visible line")
	case f != transfer.Bundle && (len(args) > 1 || args[0] == "all"):
		return f, errors.New("several conversations need a bundle: give -o a name that ends in " + transfer.BundleExt)
	case f == transfer.Bundle && e.output == "" && isTerminal(os.Stdout):
		return f, errors.New("a bundle cannot go to a terminal: give -o a name that ends in " + transfer.BundleExt)
	case f == transfer.JSON && e.tree:
		f = transfer.WholeTree
	}
	return f, nil
}

func (a *app) exportSessions(cmd *cobra.Command, args []string, e exportOptions) error {
	f, err := e.chooseFormat(args)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	var ids []turn.ID
	if len(args) != 1 || args[0] != "all" {
		if ids, err = parseIDs(args); err != nil {
			return err
		}
	}
	return a.readSessions(cmd.Context(), func(s *sessions.Store) error {
		var left []error // what could not be read
		write := func(w io.Writer) error { return writeOne(cmd.Context(), w, s, ids, f) }
		if f == transfer.Bundle {
			write = func(w io.Writer) (err error) {
				left, err = a.writeBundle(cmd, w, s, ids, e.states)
				return err
			}
		}
		if e.output == "" {
			err = write(cmd.OutOrStdout())
		} else {
			err = transfer.WriteFile(e.output, write)
		}
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d conversations or states could not be read and were left out; the first: %w; see `rookery sessions check`", len(left), left[0])
		}
		return err
	})
}

// writeOne writes one conversation as markdown or JSON.
func writeOne(ctx context.Context, w io.Writer, s *sessions.Store, ids []turn.ID, f transfer.Format) error {
	c, turns, err := s.Load(ctx, ids[0])
	if err != nil {
		return err
	}
	if f != transfer.WholeTree {
		turns = chat.Line(turns, c.Head)
	}
	return transfer.Export(w, f, c, turns)
}

// writeBundle writes the named conversations or, if ids is nil, all that are not in the
// bin. It returns why it left out what it could not read.
func (a *app) writeBundle(cmd *cobra.Command, w io.Writer, s *sessions.Store, ids []turn.ID, states bool) (left []error, err error) {
	ctx := cmd.Context()
	all := ids == nil
	if all {
		list, err := s.Conversations(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range slices.Backward(list) {
			if c.Deleted.IsZero() {
				ids = append(ids, c.ID)
			}
		}
	}
	meter := newMeter(cmd.ErrOrStderr())
	defer meter.clear()
	b := transfer.NewBundleWriter(w)
	for i, id := range ids {
		meter.showCount("exporting", i, len(ids), "conversations")
		t, err := transfer.LoadTree(ctx, s, id, states)
		switch {
		case err != nil && all && ctx.Err() == nil:
			left = append(left, err)
			continue
		case err != nil:
			return left, err
		case len(t.Turns) == 0:
			continue
		}
		if err := b.Add(t); err != nil {
			return left, err
		}
	}
	return append(left, b.Left()...), b.Close()
}
