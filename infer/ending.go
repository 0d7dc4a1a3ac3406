package infer

import (
	"slices"
	"time"
)

// stop ends an answer after its first n tokens and the bytes part of the next
// one. The state goes back there: it is still in the slot if the stop began
// with the last token, it is at the mark if that has a slot, and otherwise it
// is read again from the prompt snapshot. What little lies between the state
// and the end is left pending.
func (e *Engine) stop(q *sequence, n int, part []byte) error {
	q.stream.publishText(q.answer.release())
	split := e.model.Tokenizer.Encode(nil, string(part))
	s := e.newSnapshot(q)
	q.settled = Ending{Reason: ReasonStop, Tokens: slices.Concat(q.answer.ids[:n], split), Snapshot: s}
	if n == q.consumed {
		s.Sampler = q.memory(n)
		q.unread = split
		return e.rewind(q)
	}
	s.Sampler = q.memoryAt(n)
	if q.mark.hasSlot {
		q.unread = slices.Concat(q.answer.ids[q.mark.index:n], split)
		e.pool.put(q.slot)
		q.slot, q.mark.hasSlot = q.mark.slot, false
		q.returnTo(q.mark.position)
		q.logits, q.mark.logits, q.logitsRow = q.mark.logits, q.logits, logitsHere
		return e.rewind(q)
	}
	return e.reread(q)
}

// reread ends an answer from the prompt snapshot, where no later state is kept.
func (e *Engine) reread(q *sequence) error {
	base, rest := e.base(q, q.settled.Tokens)
	q.again = q.readSince(base.Position)
	if len(rest) == 0 || len(rest) <= maxPending && len(q.again) < 2 {
		base.complete(q.settled.Snapshot, rest)
		e.end(q, q.settled)
		return nil
	}
	if err := e.load(q.slot, base); err != nil {
		return err
	}
	if err := e.loadMembers(q, base); err != nil {
		return err
	}
	q.returnTo(base.Position)
	q.unread = rest
	if len(q.again) > 1 {
		e.readAgain(q)
		q.phase, q.prompt, q.singly = phaseRewinding, 0, 0
		return nil
	}
	return e.rewind(q)
}

// rewind ends an answer with the state in the slot and q.unread pending, or,
// if that is much, after reading it.
func (e *Engine) rewind(q *sequence) error {
	if len(q.unread) <= maxPending {
		return e.finishRewinding(q)
	}
	q.phase, q.prompt, q.singly = phaseRewinding, 0, 0
	return nil
}

// finishRewinding completes q.settled with the state in the slot.
func (e *Engine) finishRewinding(q *sequence) error {
	return e.save(q, q.settled, q.unread)
}

// finishReading ends a request that only reads.
func (e *Engine) finishReading(q *sequence) error {
	switch {
	case len(q.req.Score) > 0:
		return e.score(q)
	case len(q.req.Replay) > 0:
		s := e.newSnapshot(q)
		s.Sampler = q.memory(0)
		return e.save(q, Ending{Reason: ReasonLength, Snapshot: s}, nil)
	case q.start == nil:
		s := e.startSnapshot(q)
		q.toPrompt = true
		return e.save(q, Ending{Reason: ReasonLength, Snapshot: s}, nil)
	}
	e.leave(q, q.start.State) // nothing was read
	e.end(q, Ending{Reason: ReasonLength, Snapshot: q.start})
	return nil
}

// finishOpen ends a request where it is: with what is unread, or drawn and not
// consumed, pending.
func (e *Engine) finishOpen(q *sequence, reason Reason) error {
	pending := q.unread
	if q.phase == phaseDecoding {
		pending = q.answer.ids[q.consumed:]
	}
	q.stream.publishText(q.answer.release())
	s := e.newSnapshot(q)
	s.Sampler = q.memory(len(q.answer.ids))
	return e.save(q, Ending{Reason: reason, Tokens: q.answer.ids, Snapshot: s}, pending)
}

// cancel ends a request between two steps.
func (e *Engine) cancel(q *sequence) {
	var err error
	switch q.phase {
	case phaseWaiting:
		base, rest := e.base(q, nil)
		s := e.newSnapshot(q)
		s.Sampler = q.memory(0)
		base.complete(s, rest)
		e.end(q, Ending{Reason: ReasonCancelled, Snapshot: s})
	case phaseRewinding: // the answer is complete; only its state is behind
		err = e.finishRewinding(q)
	case phaseScoring:
		e.end(q, Ending{Reason: ReasonCancelled})
	case phaseReading, phaseDecoding:
		err = e.finishOpen(q, ReasonCancelled)
	}
	if err != nil {
		e.fail(q, err)
	}
}

