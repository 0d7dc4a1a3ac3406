package ui

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

type (
	// votePane says which answer is the best; without one, that none is.
	votePane struct {
		c      *comparison
		winner *pane
	}
	// lookAtVotes shows the win table above a comparison.
	lookAtVotes struct{}
)

// carryOut takes the vote to the store and shows whose answers these are.
func (i votePane) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	c := i.c
	if c.running() {
		c.said = "The answers are running: wait until all have ended, or stop them."
		return nil
	}
	var id turn.ID
	said := "a tie"
	if i.winner != nil {
		id, said = i.winner.row.Turn.ID, "you prefer "+kit.OneLine(i.winner.name)
		if i.winner.gone || !i.winner.there {
			c.said = "There is no answer to vote for."
			return nil
		}
	}
	if err := m.tab().d.Vote(id); err != nil {
		c.said = kit.OneLine(err.Error())
		return nil
	}
	c.blind, c.voted, c.said = false, c.blind || c.voted, said
	return nil
}

func (i lookAtVotes) do(h kit.Host) tea.Cmd { return h.(*Model).showVotes("") }
