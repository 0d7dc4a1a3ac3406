package compare

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer/sampler"
)

// exportedVote is a line of WriteVotesJSONL.
type exportedVote struct {
	Created  time.Time         `json:"created"`
	Prompt   string            `json:"prompt"` // hash
	Variants []json.RawMessage `json:"variants"`
	Winner   *int              `json:"winner"` // place in variants; null is a tie
}

// WriteVotesJSONL writes votes, one to a line.
func WriteVotesJSONL(w io.Writer, votes []turn.Vote) error {
	e := json.NewEncoder(w)
	for _, v := range votes {
		line := exportedVote{Created: v.Created.UTC(), Prompt: v.Prompt}
		for _, d := range v.Variants {
			if !json.Valid([]byte(d)) {
				return fmt.Errorf("a vote of %s has a variant that cannot be read", v.Created.Format(time.DateTime))
			}
			line.Variants = append(line.Variants, json.RawMessage(d))
		}
		if v.Winner != turn.Tie {
			line.Winner = &v.Winner
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// voteColumns are the columns of a variant, after those of its vote.
func voteColumns() []string {
	columns := []string{"vote", "created", "prompt", "outcome", "model", "state", "adapter", "adapter_id", "mix"}
	for _, f := range sampler.Fields {
		if f.Recipe {
			columns = append(columns, f.Name)
		}
	}
	return columns
}

// WriteVotesCSV writes votes with a row for each variant of each; those of one
// vote have its number. The outcome is won, tied or lost.
func WriteVotesCSV(w io.Writer, votes []turn.Vote) error {
	c := csv.NewWriter(w)
	if err := c.Write(voteColumns()); err != nil {
		return err
	}
	for n, v := range votes {
		for i, d := range v.Variants {
			row, err := votedRow(d)
			if err != nil {
				return fmt.Errorf("a vote of %s has a variant that cannot be read: %w", v.Created.Format(time.DateTime), err)
			}
			head := []string{strconv.Itoa(n + 1), v.Created.UTC().Format(time.RFC3339), v.Prompt, outcome(&v, i)}
			if err := c.Write(append(head, row...)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// outcome is what the vote says of its variant in place i.
func outcome(v *turn.Vote, i int) string {
	switch v.Winner {
	case turn.Tie:
		return "tied"
	case i:
		return "won"
	}
	return "lost"
}

// votedRow is the description as columns.
func votedRow(d turn.Description) ([]string, error) {
	var v turn.VariantFacts
	if err := json.Unmarshal([]byte(d), &v); err != nil {
		return nil, err
	}
	row := []string{v.Model, v.State, v.Adapter, v.AdapterID, v.Mix}
	for _, f := range sampler.Fields {
		if f.Recipe {
			row = append(row, f.Format(v.Sampling))
		}
	}
	return row, nil
}

// HashPrompt names a prompt in votes, which do not keep what people wrote.
func HashPrompt(text string) string {
	sum := sha256.Sum256([]byte(prompt.CleanText(text)))
	return hex.EncodeToString(sum[:])
}
