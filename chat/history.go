package chat

import (
	"slices"

	"rookery/chat/turn"
	"rookery/infer"
)

// ofEngine are the engine's spans with the names that people know.
func (a *answer) ofEngine(read []infer.Span) []turn.Span {
	out := make([]turn.Span, len(read))
	for i, s := range read {
		out[i] = turn.Span{Tokens: s.Tokens, Adapter: s.Adapter, Name: a.nameOf(s.Adapter)}
	}
	return out
}

// nameOf is what people call an adapter. The caller holds mu.
func (a *answer) nameOf(adapter string) string {
	if adapter == a.way.adapter {
		return a.way.adapterName
	}
	return a.host().adapters.KnownTitle(adapter)
}

// readPromptAs says how the state after the prompt came to be, and writes that
// down at the prompts right above that were left without an answer too: this
// was the first time that anybody has read them. The caller holds mu.
func (a *answer) readPromptAs(s *infer.Snapshot) {
	spans := a.ofEngine(s.Spans)
	at := len(a.path) - 1
	r, n := a.readAt(at, spans, s)
	r.Anew = a.promptAnew
	a.d.tree.nodes[a.path[at].ID].turn.Reading = r
	for fresh := a.fresh() - 1; fresh > 0 && turn.Counted(spans) > n; fresh-- {
		at, spans = at-1, turn.Leading(spans, turn.Counted(spans)-n)
		above := a.d.tree.nodes[a.path[at].ID]
		above.turn.Reading, n = a.readAt(at, spans, s)
		a.d.saver.commit(a.d.conv, above.turn, nil)
	}
}

// readAt is how a prompt of the path was read, and how many tokens of it, when
// spans end with its last one.
func (a *answer) readAt(at int, spans []turn.Span, s *infer.Snapshot) (r turn.Reading, n int) {
	before := 0
	if at > 0 {
		above := &a.path[at-1]
		if r, known := above.ReadingBy(a.template.Model); above.Recall != nil {
			before = len(a.template.TurnTokens(*above, a.rendering))
		} else if known {
			before = r.Unread
		}
	}
	n = len(a.template.TurnTokens(a.path[at], a.rendering))
	spans = turn.Trailing(spans, n+before)
	if turn.Counted(spans) == 0 { // of another line, from the disk
		spans, before = []turn.Span{{Adapter: s.Adapter, Name: a.nameOf(s.Adapter)}}, 0
	}
	return turn.ReadAs(a.template.Model, spans, before, 0), n
}

// fresh is how many turns at the end of the path nobody has read: the prompt,
// and those above it that were left without an answer.
func (a *answer) fresh() int {
	n := 1
	for i := len(a.path) - 2; i >= 0; i-- {
		if _, known := a.path[i].ReadingBy(a.template.Model); known || a.path[i].Role != turn.RoleUser {
			break
		}
		n++
	}
	return n
}

// readTo says how the state after an answer came to be, which has its tokens
// now. The caller holds mu.
func (a *answer) readTo(tokens []int32, s *infer.Snapshot) turn.Reading {
	if s == nil {
		return a.readSoFar()
	}
	unread := min(len(s.Pending), len(tokens))
	n := len(tokens) - unread
	spans := a.ofEngine(s.Spans)
	if known := turn.Counted(spans); known < n {
		spans = joined(a.readBegun(n-known), spans)
	} else {
		spans = turn.Trailing(spans, n)
	}
	if len(spans) == 0 { // nothing of it was read
		spans = []turn.Span{{Adapter: a.way.adapter, Name: a.way.adapterName}}
	}
	r := turn.ReadAs(a.template.Model, spans, 0, unread)
	r.Anew = a.readAfter()
	return r
}

// noteUnread writes down what a state leaves unread, of an answer of the time when
// nobody did: what comes next may read it with another adapter.
func (a *answer) noteUnread(t *turn.Turn, s *infer.Snapshot) {
	r, known := t.ReadingBy(a.template.Model)
	if !known || t.Reading.Model != "" || len(s.Pending) == 0 || a.way.second != nil {
		return
	}
	r.Unread = min(len(s.Pending), len(t.Tokens))
	t.Reading = r
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if n := a.d.tree.nodes[t.ID]; n != nil { // who only looks may be late
		n.turn.Reading = r
		a.d.saver.commit(a.d.conv, n.turn, s)
	}
}

// readAfter is what was read anew above the answer. The caller holds mu.
func (a *answer) readAfter() *turn.Anew {
	if a.anew != nil || a.resumed == nil {
		return a.anew
	}
	r, _ := a.resumed.ReadingBy(a.template.Model)
	return r.Anew
}

