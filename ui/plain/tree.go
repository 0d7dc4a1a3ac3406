package plain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rookery/ui/kit"
	"rookery/ui/tree"
)

// fork goes on with a copy of the conversation; further ones are stored.
func (c *console) fork(arg string) error {
	n, err := kit.ParseNumber(arg, 1)
	if err != nil {
		return err
	}
	turns := c.d.View().Turns
	if len(turns) == 0 {
		return tree.ErrNoTurns
	}
	forks, err := c.workspace.Fork(c.d, turns[len(turns)-1].ID, n)
	if err != nil {
		return err
	}
	for _, d := range forks[1:] {
		c.workspace.CloseDialogue(d)
	}
	c.use(forks[0])
	c.say(fmt.Sprintf("Forked into %d. This is %s; /open lists the others.", n, kit.TitleOf(forks[0].View().Conversation)))
	return nil
}

// tokens says what could have stood at a token of the last answer, or goes on
// from one of that.
func (c *console) tokens(arg string) error {
	answer, ok := kit.LastAnswer(c.d.View().Turns)
	if !ok {
		return errors.New("there is no answer yet")
	}
	tokens, err := c.d.Tokens(answer.ID)
	if err != nil {
		return err
	}
	words := strings.Fields(arg)
	if len(words) == 0 {
		c.say(fmt.Sprintf("The answer has %d tokens. /tokens and a number looks at one.", len(tokens)))
		return nil
	}
	at, err := strconv.Atoi(words[0])
	if err != nil || at < 1 || at > len(tokens) {
		return fmt.Errorf("the answer has tokens 1 to %d", len(tokens))
	}
	list, err := c.d.Candidates(c.ctx, answer.ID, at-1, tree.MostCandidates)
	if err != nil {
		return err
	}
	if len(words) > 1 {
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 || n > len(list) {
			return fmt.Errorf("there are candidates 1 to %d", len(list))
		}
		return c.d.Branch(answer.ID, at-1, list[n-1].Token)
	}
	for i, candidate := range list {
		c.say(formatCandidate(i, candidate))
	}
	c.say(fmt.Sprintf("/tokens %d and a number goes on from that one.", at))
	return nil
}
