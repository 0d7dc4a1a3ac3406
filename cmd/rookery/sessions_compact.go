package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rookery/sessions"
)

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
