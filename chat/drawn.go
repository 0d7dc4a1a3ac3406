package chat

import (
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
)

// drawnKept is of how many answers the tokens stay as they were drawn.
const drawnKept = 16

// drawn is the last answers' tokens as they were drawn, with what each state
// of a mix thought of them.
type drawn struct {
	turns  []turn.ID // the one drawn last at the end
	tokens map[turn.ID][]infer.Token
}

func (d *drawn) keep(turnID turn.ID, tokens []infer.Token, more bool) {
	if len(tokens) == 0 {
		return
	}
	if d.tokens == nil {
		d.tokens = map[turn.ID][]infer.Token{}
	}
	if more {
		tokens = slices.Concat(d.tokens[turnID], tokens)
	}
	d.turns = append(slices.DeleteFunc(d.turns, func(id turn.ID) bool { return id == turnID }), turnID)
	d.tokens[turnID] = tokens
	if len(d.turns) > drawnKept {
		delete(d.tokens, d.turns[0])
		d.turns = slices.Delete(d.turns, 0, 1)
	}
}

// Drawn is the tokens of an answer as they were drawn, of the last answers
// since the program was started; otherwise nil. It must not be changed.
func (d *Dialogue) Drawn(id turn.ID) []infer.Token {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drawn.tokens[id]
}
