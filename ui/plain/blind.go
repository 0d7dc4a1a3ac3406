package plain

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// readBlind reads several answers out in any order, without what tells whose
// they are.
func (c *console) readBlind(rows []chat.Alternative) {
	rows = slices.Clone(rows)
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	c.hidden = make([]turn.ID, len(rows))
	for i, r := range rows {
		c.hidden[i] = r.Turn.ID
		c.say(fmt.Sprintf("Answer %d of %d: %s", i+1, len(rows), kit.Clean(textOf(r))))
	}
	c.say("/votes and a number says which is best, /votes tie that none is; then the names are told.")
}

// numbered are the answers that wait, in the order that they were read out in.
func (c *console) numbered() []chat.Alternative {
	rows := c.d.View().Alternatives
	if len(c.hidden) != len(rows) {
		return rows
	}
	ordered := make([]chat.Alternative, len(rows))
	for i, id := range c.hidden {
		at := slices.IndexFunc(rows, func(r chat.Alternative) bool { return r.Turn.ID == id })
		if at < 0 { // they are others
			return rows
		}
		ordered[i] = rows[at]
	}
	return ordered
}

// reveal tells the names of answers that were read out without them.
func (c *console) reveal(rows []chat.Alternative) {
	if c.hidden == nil {
		return
	}
	c.hidden = nil
	first := c.d.View().Alternatives[0].Turn.ID
	for i, r := range rows {
		from := ""
		if r.Turn.ID == first {
			from = " The conversation goes on from it; /next and /prev choose another."
		}
		c.say(fmt.Sprintf("Answer %d is of %s.%s", i+1, kit.OneLine(r.Variant.Name), from))
	}
}
