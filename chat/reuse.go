package chat

import (
	"context"
	"slices"

	"rookery/infer"
	"rookery/infer/sampler"
)

// reusedTokens bounds the lines whose snapshots are named for reuse. What two
// conversations have in common is their beginning.
const reusedTokens = 1 << 15

// A recaller is a Store that finds snapshots by what they have read.
type recaller interface {
	// SnapshotReading returns an exact snapshot that has read what one of the
	// prefixes names, the first of them that there is, and its place in the
	// list; nil if there is none.
	SnapshotReading(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int, error)
}

// reads names what the state after the prompt will have read when the answer
// begins at s, or was read by several adapters; zero when nobody can say. Every name goes back to the beginning
// of a line: where a state on the way has none, because the line was read with
// other adapters in turn, or came back from the disk rounded, what follows has
// none either. A line that is too long to be worth it has none.
func (a *answer) reads(s start) infer.Prefix {
	if len(s.before) > 0 {
		return infer.Prefix{}
	}
	read := a.origin(s.adapter)
	n := 0
	for _, t := range a.path {
		tokens := a.template.TurnTokens(t, a.rendering)
		if n += len(tokens); n > reusedTokens {
			return infer.Prefix{}
		}
		read = read.After(tokens)
	}
	begun, reached := a.origin(s.adapter), read
	if s.from != nil {
		begun = s.from.Prefix.After(s.from.Pending)
	}
	if s.own {
		reached = read.After(a.turn.Tokens)
	}
	if begun.After(s.tokens) != reached {
		return infer.Prefix{}
	}
	return read
}

// names notes what the state after the prompt will have read.
func (a *answer) names(read infer.Prefix) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.read = read
}

// named is the ending's snapshot with the name of what it has read: all but
// the tokens that it leaves pending.
func (a *answer) named(end infer.Ending) *infer.Snapshot {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	all := slices.Concat(a.turn.Tokens, end.Tokens)
	s := end.Snapshot
	if s == nil || a.read == (infer.Prefix{}) || len(all) > reusedTokens {
		return s
	}
	has := len(all) - len(s.Pending)
	if has < 0 || !slices.Equal(all[has:], s.Pending) {
		return s
	}
	return naming(s, a.read.After(all[:has]))
}

// naming gives a snapshot a name.
func naming(s *infer.Snapshot, p infer.Prefix) *infer.Snapshot {
	named := *s
	named.Prefix = p
	return &named
}

// reuse lets a line that no snapshot of its own turns begins start from one of
// any conversation that has read the same tokens, the longest there is: the
// same system prompt, the same first question, the same pasted text. It is the
// state that reading them with an adapter would give.
func (a *answer) reuse(ctx context.Context, adapter string, s start) start {
	if s.from != nil || len(s.tokens) == 0 {
		return s
	}
	p := a.origin(adapter)
	prefixes := make([]infer.Prefix, min(len(s.tokens), reusedTokens))
	for i := range prefixes { // the longest first
		p = p.Then(s.tokens[i])
		prefixes[len(prefixes)-1-i] = p
	}
	found, at := a.recall(ctx, prefixes)
	if found = a.fits(found); !usable(found, a.model()) {
		return s
	}
	anew := *found
	anew.Sampler, anew.Tail = sampler.Memory{}, nil
	rest := s.tokens[len(prefixes)-at:]
	if anew.Pending != nil {
		anew.Pending, anew.Logits = nil, nil // they are not of this line
	}
	if len(rest) == 0 && !drawable(&anew) {
		return s
	}
	return start{from: &anew, tokens: rest, replay: s.replay, reused: true}
}

// recall looks for the first of the prefixes in memory and in the store.
func (a *answer) recall(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int) {
	var found *infer.Snapshot
	at := len(prefixes)
	for i, p := range prefixes {
		if found = a.d.workspace.memory.reading(p); found != nil {
			at = i
			break
		}
	}
	if r, ok := a.d.workspace.store.(recaller); ok && at > 0 {
		if stored, i, err := r.SnapshotReading(ctx, prefixes[:at]); err == nil && stored != nil {
			return stored, i
		}
	}
	return found, at
}
