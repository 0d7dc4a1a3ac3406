package compare

import (
	"errors"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// errNoVote says how a vote is given in words.
var errNoVote = errors.New("write /votes and the number of the best answer of the last comparison, /votes tie, or /votes and a new file ending with .csv or .jsonl")

// errOneVariant says why answers that differ by seed alone are not voted on.
var errOneVariant = errors.New("these are answers of one variant: votes are on those of /compare")

// A Voter is a conversation with answers that can be voted on.
type Voter interface {
	View() chat.View
	Vote(winner turn.ID) error
}

// Vote gives a vote on the answers that wait to be chosen from: the number of
// one of rows, or "tie".
func Vote(d Voter, rows []chat.Alternative, arg string) (said string, err error) {
	if d.View().Live != nil {
		return "", errors.New("the answers are running: wait until all have ended, or stop them")
	}
	if arg == "tie" {
		return "a tie", d.Vote(0)
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return "", errNoVote
	}
	if n > len(rows) {
		return "", fmt.Errorf("%d answers wait for a vote", len(rows))
	}
	row := rows[n-1]
	if row.Variant.Name == "" {
		return "", errOneVariant
	}
	return "You prefer " + kit.OneLine(row.Variant.Name), d.Vote(row.Turn.ID)
}

// vote says which answer is the best; without one, that none is. Then the names
// are shown.
func (c *comparison) vote(winner *pane) kit.Action {
	return func(kit.Host) tea.Cmd {
		if c.oneVariant {
			c.said = errOneVariant.Error()
			return nil
		}
		if c.running() {
			c.said = "The answers are running: wait until all have ended, or stop them."
			return nil
		}
		var id turn.ID
		said := "a tie"
		if winner != nil {
			id, said = winner.row.Turn.ID, "you prefer "+kit.OneLine(winner.name)
			if winner.gone || !winner.there {
				c.said = "There is no answer to vote for."
				return nil
			}
		}
		if err := c.tab.Dialogue().Vote(id); err != nil {
			c.said = kit.OneLine(err.Error())
			return nil
		}
		c.blind, c.voted, c.said = false, c.blind || c.voted, said
		return nil
	}
}
