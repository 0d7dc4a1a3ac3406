package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// lining begins a line of the answer's path, from its end.
func (a *answer) lining() *lining {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	now := turn.Span{Adapter: a.way.adapter, Name: a.way.adapterName}
	l := &lining{model: a.template.Model, force: a.forced, next: now, now: now.Adapter}
	if a.anew != nil {
		l.anew = *a.anew
	}
	return l
}

// before is the answer as it was before it goes on, or as it is looked at; nil
// for a new one.
func (a *answer) before() *turn.Turn {
	if a.resumed != nil {
		return a.resumed
	}
	return a.seen
}

// beginAt makes the line begin from another state than the conversation does,
// as the line of a variant does that was chosen.
func (a *answer) beginAt(ctx context.Context, id turn.ID) error {
	b := a.d.workspace.library.FindBase(ctx, id)
	if id != 0 && b == (library.Base{}) {
		return &MissingError{First: 1, Last: len(a.path), What: "were read from a state that is not in the library any more", WayOut: "import it again", Now: "from the conversation's own"}
	}
	a.way.base, a.way.baseName, a.way.baseKind = id, b.Name, b.Kind
	a.reopen()
	return nil
}

// found is where an answer begins, with all adapters that it takes. Where one
// is missing and a person wants to go on all the same, all that is to be read
// again is read with the one in use.
func (a *answer) found(ctx context.Context, begin func(context.Context) (start, error)) (start, error) {
	s, err := begin(ctx)
	if err == nil {
		err = a.needs(ctx, s.before)
	}
	missing, ok := errors.AsType[*MissingError](err)
	if !ok || !a.force(missing) {
		return s, err
	}
	if s, err = begin(ctx); err == nil {
		a.readAnew(s.turns)
	}
	return s, err
}

// needs loads the adapters of stretches that are not loaded.
func (a *answer) needs(ctx context.Context, all []stretch) error {
	for _, p := range all {
		if err := a.need(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// need loads the adapter of a stretch.
func (a *answer) need(ctx context.Context, p stretch) error {
	rack := a.host().adapters
	err := rack.Need(ctx, p.adapter)
	if err == nil || ctx.Err() != nil {
		return err
	}
	lost, ok := errors.AsType[*library.LostAdapterError](err)
	if !ok {
		return fmt.Errorf("%s: %w", turnsRead(p.first+1, p.last+1, p.name, p.adapter), err)
	}
	return &MissingError{
		First: p.first + 1, Last: p.last + 1, Adapter: p.adapter, Name: p.name,
		What: "were read with " + adapterNamed(p.name, p.adapter) + ", " + lost.How, WayOut: lost.WayOut, Now: "with " + a.adapterInUse(), Err: err,
	}
}

// readBefore reads the stretches that come before what the answer's own request
// reads, one after the other. What is read is seen as the progress of the whole.
func (a *answer) readBefore(ctx context.Context, s start) (start, error) {
	if len(s.before) == 0 {
		return s, nil
	}
	began, read, all := time.Now(), 0, len(s.tokens)+len(s.replay)
	for _, p := range s.before {
		all += len(p.tokens) + len(p.replay)
	}
	for _, p := range s.before {
		if err := a.need(ctx, p); err != nil { // it may have been dropped while others were read
			return start{}, err
		}
		end, err := a.readLogits(ctx, infer.Request{
			From: adaptedTo(s.from, p.adapter), Tokens: p.tokens, Replay: p.replay, Sampling: a.samplingNow(), Adapter: p.adapter, AnyAdapter: true,
		}, func(stream *infer.Stream) { a.progressed(stream, read, all) })
		if err != nil {
			return start{}, err
		}
		s.from, read = end, read+len(p.tokens)+len(p.replay)
		s.own = s.own || len(p.replay) > 0 // a state after a part of the answer is not that after the prompt
	}
	s.before = nil
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.cost = infer.Usage{Read: read, ReadTime: time.Since(began)}
	return s, nil
}

// progressed shows the progress of a stretch as a part of all that is read.
func (a *answer) progressed(stream *infer.Stream, read, all int) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.progress = stream.Progress()
	a.progress.Read, a.progress.ToRead = a.progress.Read+read, all
	a.d.publish()
}

// samplingNow is drawing without bans of one request.
func (a *answer) samplingNow() sampler.Params {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return a.drawing(nil)
}

// adaptedTo is a snapshot whose further states go on with an adapter.
func adaptedTo(s *infer.Snapshot, adapter string) *infer.Snapshot {
	if s == nil || !slices.ContainsFunc(s.Members, func(v infer.Member) bool { return v.Adapter != adapter }) {
		return s
	}
	out := *s
	out.Members = slices.Clone(s.Members)
	for i := range out.Members {
		out.Members[i].Adapter = adapter
	}
	return &out
}
