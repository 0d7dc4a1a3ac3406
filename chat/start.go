package chat

import (
	"context"
	"slices"

	"rookery/infer"
	"rookery/infer/sampler"
)

// A start is where an answer begins: what the engine's request has in From,
// Tokens and Replay.
type start struct {
	from           *infer.Snapshot
	tokens, replay []int32
	own            bool // from is the snapshot of the answer itself
}

// A reading is a turn that the state must have read.
type reading struct {
	turn Turn
	snap *infer.Snapshot // in memory, or nil
}

// path is the turns from the first to one. The caller holds mu.
func (d *Dialogue) path(to ID) []reading {
	line := d.tree.line(to)
	path := make([]reading, len(line))
	for i, n := range line {
		path[i] = reading{n.turn, d.tree.held(n.turn.ID)}
	}
	return path
}

// start finds the nearest state to go on from. A snapshot that is missing,
// damaged or of another model costs time and is no error.
func (a *answer) start(ctx context.Context) (start, error) {
	if a.resumed == nil {
		return a.below(ctx)
	}
	if s := a.find(ctx, *a.resumed); drawable(s) {
		return start{from: s, own: true}, nil
	}
	s, err := a.below(ctx)
	s.replay = a.turn.Tokens
	return s, err
}

// below is the state after the prompt, where an answer begins. Penalties and
// the random stream begin with it, so that an answer does not depend on which
// snapshots there were.
func (a *answer) below(ctx context.Context) (start, error) {
	var parts [][]int32
	for i := len(a.path) - 1; i >= 0; i-- {
		r := a.path[i]
		if r.turn.Recall == nil {
			if s := a.find(ctx, r); s != nil && (len(parts) > 0 || drawable(s)) {
				anew := *s
				anew.Sampler, anew.Tail = sampler.Memory{}, nil
				slices.Reverse(parts)
				return start{from: &anew, tokens: slices.Concat(parts...)}, ctx.Err()
			}
		}
		parts = append(parts, a.template.reads(r.turn, a.rendering))
	}
	slices.Reverse(parts)
	return start{tokens: slices.Concat(parts...)}, ctx.Err()
}

// find is the usable snapshot after a turn, or nil.
func (a *answer) find(ctx context.Context, r reading) *infer.Snapshot {
	model := a.d.desk.engine.Model()
	if usable(r.snap, model) {
		return r.snap
	}
	if ctx.Err() != nil {
		return nil
	}
	s, err := a.d.keep.snapshot(ctx, r.turn.ID)
	if err != nil || !usable(s, model) {
		return nil
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.d.tree.hold(r.turn.ID, s)
	return s
}

// drawable says that a token can be drawn after a snapshot before more is read.
func drawable(s *infer.Snapshot) bool {
	return s != nil && (s.Logits != nil || len(s.Pending) > 0)
}
