package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"rookery/chat/turn"
	"rookery/sessions"
)

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "Manage the stored conversations", Args: usageArgs(cobra.NoArgs)}
	cmd.AddCommand(a.listCommand(), a.searchCommand(), a.exportCommand(), a.importCommand())
	cmd.AddCommand(a.listingCommands()...)
	cmd.AddCommand(a.compactCommand())
	var repair bool
	check := &cobra.Command{
		Use: "check", Short: "Read everything and report what is damaged", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if repair {
				return a.repairSessions(cmd)
			}
			return a.checkSessions(cmd, args)
		},
	}
	check.Flags().BoolVar(&repair, "repair", false, "mend settings, states and the search index; no chat may run")
	cmd.AddCommand(check)
	return cmd
}

// readSessions opens the store for reading; a chat may be running.
func (a *app) readSessions(ctx context.Context, use func(*sessions.Store) error) error {
	c, err := a.loadConfig()
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

func parseID(text string) (turn.ID, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, exitWith(exitUsage, fmt.Errorf("%q is not the number of a conversation: `rookery sessions ls` lists them", text))
	}
	return turn.ID(id), nil
}

// parseIDs parses the numbers of conversations.
func parseIDs(args []string) ([]turn.ID, error) {
	ids := make([]turn.ID, len(args))
	for i, arg := range args {
		var err error
		if ids[i], err = parseID(arg); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// writeSessions opens the store for writing; no chat may be running.
func (a *app) writeSessions(ctx context.Context, use func(*sessions.Store) error) error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	s, err := sessions.Open(ctx, c.Storage.DataDir)
	if err != nil {
		return exitWith(exitStore, err)
	}
	return exitWith(exitStore, errors.Join(use(s), s.Close()))
}

func (a *app) checkSessions(cmd *cobra.Command, _ []string) error {
	return a.readSessions(cmd.Context(), func(s *sessions.Store) error {
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

// repairSessions mends what can be mended, and checks what is left.
func (a *app) repairSessions(cmd *cobra.Command) error {
	err := a.writeSessions(cmd.Context(), func(s *sessions.Store) error {
		done, err := s.Repair(cmd.Context())
		for _, line := range done {
			if _, werr := fmt.Fprintf(cmd.OutOrStdout(), "repaired: %s\n", line); werr != nil {
				return werr
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.checkSessions(cmd, nil)
}

func (a *app) compactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Thin states and shrink the database",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.loadConfig()
			if err != nil {
				return err
			}
			return a.writeSessions(cmd.Context(), func(s *sessions.Store) error {
				s.SetRetention(retention(c))
				done, err := s.Compact(cmd.Context())
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, was %s; %s of states thinned\n",
					s.Path(), bytesText(done.After), bytesText(done.Before), bytesText(done.Snapshots))
				return err
			})
		},
	}
}
