package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rookery/chat/compare"
	"rookery/chat/turn"
)

// votesCommand shows and exports the votes of blind comparisons.
func (a *app) votesCommand() *cobra.Command {
	var asCSV, asJSONL, asJSON bool
	cmd := &cobra.Command{
		Use: "votes", Short: "Show which variants people preferred",
		Args: onlyOneFlag(usageArgs(cobra.NoArgs), "csv", "jsonl", "json"),
		Long: "Show the table of wins from the votes of the compare view, or with --csv or --jsonl all votes.\n\n" +
			"WON is the share of votes with Wilson's 95 % interval.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			votes, err := a.loadVotes(cmd)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			switch {
			case asCSV:
				return compare.WriteVotesCSV(w, votes)
			case asJSONL:
				return compare.WriteVotesJSONL(w, votes)
			case asJSON:
				return printJSON(w, newStandings(votes))
			}
			return printWins(w, compare.CountWins(votes))
		},
	}
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print all votes as CSV")
	cmd.Flags().BoolVar(&asJSONL, "jsonl", false, "print all votes as JSON, one a line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}

func (a *app) loadVotes(cmd *cobra.Command) ([]turn.Vote, error) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	s, err := readStore(cmd.Context(), c)
	if err != nil {
		return nil, err
	}
	votes, err := s.Votes(cmd.Context())
	return votes, exitWith(exitStore, errors.Join(err, s.Close()))
}

// A standingJSON is a variant of the table of wins.
type standingJSON struct {
	Variant json.RawMessage `json:"variant"`
	Votes   int             `json:"votes"`
	Wins    int             `json:"wins"`
	Ties    int             `json:"ties"`
	Losses  int             `json:"losses"`
	Won     [3]float64      `json:"won"` // share, low, high
}

func newStandings(votes []turn.Vote) []standingJSON {
	list := []standingJSON{}
	for _, s := range compare.CountWins(votes).Standings {
		list = append(list, standingJSON{
			Variant: json.RawMessage(s.Variant), Votes: s.Votes(), Wins: s.Wins, Ties: s.Ties, Losses: s.Losses,
			Won: [3]float64{s.Rate.Estimate, s.Rate.Low, s.Rate.High},
		})
	}
	return list
}

func printWins(w io.Writer, table compare.WinTable) error {
	if table.Votes == 0 {
		_, err := fmt.Fprintln(w, "there are no votes: compare blindly in the chat and vote")
		return err
	}
	t := newTable(w)
	t.add("VARIANT\tWINS\tTIES\tLOSSES\tWON\n")
	for _, s := range table.Standings {
		t.add("%s\t%d\t%d\t%d\t%s\n", s.Variant.Title(), s.Wins, s.Ties, s.Losses, formatInterval(s.Rate))
	}
	return t.Flush()
}

func formatInterval(i compare.Interval) string {
	const percent = 100
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", percent*i.Estimate, percent*i.Low, percent*i.High)
}
