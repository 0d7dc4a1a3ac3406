package chat

import (
	"slices"

	"rookery/chat/turn"
)

// A stretch is consecutive tokens of a line that are read with one adapter.
type stretch struct {
	adapter, name  string
	tokens, replay []int32 // as infer.Request has them
	sure           int     // how many of them are to be read so whatever is set meanwhile
	first, last    int     // the turns that they are of, counted from 0
}

// A lining puts the stretches of a line together, from its end to its
// beginning: who has read what nobody wrote down shows in what comes next.
type lining struct {
	model  string
	force  bool        // all is read as what comes last is
	now    string      // the adapter in use
	pieces []stretch   // of a span each, the last one first
	next   turn.Span   // who reads what comes next
	sure   bool        // and that it is to be so
	before []turn.Span // who read the tokens right before that, where it says so
	anew   turn.Anew   // what is read anew, of the turns further up
	base   *turn.ID    // what the line begins from, where a turn of it says so
}

// turn adds what the line reads of a turn: its tokens, or what stands in their
// place. at is its number, and replay says that it is the answer that goes on.
func (l *lining) turn(at int, t *turn.Turn, tokens []int32, replay bool) {
	r, known := t.ReadingBy(l.model)
	recalled := t.Recall != nil && !replay
	anew := l.anew
	l.anew.Turns = max(anew.Turns-1, 0)
	switch {
	case l.force:
		l.put(at, tokens, []turn.Span{l.next.Resize(len(tokens))}, replay, known || l.sure)
		l.sure = l.sure || known
	case anew.Turns > 0:
		l.next, l.sure, l.before = turn.Span{Adapter: anew.Adapter, Name: anew.Name}, true, nil
		l.put(at, tokens, []turn.Span{l.next.Resize(len(tokens))}, replay, true)
	case known && !recalled:
		read := min(max(len(t.Tokens)-r.Unread, 0), len(t.Tokens))
		before, own := r.Over(read)
		read = min(read, len(tokens))
		l.tail(at, tokens[read:], replay)
		l.put(at, tokens[:read], turn.Leading(own, read), replay, true)
		if first := slices.Concat(before, own); len(first) > 0 {
			l.next, l.sure = first[0].Resize(0), true
		}
		l.before = before
	default:
		l.tail(at, tokens, replay)
	}
	if anew.Turns == 0 && known && !recalled && r.Anew != nil {
		l.above(at, *r.Anew)
	}
}

// above is what was read anew for turn at.
func (l *lining) above(at int, anew turn.Anew) {
	l.anew, l.before = anew, nil
	if l.anew.Turns = min(anew.Turns, at); anew.Turns >= at && l.base == nil {
		l.base = &anew.Base
	}
}

// tail adds tokens that belong to what comes next.
func (l *lining) tail(at int, tokens []int32, replay bool) {
	if len(tokens) == 0 {
		return
	}
	spans := []turn.Span{l.next.Resize(len(tokens))}
	if len(l.before) > 0 {
		spans = turn.Trailing(l.before, len(tokens))
	}
	l.put(at, tokens, spans, replay, l.sure)
	l.next, l.before = spans[0].Resize(0), nil
}

// put adds tokens with who reads them.
func (l *lining) put(at int, tokens []int32, spans []turn.Span, replay, sure bool) {
	for _, s := range slices.Backward(spans) {
		n := len(tokens) - s.Tokens
		p := stretch{adapter: s.Adapter, name: s.Name, first: at, last: at}
		if p.tokens = tokens[n:]; replay {
			p.tokens, p.replay = nil, tokens[n:]
		}
		if sure {
			p.sure = s.Tokens
		}
		l.pieces, tokens = append(l.pieces, p), tokens[:n]
	}
}

// stretches are the line's, from its beginning to its end.
func (l *lining) stretches() []stretch {
	var all []stretch
	for _, p := range slices.Backward(l.pieces) {
		last := len(all) - 1
		if last < 0 || all[last].adapter != p.adapter {
			p.tokens, p.replay = slices.Clone(p.tokens), slices.Clone(p.replay)
			all = append(all, p)
			continue
		}
		s := &all[last]
		s.tokens, s.replay = append(s.tokens, p.tokens...), append(s.replay, p.replay...)
		s.sure, s.last = s.sure+p.sure, p.last
	}
	return all
}

// stretched is the start of a line that is read from a state on: all but what
// is left for the request of the answer, which runs with adapter.
func stretched(all []stretch, adapter string) start {
	s := start{adapter: adapter, before: all}
	if last := len(all) - 1; last >= 0 && all[last].adapter == adapter {
		s.before = all[:last:last]
		s.tokens, s.replay, s.sure = all[last].tokens, all[last].replay, all[last].sure
	}
	for _, p := range all {
		s.anew += len(p.tokens)
	}
	return s
}
