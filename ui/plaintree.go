package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rookery/chat"
	"rookery/ui/kit"
	"rookery/ui/tree"
)

// fork goes on with a copy of the conversation; further ones are stored.
func (p *plain) fork(arg string) error {
	n, err := kit.ParseNumber(arg, 1)
	if err != nil {
		return err
	}
	turns := p.d.View().Turns
	if len(turns) == 0 {
		return tree.ErrNoTurns
	}
	forks, err := p.workspace.Fork(p.d, turns[len(turns)-1].ID, n)
	if err != nil {
		return err
	}
	for _, d := range forks[1:] {
		p.workspace.CloseDialogue(d)
	}
	p.use(forks[0])
	p.say(fmt.Sprintf("Forked into %d. This is %s; /open lists the others.", n, kit.TitleOf(forks[0].View().Conversation)))
	return nil
}

// tokens says what could have stood at a token of the last answer, or goes on
// from one of that.
func (p *plain) tokens(arg string) error {
	answer, ok := kit.LastAnswer(p.d.View().Turns)
	if !ok {
		return errors.New("there is no answer yet")
	}
	d := p.conversation()
	tokens, err := d.Tokens(answer.ID)
	if err != nil {
		return err
	}
	words := strings.Fields(arg)
	if len(words) == 0 {
		p.say(fmt.Sprintf("The answer has %d tokens. /tokens and a number looks at one.", len(tokens)))
		return nil
	}
	at, err := strconv.Atoi(words[0])
	if err != nil || at < 1 || at > len(tokens) {
		return fmt.Errorf("the answer has tokens 1 to %d", len(tokens))
	}
	list, err := d.Candidates(p.ctx, answer.ID, at-1, tree.MostCandidates)
	if err != nil {
		return err
	}
	if len(words) > 1 {
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 || n > len(list) {
			return fmt.Errorf("there are candidates 1 to %d", len(list))
		}
		return d.Branch(answer.ID, at-1, list[n-1].Token)
	}
	for i, c := range list {
		p.say(spokenCandidate(i, c))
	}
	p.say(fmt.Sprintf("/tokens %d and a number goes on from that one.", at))
	return nil
}

// choose waits for several answers and reads them out. It reports whether the
// view has nothing else to say.
func (p *plain) choose(v chat.View) bool {
	if v.Live != nil {
		return true
	}
	blind := p.blind && len(v.Alternatives) > 1
	p.choosing, p.blind, p.hidden = false, false, nil
	if blind {
		p.readBlind(v.Alternatives)
		return false
	}
	judged := perplexities(p.ctx, p.d, v.Alternatives)
	for i, r := range v.Alternatives {
		p.say(readOut(i, len(v.Alternatives), r) + judgement(judged, i) + ": " + kit.Clean(answerOf(r)))
	}
	if len(v.Alternatives) > 0 {
		p.say("The conversation goes on from the first; /next and /prev choose another.")
	}
	if len(v.Alternatives) > 1 && v.Alternatives[0].Variant.Name != "" {
		p.say("/votes and a number says which is best, /votes tie that none is.")
	}
	return false
}
