package chattest

import (
	"slices"

	"rookery/chat/turn"
)

// Readers are the tokens of a line, as the state after its last turn has read
// them, and for each the adapter that has read it. Those that this state leaves
// unread are there too, read with none. tree is all turns of the conversation.
func Readers(line, tree []turn.Turn) (tokens []int32, by []string) {
	below := reader{tree: tree}
	for i, t := range slices.Backward(line) {
		own, who := below.turn(i, &t, i == len(line)-1)
		tokens, by = slices.Concat(own, tokens), slices.Concat(who, by)
	}
	return tokens, by
}

// A reader goes up a line: a turn says who has read the last tokens of the one
// above it, where those were left to it.
type reader struct {
	tree  []turn.Turn
	first string    // who read the first token below, which tokens are read with that nobody wrote down
	above []string  // who read the last tokens above, where that is written down
	anew  turn.Anew // what was read once more for a turn below
}

func (r *reader) turn(at int, t *turn.Turn, last bool) (tokens []int32, by []string) {
	recalled := t.Recall != nil && !last
	if tokens = t.Tokens; recalled {
		tokens = t.Recall
	}
	if r.anew.Turns > 0 {
		r.anew.Turns--
		r.first, r.above = r.anew.Adapter, nil
		return tokens, slices.Repeat([]string{r.first}, len(tokens))
	}
	spans := r.spans(t)
	if len(spans) == 0 || recalled {
		return tokens, r.left(len(tokens))
	}
	late := r.left(t.Reading.Unread)
	all := each(spans, t.Reading.Before+len(tokens)-t.Reading.Unread)
	if r.above = all[:t.Reading.Before]; len(all) > 0 {
		r.first = all[0]
	}
	if a := t.Reading.Anew; a != nil {
		r.anew, r.above = *a, nil
		r.anew.Turns = min(a.Turns, at)
	}
	return tokens, slices.Concat(all[t.Reading.Before:], late)
}

// spans are who read a turn: an answer has read itself, and a prompt of which
// nothing is written down was read as the first that goes on from it.
func (r *reader) spans(t *turn.Turn) []turn.Span {
	switch {
	case len(t.Reading.Spans) > 0:
		return t.Reading.Spans
	case t.Role == turn.RoleAssistant:
		return []turn.Span{{Adapter: t.AdapterID}}
	}
	for _, below := range r.tree {
		if below.Parent == t.ID && below.Reading.Anew == nil && len(below.Reading.Spans) > 0 {
			before := below.Reading.Before
			return []turn.Span{{Adapter: each(below.Reading.Spans, before+1)[before]}}
		}
	}
	return nil
}

// left are who has read the last n tokens of a turn, which it left to those below.
func (r *reader) left(n int) []string {
	if n == 0 {
		return nil
	}
	by := r.above[max(len(r.above)-n, 0):]
	for len(by) < n {
		first := r.first
		if len(r.above) > 0 {
			first = r.above[0]
		}
		by = slices.Concat([]string{first}, by)
	}
	r.first, r.above = by[0], nil
	return by
}

// each are the adapters of n tokens. The last span has what the others leave.
func each(spans []turn.Span, n int) (by []string) {
	for i, s := range spans {
		count := min(s.Tokens, n-len(by))
		if i == len(spans)-1 {
			count = n - len(by)
		}
		by = append(by, slices.Repeat([]string{s.Adapter}, count)...)
	}
	return by
}