// fail ends a request whose state cannot be trusted any more. Its snapshot is
// the last good state, with everything since then pending.
func (e *Engine) fail(q *sequence, err error) {
	end := q.settled
	if end.Snapshot == nil {
		q.stream.publishText(q.answer.release())
		end = Ending{Tokens: q.answer.ids, Snapshot: e.newSnapshot(q)}
		end.Snapshot.Sampler = q.memory(len(q.answer.ids))
	}
	end.Reason, end.Err = ReasonError, err
	base, rest := e.base(q, end.Tokens)
	base.complete(end.Snapshot, rest)
	e.end(q, end)
}

// end publishes an ending and gives the slots back that q still has.
func (e *Engine) end(q *sequence, end Ending) {
	now := time.Now()
	if q.placed {
		e.pool.put(q.slot)
		q.placed = false
	}
	e.dropMark(q)
	e.dropMembers(q)
	q.phase = phaseEnded
	end.Usage = q.finalUsage(now)
	q.stream.setProgress(q.progress(now))
	q.stream.finish(end)
}

// finalUsage is what a request cost that is over now.
func (q *sequence) finalUsage(now time.Time) Usage {
	u := q.usage
	if q.promptEnd.IsZero() {
		u.ReadTime = now.Sub(q.submitted)
	} else {
		u.ReadTime = q.promptEnd.Sub(q.submitted)
		u.DecodeTime = now.Sub(q.promptEnd)
	}
	return u
}

// base is the last state that is kept on the host, and what must be read after
// it to have read the input and then tokens.
func (e *Engine) base(q *sequence, tokens []int32) (*Snapshot, []int32) {
	if q.starting != nil {
		e.outs.await(q.starting)
	}
	switch {
	case q.start != nil:
		return q.start, slices.Concat(q.req.Replay, tokens)
	case q.req.From != nil:
		return q.req.From, slices.Concat(q.input, tokens)
	}
	return &Snapshot{}, slices.Concat(q.input, tokens)
}

// complete gives s the state of base and what is to be read after it.
func (base *Snapshot) complete(s *Snapshot, pending []int32) {
	s.Position, s.Spans, s.State, s.Pending, s.Logits = base.Position, base.Spans, base.State, pending, nil
	s.Weight, s.Members = base.Weight, base.Members
	if len(pending) == 0 {
		s.Pending, s.Logits = nil, base.Logits
	}
}

// save ends q with the state in its slot, and what is to be read after it, as
// soon as the state has been read. It takes over q.logits. From here on q has
// no row, and its slot does not change.
func (e *Engine) save(q *sequence, end Ending, pending []int32) error {
	s := end.Snapshot
	s.Position, s.Spans, s.Pending = q.position, q.history(), nil
	if len(pending) > 0 {
		s.Pending = slices.Clone(pending)
	} else {
		if err := e.fetchLogits(q); err != nil {
			return err
		}
		s.Logits = q.logits
	}
	if err := e.readMembers(q, s, s.Logits != nil); err != nil {
		return err
	}
	e.dropMark(q)
	e.dropMembers(q)
	q.phase = phaseSaving
	now := time.Now()
	end.Usage = q.finalUsage(now)
	q.stream.setProgress(q.progress(now)) // what was drawn is seen without waiting
	e.reportWithoutEnded()
	out := &readout{slot: q.slot, into: s}
	out.publish = func() {
		if q.toPrompt {
			q.stream.setPrompt(s)
		}
		q.stream.finish(end)
	}
	out.then = func() {
		if out.err != nil {
			e.fail(q, out.err)
			return
		}
		e.leave(q, s.State)
		q.phase = phaseEnded
	}
	e.outs.start(out)
	return nil
}

// leave lets the slot go, which holds exactly this state.
func (e *Engine) leave(q *sequence, state []float32) {
	e.pool.keep(q.slot, state)
	q.placed = false
}

// newSnapshot is a snapshot at the end of the answer's text as it is now. It
// lacks the sampler's memory and everything of the state.
func (e *Engine) newSnapshot(q *sequence) *Snapshot {
	return &Snapshot{
		Model:     e.model.Fingerprint,
		Tokenizer: e.model.Tokenizer.Fingerprint(),
		Adapter:   q.req.Adapter,
		Tail:      q.answer.text.Pending(),
	}
}

func (e *Engine) readState(slot Slot) ([]float32, error) {
	state := e.monitor.newState(e.model.Shape.StateLen())
	if err := e.device.ReadSlot(slot, state); err != nil {
		return nil, err
	}
	return state, nil
}
