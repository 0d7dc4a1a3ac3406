package chat

import (
	"rookery/chat/turn"
)

// Rereads is how many tokens of the line the next answer reads again because
// the mix of the conversation has states that have not read them. Without a
// mix it is none: the conversation's own state is beside those of any mix.
func (v *View) Rereads() int {
	mix := v.Conversation.Mix
	if !mix.Active() {
		return 0
	}
	turns, n := v.Turns, 0
	if len(turns) > 0 && turns[len(turns)-1].Role == turn.RoleUser {
		turns = turns[:len(turns)-1] // it has to be read in any case
	}
	for i := len(turns) - 1; i >= 0; i-- {
		t := turns[i]
		if t.Role == turn.RoleAssistant && t.Mix.Same(mix) {
			break
		}
		if t.Recall != nil {
			n += len(t.Recall)
		} else {
			n += len(t.Tokens)
		}
	}
	return n
}
