// Package replay decides how the state after a line of turns is reached: from
// which snapshot, which tokens, by which adapter. It reads nothing and draws
// nothing.
package replay

import (
	"slices"
	"sort"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// A Plan says how to reach the state after a line.
type Plan struct {
	From    *infer.Snapshot // where to go on; nil is the beginning of the line
	History turn.History    // what From has read
	// Turn is the place on the line of the turn that From was kept with. It is
	// -1 for the beginning and for a snapshot of another line.
	Turn int
	// Own says that From is the state of the answer that goes on, with its
	// penalties and its place in the random stream.
	Own bool
	// Reads come first, each as a request of its own: what the wanted history
	// says beyond From, with the adapters that it says.
	Reads []Read
	// Tokens and Replay are for the answer's own request: nobody has read them,
	// and whatever adapter is in use then does.
	Tokens, Replay []int32
}

// A Read is tokens of the line that are read again with the adapter that read
// them at first.
type Read struct {
	turn.Run
	Prompt, Replay []int32 // tokens of turns before the answer, or of the answer
	First, Last    int     // places on the line of the turns that the run is of
}

// Pending is how many tokens the plan reads, up to the answer's own.
func (p *Plan) Pending() int {
	n := len(p.Tokens)
	for _, r := range p.Reads {
		n += len(r.Prompt)
	}
	return n
}

// Snapshots is where a plan finds states to go on from.
type Snapshots struct {
	// Kept is the one of a turn, by its place on the line; nil: there is none
	// that can be used.
	Kept func(at int) *infer.Snapshot
	// Named is one of any line that has read what one of the prefixes names, and
	// the place of that in the list; nil: there is none.
	Named func([]infer.Prefix) (*infer.Snapshot, int)
	// Origin is the prefix of a line that is read with one adapter, before its
	// first token.
	Origin func(adapter string) infer.Prefix
}

// MaxNamed bounds the lines whose states are found by what they have read. What
// two conversations have in common is their beginning.
const MaxNamed = 1 << 15

// Plan says how to reach the state after the line. What wanted covers is read
// as wanted says, and what is behind it by adapter, in the answer's request.
func (l *Line) Plan(wanted turn.History, adapter turn.Run, s Snapshots) Plan {
	wanted = wanted.Prefix(len(l.all))
	p, ok := l.fromNearest(wanted, s)
	if !ok {
		p, ok = l.fromNamed(wanted, adapter, s)
	}
	if !ok {
		p = Plan{Turn: -1, History: wanted.Prefix(0)}
	}
	if !p.Own {
		l.fillReads(&p, wanted)
	}
	return p
}

// fromNearest begins a plan from the last turn whose state has read nothing but a
// part of what is wanted.
func (l *Line) fromNearest(wanted turn.History, s Snapshots) (Plan, bool) {
	for i := len(l.turns) - 1; i >= 0; i-- {
		if l.isRecalled(i) || !wanted.HasPrefix(l.histories[i]) {
			continue
		}
		from := s.Kept(i)
		h, ok := l.historyOf(i, from)
		switch {
		case !ok || !wanted.HasPrefix(h):
		case l.isAnswer(i) && (from.Logits != nil || len(from.Pending) > 0):
			return Plan{From: from, History: h, Turn: i, Own: true}, true
		case !l.isAnswer(i) && (h.Len() < len(l.all) || from.Logits != nil):
			return Plan{From: forNewAnswer(from), History: h, Turn: i}, true
		}
	}
	return Plan{}, false
}

// historyOf is what a snapshot of turn i has read. It is of no use where the turn
// says something else.
func (l *Line) historyOf(i int, s *infer.Snapshot) (h turn.History, ok bool) {
	if s == nil || len(s.Pending) > len(l.tokens[i]) {
		return h, false
	}
	n, t := l.ends[i]-len(s.Pending), &l.turns[i]
	if h = t.History; !h.Known(l.model) {
		h = l.histories[i].Prefix(n)
	}
	// An adapter that was chosen as an answer ended has read nothing of it.
	chosen := t.Role == turn.RoleAssistant && s.Adapter == t.AdapterID
	ok = len(h.Runs) > 0 && (chosen || s.Adapter == h.Runs[len(h.Runs)-1].Adapter)
	return h, ok && h.Len() == n && slices.Equal(l.all[n:l.ends[i]], s.Pending)
}

// Within begins a plan from a state inside the answer, which has read the first
// n tokens of the line.
func (l *Line) Within(from *infer.Snapshot, n int, wanted turn.History) Plan {
	p := Plan{From: from, History: wanted.Until(n), Turn: -1}
	l.fillReads(&p, wanted)
	return p
}

// forNewAnswer is a snapshot for another answer than its own: penalties and the random
// stream begin with an answer, so that it does not depend on which snapshots
// there are. What was left pending is read with the rest of the line.
func forNewAnswer(s *infer.Snapshot) *infer.Snapshot {
	out := *s
	out.Sampler, out.Tail = sampler.Memory{}, nil
	if len(s.Pending) > 0 {
		out.Pending, out.Logits = nil, nil
	}
	return &out
}

// fromNamed begins a plan from a state of any line that has read the same tokens
// with one adapter, the longest that there is: the same system prompt, the same
// first question, the same pasted text.
func (l *Line) fromNamed(wanted turn.History, adapter turn.Run, s Snapshots) (Plan, bool) {
	run := adapter
	run.Tokens = l.prompt
	if len(wanted.Runs) > 0 {
		if run = wanted.Runs[0]; len(wanted.Runs) == 1 && run.Adapter == adapter.Adapter {
			run.Tokens = l.prompt
		}
	}
	prefixes := make([]infer.Prefix, min(run.Tokens, l.prompt, MaxNamed))
	if len(prefixes) == 0 {
		return Plan{}, false
	}
	p := s.Origin(run.Adapter)
	for i := range prefixes { // the longest first
		p = p.Then(l.all[i])
		prefixes[len(prefixes)-1-i] = p
	}
	from, at := s.Named(prefixes)
	if from == nil {
		return Plan{}, false
	}
	run.Tokens = len(prefixes) - at
	from = forNewAnswer(from)
	if run.Tokens == len(l.all) && from.Logits == nil {
		return Plan{}, false
	}
	return Plan{From: from, History: wanted.Prefix(0).Then(run), Turn: -1}, true
}

// fillReads adds what is to be read after From.
func (l *Line) fillReads(p *Plan, wanted turn.History) {
	at := p.History.Len()
	for _, run := range wanted.Rest(at) {
		first, last := l.turnAt(at), l.turnAt(at+run.Tokens-1)
		cut := min(max(l.prompt, at), at+run.Tokens)
		for _, part := range [][2]int{{at, cut}, {cut, at + run.Tokens}} {
			r := Read{Run: run, First: first, Last: last}
			switch r.Tokens = part[1] - part[0]; {
			case r.Tokens == 0:
				continue
			case part[0] < l.prompt:
				r.Prompt = l.all[part[0]:part[1]]
			default:
				r.Replay = l.all[part[0]:part[1]]
			}
			p.Reads = append(p.Reads, r)
		}
		at += run.Tokens
	}
	p.Tokens = l.all[min(at, l.prompt):l.prompt]
	p.Replay = l.all[max(at, l.prompt):]
}

// turnAt is the place of the turn that a token of the line is of.
func (l *Line) turnAt(token int) int {
	return sort.Search(len(l.ends)-1, func(i int) bool { return l.ends[i] > token })
}

// Name is the prefix of a state that has read a history of a line's tokens. Only
// what one adapter has read has a name.
func Name(h turn.History, tokens []int32, origin func(adapter string) infer.Prefix) infer.Prefix {
	n := h.Len()
	if len(h.Runs) != 1 || n > len(tokens) || n > MaxNamed {
		return infer.Prefix{}
	}
	return origin(h.Runs[0].Adapter).After(tokens[:n])
}
