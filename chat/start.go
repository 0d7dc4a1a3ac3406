package chat

import (
	"context"
	"slices"
	"time"

	"rookery/chat/replay"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
)

// A start is where an answer's request to the engine begins.
type start struct {
	from           *infer.Snapshot
	history        turn.History // what from has read
	tokens, replay []int32      // as infer.Request has them; read with the adapter in use
	own            bool         // from is the state of the answer itself
	named          bool         // what from has read has a name, if one adapter has read it
}

// findStart finds where the answer begins, and reads again what comes before it.
func (a *answer) findStart(ctx context.Context) (start, error) {
	if err := a.host().adapters.Need(ctx, a.adapterInUse().Adapter); err != nil {
		return start{}, err
	}
	return a.reachStart(ctx, a.turn.Tokens, nil, 0)
}

// reachStart carries out the route to where the answer begins. The parameters are
// those of planRoute.
func (a *answer) reachStart(ctx context.Context, own []int32, within *infer.Snapshot, read int) (start, error) {
	r, err := a.planRoute(ctx, own, within, read)
	if err != nil {
		return start{}, err
	}
	a.noteSwap(r.Plan)
	a.prompted = a.prompted || r.Turn == len(a.path)-1 // it is kept already
	return a.readAgain(ctx, r)
}

// readAgain reads what the route has before the answer's own request. Views show
// it as a part of the progress of all that is read.
func (a *answer) readAgain(ctx context.Context, r route) (start, error) {
	s := start{from: r.From, history: r.History, tokens: r.Tokens, replay: r.Replay, own: r.Own, named: r.named}
	reads := r.Reads
	if len(r.text) > 0 {
		first := a.adapterInUse()
		if len(reads) > 0 {
			first = reads[0].Run
		}
		first.Tokens = 0
		reads = append([]replay.Read{{Run: first, Prompt: r.text}}, reads...)
	}
	if len(reads) == 0 {
		return s, nil
	}
	began, read, all := time.Now(), 0, len(s.tokens)+len(s.replay)
	for _, p := range reads {
		all += len(p.Prompt) + len(p.Replay)
	}
	for _, p := range reads {
		if err := a.needAdapter(ctx, p); err != nil { // it may have been dropped while others were read
			return start{}, err
		}
		end, err := a.readLogits(ctx, infer.Request{
			From: s.requestFrom(p.Adapter), Tokens: p.Prompt, Replay: p.Replay, Sampling: a.samplingNow(), Adapter: p.Adapter, AnyAdapter: true,
		}, func(stream *infer.Stream) { a.showProgress(stream, read, all) })
		if err != nil {
			return start{}, err
		}
		s.from, s.history = end, s.history.Then(p.Run)
		read += len(p.Prompt) + len(p.Replay)
		a.keepPrompt(s)
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.cost = infer.Usage{Read: read, ReadTime: time.Since(began)}
	return s, nil
}

// requestFrom is the snapshot that a request with an adapter begins from: the
// engine carries its history on, and further states go on with the adapter.
func (s *start) requestFrom(adapter string) *infer.Snapshot {
	if s.from == nil {
		return nil
	}
	out := *s.from
	out.Spans = nil
	for _, r := range s.history.Runs {
		out.Spans = append(out.Spans, infer.Span{Tokens: r.Tokens, Adapter: r.Adapter})
	}
	out.Members = slices.Clone(out.Members)
	for i := range out.Members {
		out.Members[i].Adapter = adapter
	}
	return &out
}

// startAfter is where another request begins behind one from s that has left a
// snapshot: nothing is left to read before it draws. The caller holds mu.
func (a *answer) startAfter(s start, end *infer.Snapshot) start {
	return start{from: end, history: a.historyOf(s, end), own: s.own, named: s.named}
}

// historyOf is what a snapshot has read that a request from s has left. The
// caller holds mu.
func (a *answer) historyOf(s start, end *infer.Snapshot) turn.History {
	var read turn.History
	for _, span := range end.Spans {
		read = read.Then(turn.Run{Tokens: span.Tokens, Adapter: span.Adapter})
	}
	h := s.history.Prefix(read.Len())
	for _, run := range read.Rest(h.Len()) {
		run.Name = a.nameOf(run.Adapter)
		h = h.Then(run)
	}
	return h
}

// readSoFar is what the running answer has read up to the last change of its
// adapter; the last run goes on. The caller holds mu.
func (a *answer) readSoFar() turn.History {
	h, now := a.begun.history, a.settings.adapter
	if a.stream != nil {
		var before []infer.Span
		before, now = a.stream.Spans() // not the one in use, if that was chosen a moment ago
		for _, s := range before {
			h = h.Then(turn.Run{Tokens: s.Tokens, Adapter: s.Adapter, Name: a.nameOf(s.Adapter)})
		}
	}
	return h.Then(turn.Run{Adapter: now, Name: a.nameOf(now)})
}

// nameOf is what people call an adapter. The caller holds mu.
func (a *answer) nameOf(adapter string) string {
	if adapter == a.settings.adapter {
		return a.settings.adapterName
	}
	return a.host().adapters.KnownTitle(adapter)
}

// keepPrompt keeps the state after the prompt, from which a retry starts. A
// prompt that others have read in another way keeps theirs.
func (a *answer) keepPrompt(s start) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if a.prompted || len(s.from.Pending) > 0 || s.history.Len() != a.line.Prompt() {
		return
	}
	a.prompted = true
	prompt := a.d.tree.nodes[a.turn.Parent]
	switch was := prompt.turn.History; {
	case !was.Known(a.template.Model):
		prompt.turn.History = s.history
	case !was.HasPrefix(s.history) || was.Len() != s.history.Len():
		return
	}
	snap := s.from
	if s.named {
		snap = withPrefix(snap, replay.Name(s.history, a.line.Tokens(), a.origin))
	}
	a.d.saver.Commit(a.d.conv, prompt.turn, snap)
	a.d.tree.hold(prompt.turn.ID, snap)
}

// keepPromptOf is keepPrompt of what the running request has read.
func (a *answer) keepPromptOf(stream *infer.Stream) {
	p := stream.Prompt()
	if p == nil || a.prompted {
		return
	}
	a.d.mu.Lock()
	s := a.startAfter(a.begun, p)
	a.d.mu.Unlock()
	a.keepPrompt(s)
}

// withPrefix gives a snapshot a name.
func withPrefix(s *infer.Snapshot, p infer.Prefix) *infer.Snapshot {
	named := *s
	named.Prefix = p
	return &named
}

// nameEnding is the ending's snapshot with the name of what it has read: all but the
// tokens that it leaves pending.
func (a *answer) nameEnding(end infer.Ending) *infer.Snapshot {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	s := end.Snapshot
	if s == nil || !a.begun.named {
		return s
	}
	h := a.historyOf(a.begun, s)
	if h.Len() > replay.MaxNamed {
		return s
	}
	all := slices.Concat(a.line.Tokens()[:a.line.Prompt()], a.turn.Tokens, end.Tokens)
	if n := len(all) - len(s.Pending); n != h.Len() || !slices.Equal(all[n:], s.Pending) {
		return s
	}
	return withPrefix(s, replay.Name(h, all, a.origin))
}

// showProgress shows the progress of a read as a part of all that is read.
func (a *answer) showProgress(stream *infer.Stream, read, all int) {
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
