package chat

import (
	"context"
	"errors"
	"slices"
	"time"

	"rookery/chat/compare"
	"rookery/chat/save"
	"rookery/chat/turn"
)

// ErrVoted says that the answers at hand were voted on.
var ErrVoted = errors.New("these answers have their vote: compare again for another one")

// Vote remembers for good which of the answers that wait for Keep a person
// likes best; 0 is a tie. It does not wait for the store, which comes to have
// it as surely as the answers.
func (d *Dialogue) Vote(winner turn.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.choice
	switch {
	case c == nil || c.chosen || len(c.rows) < 2:
		return errNoChoice
	case c.voted:
		return ErrVoted
	}
	v := turn.Vote{Winner: turn.Tie, Created: time.Now()}
	if winner != 0 {
		if v.Winner = slices.Index(c.rows, winner); v.Winner < 0 {
			return missing(winner)
		}
	}
	if prompt := d.tree.nodes[c.prompt]; prompt != nil {
		v.Prompt = compare.HashPrompt(prompt.turn.Text)
	}
	for _, id := range c.rows {
		v.Variants = append(v.Variants, c.answers[id].variant.Describe(c.answers[id].model()))
	}
	c.voted = true
	saved := make(chan struct{})
	d.workspace.casting(unsavedVote{d.saver, saved})
	d.saver.Queue("saving the vote", nil, func(ctx context.Context, s turn.Store) error {
		err := s.AddVote(ctx, v)
		if err == nil {
			close(saved)
		}
		return err
	})
	d.publish()
	return nil
}

// An unsavedVote is a vote on its way to the store, behind the answers that it is about.
type unsavedVote struct {
	keep  *save.Saver
	saved chan struct{} // closed when it is there
}

func (k *Workspace) casting(c unsavedVote) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.casts = slices.DeleteFunc(k.casts, func(c unsavedVote) bool {
		select {
		case <-c.saved:
			return true
		default:
			return false
		}
	})
	k.casts = append(k.casts, c)
}

// Votes are all that were given, oldest first; one that cannot be saved now is
// left out. It blocks.
func (k *Workspace) Votes(ctx context.Context) ([]turn.Vote, error) {
	k.mu.Lock()
	casts := slices.Clone(k.casts)
	k.mu.Unlock()
	for _, c := range casts {
		c.keep.Await(ctx, c.saved)
	}
	return k.store.Votes(ctx)
}