// readBegun is who read the first n tokens that the answer had when it went on.
// The caller holds mu.
func (a *answer) readBegun(n int) []turn.Span {
	span := turn.Span{Tokens: n, Adapter: a.way.adapter, Name: a.way.adapterName}
	if a.resumed == nil {
		return turn.Grown(nil, span)
	}
	r, known := a.resumed.ReadingBy(a.template.Model)
	if !known {
		return turn.Grown(nil, span)
	}
	_, own := r.Over(max(len(a.resumed.Tokens)-r.Unread, 0))
	own = turn.Leading(own, n)
	return turn.Grown(own, span.Resize(n-turn.Counted(own)))
}

// readSoFar says how the running answer was read so far, and that what comes
// is read as it is now. The caller holds mu.
func (a *answer) readSoFar() turn.Reading {
	spans, now := a.readBegun(a.had), a.way.adapter
	var above []turn.Span
	if a.stream != nil {
		skip := a.lead
		before, reads := a.stream.Spans()
		now = reads // not the one in use, if that was chosen a moment ago
		for _, s := range a.ofEngine(before) {
			gone := min(skip, s.Tokens)
			skip -= gone
			above, spans = turn.Grown(above, s.Resize(gone)), turn.Grown(spans, s.Resize(s.Tokens-gone))
		}
	}
	spans = append(spans, turn.Span{Adapter: now, Name: a.nameOf(now)})
	if last := len(spans) - 1; last > 0 && spans[last-1].Adapter == spans[last].Adapter {
		spans = spans[:last]
	}
	above = a.readAbove(above)
	r := turn.ReadAs(a.template.Model, slices.Concat(above, spans), turn.Counted(above), 0)
	r.Anew = a.readAfter()
	return r
}

// readAbove is who read the prompt, of the spans before the answer, where that is
// not written down there yet: its state may come after the first tokens, and a
// kill between them. The caller holds mu.
func (a *answer) readAbove(before []turn.Span) []turn.Span {
	prompt := a.d.tree.nodes[a.turn.Parent]
	if _, known := prompt.turn.ReadingBy(a.template.Model); known || a.prompted || a.resumed != nil {
		return nil
	}
	return turn.Trailing(before, min(len(prompt.turn.Tokens), turn.Counted(before)))
}

// joined are spans and those after them.
func joined(all, more []turn.Span) []turn.Span {
	for _, s := range more {
		all = turn.Grown(all, s)
	}
	return all
}

// submitted notes how the request that a start makes divides: what is not the
// answer's own, and how much of the answer was read before. The caller holds mu.
func (a *answer) submitted(s start) {
	a.sure, a.later = s.sure, s.sure > 0 && s.adapter != a.way.adapter
	a.lead, a.had = len(s.tokens), len(a.turn.Tokens)+len(a.drawn)
	switch {
	case s.own:
		a.had = max(a.had-len(s.from.Pending), 0)
	default:
		a.had = max(a.had-len(s.replay), 0)
	}
	a.switches = 0
}

// followAdapter gives the running request the adapter in use, as soon as it has
// read what another one is to read. The caller holds mu.
func (a *answer) followAdapter() {
	if a.stream == nil {
		return
	}
	if a.later = a.stream.Progress().Read < a.sure; !a.later {
		a.stream.SetAdapter(a.way.adapter)
	}
}

// amend lets the journal say that another adapter reads since a token. The
// caller holds mu.
func (a *answer) amend() {
	if a.journaled && a.heard() {
		t := a.turn
		t.Reading = a.readSoFar()
		a.d.saver.amend(t)
	}
}

// heard notes how the request reads now, and says whether that is news to the
// journal. The caller holds mu.
func (a *answer) heard() bool {
	before, now := a.stream.Spans()
	news := len(before) != a.switches || now != a.reader
	a.switches, a.reader = len(before), now
	return news
}

// sameTokens is how many tokens two turns begin with together.
func sameTokens(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// readFirst lets a turn that nobody wrote this down for be what an answer to it
// says: the first one that there is.
func (t *tree) readFirst(n *node, model string) turn.Reading {
	for _, id := range n.children {
		below := t.nodes[id]
		if r, known := below.turn.ReadingBy(model); known && r.Anew == nil {
			_, own := r.Over(max(len(below.turn.Tokens)-r.Unread, 1))
			return turn.ReadAs(model, []turn.Span{own[0]}, 0, 0)
		}
	}
	return turn.Reading{}
}

// shares takes over what another answer found out for both.
func (a *answer) shares(first *answer) {
	if a == first {
		return
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.read = first.read
	a.forced, a.replaced, a.anew, a.promptAnew = first.forced, first.replaced, first.anew, first.promptAnew
}
