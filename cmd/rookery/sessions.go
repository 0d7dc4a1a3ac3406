package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rookery/chat"
	"rookery/sessions"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "List, export, remove and check stored conversations", Args: usageArgs(cobra.NoArgs)}
	var format, output string
	export := &cobra.Command{
		Use:   "export ID",
		Short: "Write a conversation as markdown or JSON",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exportSession(cmd, args[0], format, output)
		},
	}
	export.Flags().StringVarP(&format, "format", "f", string(chat.Markdown), "markdown or json")
	export.Flags().StringVarP(&output, "output", "o", "", "file to write (default standard output)")
	cmd.AddCommand(
		&cobra.Command{Use: "ls", Short: "List the conversations, newest first", Args: usageArgs(cobra.NoArgs), RunE: a.listSessions},
		export,
		&cobra.Command{Use: "rm ID...", Short: "Delete conversations for good", Args: usageArgs(cobra.MinimumNArgs(1)), RunE: a.removeSessions},
		&cobra.Command{Use: "check", Short: "Read everything and report what is damaged", Args: usageArgs(cobra.NoArgs), RunE: a.checkSessions},
	)
	return cmd
}

// reading opens the store beside a chat that may be running.
func (a *app) reading(ctx context.Context, use func(*sessions.Store) error) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	s, err := sessions.OpenReadOnly(ctx, c.Storage.DataDir)
	if errors.Is(err, os.ErrNotExist) {
		return exitWith(exitStore, fmt.Errorf("there are no conversations in %s yet: `rookery` starts one", c.Storage.DataDir))
	}
	if err != nil {
		return exitWith(exitStore, err)
	}
	return exitWith(exitStore, errors.Join(use(s), s.Close()))
}

func (a *app) listSessions(cmd *cobra.Command, _ []string) error {
	return a.reading(cmd.Context(), func(s *sessions.Store) error {
		list, err := s.Conversations(cmd.Context())
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, c := range list {
			if _, err := fmt.Fprintf(w, "%d\t%s\t%s\n", c.ID, c.Updated.Local().Format(time.DateTime), c.Title); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

func parseID(text string) (chat.ID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, exitWith(exitUsage, fmt.Errorf("%q is not the number of a conversation: `rookery sessions ls` lists them", text))
	}
	return chat.ID(id), nil
}

func (a *app) exportSession(cmd *cobra.Command, arg, format, output string) error {
	id, err := parseID(arg)
	if err != nil {
		return err
	}
	f := chat.Format(format)
	if f != chat.Markdown && f != chat.JSON {
		return exitWith(exitUsage, fmt.Errorf("--format is %q; it must be %s or %s", format, chat.Markdown, chat.JSON))
	}
	return a.reading(cmd.Context(), func(s *sessions.Store) error {
		c, turns, _, err := s.Load(cmd.Context(), id)
		if err != nil {
			return err
		}
		line := chat.Line(turns, c.Head)
		if output == "" {
			return chat.Export(cmd.OutOrStdout(), f, c, line)
		}
		return writeNew(output, func(w io.Writer) error { return chat.Export(w, f, c, line) })
	})
}

// writeNew writes a file that does not exist yet.
func writeNew(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: choose another name or remove it first", path)
	}
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

func (a *app) removeSessions(cmd *cobra.Command, args []string) error {
	ids := make([]chat.ID, len(args))
	for i, arg := range args {
		var err error
		if ids[i], err = parseID(arg); err != nil {
			return err
		}
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	s, err := sessions.Open(cmd.Context(), c.Storage.DataDir)
	if err != nil {
		return exitWith(exitStore, err)
	}
	for _, id := range ids {
		if err = s.Delete(cmd.Context(), id); err != nil {
			break
		}
	}
	return exitWith(exitStore, errors.Join(err, s.Close()))
}

func (a *app) checkSessions(cmd *cobra.Command, _ []string) error {
	return a.reading(cmd.Context(), func(s *sessions.Store) error {
		size, err := s.Size(cmd.Context())
		if err != nil {
			return err
		}
		problems, err := s.Check(cmd.Context())
		if err != nil {
			return err
		}
		w := cmd.OutOrStdout()
		lost := 0
		for _, p := range problems {
			kind := "rebuilt when needed"
			if p.Lost {
				kind = "lost"
				lost++
			}
			if _, err := fmt.Fprintf(w, "%s: %s\n", kind, p.What); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(w, "%s: %s, %d conversations, %d turns, %d states (%s), %d problems\n",
			s.Path(), bytesText(size.Bytes), size.Conversations, size.Turns, size.Snapshots, bytesText(size.SnapshotBytes), len(problems))
		if err == nil && lost > 0 {
			err = fmt.Errorf("%d problems cost data: restore a copy of %s, or export what can be read", lost, s.Path())
		}
		return err
	})
}
