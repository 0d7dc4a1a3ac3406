package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// readBlind reads several answers out in any order, without what tells whose
// they are.
func (p *plain) readBlind(rows []chat.Alternative) {
	rows = slices.Clone(rows)
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	p.hidden = make([]turn.ID, len(rows))
	for i, r := range rows {
		p.hidden[i] = r.Turn.ID
		p.say(fmt.Sprintf("Answer %d of %d: %s", i+1, len(rows), kit.Clean(answerOf(r))))
	}
	p.say("/votes and a number says which is best, /votes tie that none is; then the names are told.")
}

// numbered are the answers that wait, in the order that they were read out in.
func (p *plain) numbered() []chat.Alternative {
	rows := p.d.View().Alternatives
	if len(p.hidden) != len(rows) {
		return rows
	}
	ordered := make([]chat.Alternative, len(rows))
	for i, id := range p.hidden {
		at := slices.IndexFunc(rows, func(r chat.Alternative) bool { return r.Turn.ID == id })
		if at < 0 { // they are others
			return rows
		}
		ordered[i] = rows[at]
	}
	return ordered
}

// unveil tells the names of answers that were read out without them.
func (p *plain) unveil(rows []chat.Alternative) {
	if p.hidden == nil {
		return
	}
	p.hidden = nil
	first := p.d.View().Alternatives[0].Turn.ID
	for i, r := range rows {
		from := ""
		if r.Turn.ID == first {
			from = " The conversation goes on from it; /next and /prev choose another."
		}
		p.say(fmt.Sprintf("Answer %d is of %s.%s", i+1, kit.OneLine(r.Variant.Name), from))
	}
}

// answerOf is what is read out of an answer.
func answerOf(r chat.Alternative) string {
	thought, answer, open := prompt.SplitThought(r.Text)
	if open {
		return "(thinking) " + thought
	}
	return strings.TrimSpace(answer)
}
