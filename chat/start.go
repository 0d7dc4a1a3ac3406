package chat

import (
	"context"
	"fmt"
	"slices"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// A start is where an answer begins: what the engine's request has in From,
// Tokens and Replay.
type start struct {
	from           *infer.Snapshot
	before         []stretch // what is read first, in requests of its own: see readBefore
	tokens, replay []int32
	adapter        string // that the request begins with
	sure           int    // of its tokens, how many are read with that whatever is set meanwhile
	anew           int    // tokens up to the prompt's end that are read again, those of before among them
	turns          int    // that are read again, the answer's own left out
	own            bool   // from is the snapshot of the answer itself
	reused         bool   // from is the snapshot of another line
}

// path is the turns from the first to one. The caller holds mu.
func (d *Dialogue) path(to turn.ID) []turn.Turn {
	line := d.tree.line(to)
	path := make([]turn.Turn, len(line))
	model := d.template().Model
	for i, n := range line {
		path[i] = n.turn
		if _, known := n.turn.ReadingBy(model); !known && n.turn.Role == turn.RoleUser {
			path[i].Reading = d.tree.readFirst(n, model)
		}
	}
	return path
}

// ready is start, with the adapters that it needs, after what other adapters
// have read; it names what will be read.
func (a *answer) ready(ctx context.Context) (start, error) {
	if err := a.host().adapters.Need(ctx, a.adapter()); err != nil {
		return start{}, err
	}
	s, err := a.found(ctx, a.start)
	a.names(a.reads(s))
	a.noteSwap(s)
	if err != nil {
		return s, err
	}
	return a.readBefore(ctx, s)
}

// adapter is the one in use.
func (a *answer) adapter() string {
	adapter, _ := a.using()
	return adapter
}

// using is the adapter in use and what people call it: both may be changed at
// any time.
func (a *answer) using() (adapter, name string) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return a.way.adapter, a.way.adapterName
}

// start finds the nearest state to go on from. A snapshot that is missing,
// damaged or of another model costs time and is no error; a base state that
// is needed and cannot be had is one.
func (a *answer) start(ctx context.Context) (start, error) {
	if a.resumed == nil {
		return a.below(ctx, nil)
	}
	if s := a.find(ctx, *a.resumed); drawable(s) {
		return start{from: s, adapter: a.adapter(), own: true}, nil
	}
	return a.below(ctx, a.turn.Tokens)
}

// below is the state after the prompt, where an answer begins. Penalties and
// the random stream begin with it, so that an answer does not depend on which
// snapshots there were. own are the tokens of an answer that goes on behind it.
// Each stretch of the line is read with the adapter that read it at first.
func (a *answer) below(ctx context.Context, own []int32) (start, error) {
	l := a.lining()
	if of := a.before(); of != nil {
		l.turn(len(a.path), of, own, true)
	}
	for i := len(a.path) - 1; i >= 0; i-- {
		t := &a.path[i]
		if t.Recall == nil && i < len(a.path)-a.strange && l.anew.Turns == 0 {
			kept := a.kept(ctx, *t)
			if s := a.fits(kept); s != nil && (len(l.pieces) > 0 || drawable(s)) {
				a.noteUnread(t, kept)
				anew := *s
				anew.Sampler, anew.Tail = sampler.Memory{}, nil
				if len(s.Pending) > 0 {
					l.tail(i, s.Pending, false)
					anew.Pending, anew.Logits = nil, nil
				}
				out := stretched(l.stretches(), l.now)
				out.from, out.turns = &anew, len(a.path)-1-i
				return out, ctx.Err()
			}
		}
		if i == 0 && l.base != nil && !l.force && *l.base != a.way.base {
			if err := a.beginAt(ctx, *l.base); err != nil {
				return start{}, err
			}
		}
		l.turn(i, t, a.template.TurnTokens(*t, a.rendering), false)
	}
	return a.fromTheBeginning(ctx, l.stretches(), l.now)
}

// fromTheBeginning is where a line begins that no state of its own turns does.
func (a *answer) fromTheBeginning(ctx context.Context, line []stretch, now string) (start, error) {
	if len(line) == 0 { // of turns without a token, as a file may have them
		line = []stretch{{adapter: now}}
	}
	first := &line[0]
	if s := a.reuse(ctx, first.adapter, start{tokens: first.tokens}); s.from != nil {
		first.sure = max(first.sure-(len(first.tokens)-len(s.tokens)), 0)
		first.tokens = s.tokens
		if len(first.tokens)+len(first.replay) == 0 {
			line = line[1:]
		}
		out := stretched(line, now)
		out.from, out.reused, out.turns = s.from, true, len(a.path)
		return out, ctx.Err()
	}
	from, text, err := a.beginning(ctx)
	if from != nil && len(text) == 0 {
		begun := *from
		begun.Prefix = a.origin(first.adapter)
		from = &begun
	}
	first.tokens = slices.Concat(text, first.tokens)
	if first.sure > 0 {
		first.sure += len(text)
	}
	out := stretched(line, now)
	out.from, out.turns = from, len(a.path)
	return out, err
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
		s, err := a.d.workspace.library.Get(ctx, a.way.base)
		if err == nil {
			from, text, err = library.BeginFrom(s, a.model())
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
func (a *answer) find(ctx context.Context, t turn.Turn) *infer.Snapshot {
	return a.fits(a.kept(ctx, t))
}

// kept is find before it fits the answer.
func (a *answer) kept(ctx context.Context, t turn.Turn) *infer.Snapshot {
	model := a.model()
	if s := a.d.tree.held(t.ID); usable(a.fits(s), model) && t.AdaptedAs(s) {
		return s
	}
	if ctx.Err() != nil {
		return nil
	}
	s, err := a.d.saver.snapshot(ctx, t.ID)
	if err != nil || !usable(s, model) || !t.AdaptedAs(s) {
		return nil
	}
	a.d.tree.hold(t.ID, s)
	return s
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
	if a.way.second != nil || last == nil || last.Model == "" || last.Model == a.template.Model || s.anew == 0 {
		return
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.swapped = last.ModelName
	a.d.publish()
}
