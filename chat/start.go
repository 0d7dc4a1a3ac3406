package chat

import (
	"context"
	"fmt"
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
	reused         bool // from is the snapshot of another line
}

// path is the turns from the first to one. The caller holds mu.
func (d *Dialogue) path(to ID) []Turn {
	line := d.tree.line(to)
	path := make([]Turn, len(line))
	for i, n := range line {
		path[i] = n.turn
	}
	return path
}

// ready is start, with the adapter that it needs; it names what will be read.
func (a *answer) ready(ctx context.Context) (start, error) {
	if err := a.host().rack.Need(ctx, a.way.adapter); err != nil {
		return start{}, err
	}
	s, err := a.start(ctx)
	a.read = a.reads(s)
	a.noteSwap(s)
	return s, err
}

// start finds the nearest state to go on from. A snapshot that is missing,
// damaged or of another model costs time and is no error; a base state that
// is needed and cannot be had is one.
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
		t := a.path[i]
		if t.Recall == nil && i < len(a.path)-a.strange {
			if s := a.find(ctx, t); s != nil && (len(parts) > 0 || drawable(s)) {
				anew := *s
				anew.Sampler, anew.Tail = sampler.Memory{}, nil
				slices.Reverse(parts)
				return start{from: &anew, tokens: slices.Concat(parts...)}, ctx.Err()
			}
		}
		parts = append(parts, a.template.reads(t, a.rendering))
	}
	slices.Reverse(parts)
	line := slices.Concat(parts...)
	if s := a.reuse(ctx, start{tokens: line}); s.from != nil {
		return s, ctx.Err()
	}
	from, text, err := a.beginning(ctx)
	if from != nil && len(text) == 0 {
		begun := *from
		begun.Prefix = a.origin()
		from = &begun
	}
	return start{from: from, tokens: slices.Concat(text, line)}, err
}

// beginning is where the line begins: the base state and what is read before
// the first turn.
func (a *answer) beginning(ctx context.Context) (*infer.Snapshot, []int32, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var from *infer.Snapshot
	var text []int32
	if a.way.base != 0 {
		s, err := a.d.desk.library.Get(ctx, a.way.base)
		if err == nil {
			from, text, err = BeginFrom(s, a.model())
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the state that the conversation begins from: %w", err)
		}
	}
	from, err := a.mixed(ctx, from)
	return from, text, err
}

// find is the usable snapshot after a turn, or nil. One that was made under
// another model or adapter than the turn says is none of it.
func (a *answer) find(ctx context.Context, t Turn) *infer.Snapshot {
	model := a.model()
	if s := a.fits(a.d.tree.held(t.ID)); usable(s, model) && t.adaptedAs(s) {
		return s
	}
	if ctx.Err() != nil {
		return nil
	}
	s, err := a.d.keep.snapshot(ctx, t.ID)
	if err != nil || !usable(s, model) || !t.adaptedAs(s) {
		return nil
	}
	a.d.tree.hold(t.ID, s)
	return a.fits(s)
}

// adaptedAs says that a snapshot is of the adapter that the turn was made with,
// as far as the turn says it: prompts, and answers of before it was written
// down, do not.
func (t *Turn) adaptedAs(s *infer.Snapshot) bool {
	if t.Role != RoleAssistant || t.Adapter != "" && t.AdapterID == "" {
		return true
	}
	return s.Adapter == t.AdapterID
}

// drawable says that a token can be drawn after a snapshot before more is read.
func drawable(s *infer.Snapshot) bool {
	return s != nil && (s.Logits != nil || len(s.Pending) > 0)
}

// noteSwap lets the view say that the line is read again because the weights
// under it are others now.
func (a *answer) noteSwap(s start) {
	last := a.resumed
	if n := len(a.path); last == nil && n > 1 {
		last = &a.path[n-2]
	}
	if a.way.guest != nil || last == nil || last.Model == "" || last.Model == a.template.model || len(s.tokens) == 0 {
		return
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.swapped = last.ModelName
	a.d.publish()
}
