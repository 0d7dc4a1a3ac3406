package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rookery/chat/turn"
	"rookery/sessions"
	"rookery/ui/terminal"
)

// conversationJSON is a conversation as --json gives it.
type conversationJSON struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Named    bool       `json:"named"`
	Pinned   bool       `json:"pinned"`
	Archived bool       `json:"archived"`
	Deleted  *time.Time `json:"deleted,omitempty"` // when it was moved to the bin
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated"`
	Turns    int        `json:"turns"`
	Bytes    int64      `json:"bytes"`  // on disk: text, tokens and states
	States   int64      `json:"states"` // of them the states
}

func (a *app) listCommand() *cobra.Command {
	var archive, bin, all, asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the conversations, pinned ones first",
		Args:  onlyOneFlag(usageArgs(cobra.NoArgs), "archive", "bin", "all"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.readSessions(cmd.Context(), func(s *sessions.Store) error {
				list, err := s.Conversations(cmd.Context())
				if err != nil {
					return err
				}
				list = slices.DeleteFunc(list, func(c turn.Conversation) bool {
					inBin := !c.Deleted.IsZero()
					return !all && (inBin != bin || !inBin && c.Archived != archive)
				})
				slices.SortStableFunc(list, func(a, b turn.Conversation) int { return boolToInt(b.Pinned) - boolToInt(a.Pinned) })
				costs, err := s.Costs(cmd.Context())
				if err != nil {
					return err
				}
				return writeList(cmd.OutOrStdout(), list, costs, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&archive, "archive", false, "list the archive")
	cmd.Flags().BoolVar(&bin, "bin", false, "list the bin")
	cmd.Flags().BoolVar(&all, "all", false, "list all conversations, also those in the archive and the bin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func boolToInt(on bool) int {
	if on {
		return 1
	}
	return 0
}

func writeList(out io.Writer, list []turn.Conversation, costs map[turn.ID]turn.Cost, asJSON bool) error {
	if asJSON {
		all := make([]conversationJSON, len(list))
		for i, c := range list {
			all[i] = conversationJSON{
				ID: c.ID.String(), Title: c.Title, Named: c.Named, Pinned: c.Pinned, Archived: c.Archived,
				Created: c.Created.UTC(), Updated: c.Updated.UTC(),
				Turns: costs[c.ID].Turns, Bytes: costs[c.ID].Bytes(), States: costs[c.ID].SnapshotBytes,
			}
			if !c.Deleted.IsZero() {
				all[i].Deleted = &c.Deleted
			}
		}
		return printJSON(out, all)
	}
	w := newTable(out)
	for _, c := range list {
		w.add("%d\t%s\t%s\t%s%s\n", c.ID, c.Updated.Local().Format(time.DateTime), bytesText(costs[c.ID].Bytes()), oneLine(c.Title), conversationMarks(c))
	}
	return w.Flush()
}

// conversationMarks returns whether a conversation is pinned, archived or in the bin.
func conversationMarks(c turn.Conversation) string {
	var marks []string
	if c.Pinned {
		marks = append(marks, "pinned")
	}
	if c.Archived {
		marks = append(marks, "archived")
	}
	if !c.Deleted.IsZero() {
		marks = append(marks, "in the bin since "+c.Deleted.Local().Format(time.DateOnly))
	}
	if len(marks) == 0 {
		return ""
	}
	return "  (" + strings.Join(marks, ", ") + ")"
}

// oneLine puts a text on one line that a terminal can show.
func oneLine(text string) string { return terminal.Line(text, 0) }

// hitJSON is what a search found, as --json gives it.
type hitJSON struct {
	Conversation string    `json:"conversation"`
	Title        string    `json:"title"`
	Turn         string    `json:"turn,omitempty"` // "" for a title
	Role         string    `json:"role,omitempty"`
	Snippet      string    `json:"snippet"`
	Marks        [][2]int  `json:"marks"` // byte ranges of the snippet
	When         time.Time `json:"when"`
}

func (a *app) searchCommand() *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search TEXT...",
		Short: "Find messages and titles with all given words",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, found := strings.Join(args, " "), 0
			err := a.readSessions(cmd.Context(), func(s *sessions.Store) error {
				hits, err := searchSessions(cmd.Context(), s, query, limit)
				if err != nil {
					return err
				}
				found = len(hits)
				if n, err := s.Unindexed(cmd.Context()); err == nil && n > 0 {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "rookery: %d messages and titles of a large import are not searched yet: an open chat adds them\n", n)
				}
				return writeHits(cmd.OutOrStdout(), hits, asJSON)
			})
			if err == nil && found == 0 && !asJSON {
				return fmt.Errorf("nothing holds %q", query)
			}
			return err
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 20, "most hits to show")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func searchSessions(ctx context.Context, s *sessions.Store, query string, limit int) ([]hitJSON, error) {
	found, err := s.Search(ctx, query, limit)
	if err != nil {
		return nil, err
	}
	list, err := s.Conversations(ctx)
	if err != nil {
		return nil, err
	}
	title := make(map[turn.ID]string, len(list))
	for _, c := range list {
		title[c.ID] = c.Title
	}
	hits := make([]hitJSON, len(found))
	for i, f := range found {
		hits[i] = hitJSON{
			Conversation: f.Conversation.String(), Title: title[f.Conversation],
			Snippet: f.Snippet, Marks: f.Marks, When: f.When.UTC(),
		}
		if f.Turn != 0 {
			hits[i].Turn, hits[i].Role = f.Turn.String(), f.Role.String()
		}
	}
	return hits, nil
}

func writeHits(w io.Writer, hits []hitJSON, asJSON bool) error {
	if asJSON {
		return printJSON(w, hits)
	}
	for _, h := range hits {
		line := fmt.Sprintf("%s  %s  %s", h.Conversation, h.When.Local().Format(time.DateOnly), oneLine(h.Title))
		if h.Turn != "" {
			line += ": " + oneLine(h.Snippet)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
