package chat

import (
	"context"

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

// reads names what the state after the prompt will have read; zero for a line
// that is too long to be worth it.
func (a *answer) reads() infer.Prefix {
	p := a.origin()
	n := 0
	for _, t := range a.path {
		tokens := a.template.reads(t, a.rendering)
		if n += len(tokens); n > reusedTokens {
			return infer.Prefix{}
		}
		p = p.After(tokens)
	}
	return p
}

// named is the ending's snapshot with the name of what it has read.
func (a *answer) named(end infer.Ending) *infer.Snapshot {
	if a.read == (infer.Prefix{}) || len(a.turn.Tokens)+len(end.Tokens) > reusedTokens {
		return end.Snapshot
	}
	return naming(end.Snapshot, a.read.After(a.turn.Tokens).After(end.Tokens))
}

// naming gives a name to a snapshot that a conversation can go on from.
func naming(s *infer.Snapshot, p infer.Prefix) *infer.Snapshot {
	if s == nil || s.Logits == nil || len(s.Pending) > 0 {
		return s
	}
	named := *s
	named.Prefix = p
	return &named
}

// reuse lets a line that no snapshot of its own turns begins start from one of
// any conversation that has read the same tokens, the longest there is: the
// same system prompt, the same first question, the same pasted text. It is the
// state that reading them would give.
func (a *answer) reuse(ctx context.Context, s start) start {
	if s.from != nil || len(s.tokens) == 0 {
		return s
	}
	p := a.origin()
	prefixes := make([]infer.Prefix, min(len(s.tokens), reusedTokens))
	for i := range prefixes { // the longest first
		p = p.Then(s.tokens[i])
		prefixes[len(prefixes)-1-i] = p
	}
	found, at := a.recall(ctx, prefixes)
	if found = a.fits(found); !usable(found, a.d.desk.engine.Model()) || !drawable(found) {
		return s
	}
	anew := *found
	anew.Sampler, anew.Tail = sampler.Memory{}, nil
	return start{from: &anew, tokens: s.tokens[len(prefixes)-at:], replay: s.replay, reused: true}
}

// recall looks for the first of the prefixes in memory and in the store.
func (a *answer) recall(ctx context.Context, prefixes []infer.Prefix) (*infer.Snapshot, int) {
	var found *infer.Snapshot
	at := len(prefixes)
	for i, p := range prefixes {
		if found = a.d.desk.warm.reading(p); found != nil {
			at = i
			break
		}
	}
	if r, ok := a.d.desk.store.(recaller); ok && at > 0 {
		if stored, i, err := r.SnapshotReading(ctx, prefixes[:at]); err == nil && stored != nil {
			return stored, i
		}
	}
	return found, at
}
