package replay

import "rookery/chat/turn"

// A Line is turns from the first to one, with the tokens that a model reads of
// them.
type Line struct {
	begins    turn.History
	model     string
	turns     []turn.Turn
	tokens    [][]int32
	answer    bool
	all       []int32 // tokens, one after the other
	ends      []int   // of each turn, how many tokens there are up to its end
	prompt    int     // how many tokens come before the answer's own
	histories []turn.History
}

// NewLine is the line of turns for a model. begins is the history of a line of
// which nobody has read anything. tokens are what the line reads of each turn.
// answer says that the last turn is an answer that goes on: its own tokens are
// read, whatever later turns read in their place, and they are not the prompt's.
func NewLine(begins turn.History, turns []turn.Turn, tokens [][]int32, answer bool) *Line {
	l := &Line{begins: begins, model: begins.Model, turns: turns, tokens: tokens, answer: answer}
	above := begins
	for i := range turns {
		if l.isAnswer(i) {
			l.prompt = len(l.all)
		}
		l.all = append(l.all, tokens[i]...)
		l.ends = append(l.ends, len(l.all))
		above = l.history(i, above)
		l.histories = append(l.histories, above)
	}
	if !answer {
		l.prompt = len(l.all)
	}
	return l
}

// history is what those below a turn go on from. above is that of the turn
// above.
func (l *Line) history(i int, above turn.History) turn.History {
	t := &l.turns[i]
	switch {
	case l.isRecalled(i): // nobody below has read it as its own state did
		return above
	case t.History.Known(l.model):
		return t.History.Prefix(l.ends[i])
	case t.Role == turn.RoleAssistant && t.Model == l.model && (t.AdapterID != "" || t.Adapter == ""):
		// It was not written down, as of imported turns: an answer has read what
		// it drew, and most likely its prompt.
		return above.Then(turn.Run{Tokens: max(l.ends[i]-above.Len(), 0), Adapter: t.AdapterID, Name: t.Adapter})
	}
	return above
}

// History is what those go on from that read the line up to a turn, by its
// place; -1 is the beginning.
func (l *Line) History(at int) turn.History {
	if at < 0 {
		return l.begins
	}
	return l.histories[at]
}

// Tokens are all that the line reads.
func (l *Line) Tokens() []int32 { return l.all }

// Prompt is how many of the tokens come before the answer's own.
func (l *Line) Prompt() int { return l.prompt }

// isAnswer says that a turn is the answer that goes on.
func (l *Line) isAnswer(i int) bool { return l.answer && i == len(l.turns)-1 }

// isRecalled says that the line reads something else than the turn's own state did.
func (l *Line) isRecalled(i int) bool { return l.turns[i].Recall != nil && !l.isAnswer(i) }

// Len is how many turns the line has.
func (l *Line) Len() int { return len(l.turns) }
