package infer

import (
	"slices"
	"time"
)

// endAtStop ends an answer after its first n tokens and the bytes part of the next
// one, where a stop string begins. The state must be the one at that point. It is
// in the slot if the stop began with the last token, and in the checkpoint if that
// has a slot; otherwise the answer is read again from the prompt's snapshot. The
// few tokens between the state and the end stay pending.
func (e *Engine) endAtStop(q *sequence, n int, part []byte) error {
	q.stream.publishText(q.answer.releaseHeld())
	split := e.model.Tokenizer.Encode(nil, string(part))
	s := e.newSnapshot(q)
	q.ending = Ending{Reason: ReasonStop, Tokens: slices.Concat(q.answer.ids[:n], split), Snapshot: s}
	if n == q.consumed {
		s.Sampler = q.memory(n)
		q.unread = split
		return e.readUnread(q)
	}
	s.Sampler = q.memoryAt(n)
	if q.checkpoint.hasSlot {
		q.unread = slices.Concat(q.answer.ids[q.checkpoint.index:n], split)
		e.pool.put(q.slot)
		q.slot, q.checkpoint.hasSlot = q.checkpoint.slot, false
		q.returnTo(q.checkpoint.position)
		q.logits, q.checkpoint.logits, q.logitsRow = q.checkpoint.logits, q.logits, logitsHere
		return e.readUnread(q)
	}
	return e.rereadFromPrompt(q)
}

// rereadFromPrompt reads an answer again from the prompt's snapshot and ends it.
func (e *Engine) rereadFromPrompt(q *sequence) error {
	base, rest := e.lastHostState(q, q.ending.Tokens)
	q.rereadSpans = q.readSince(base.Position)
	if len(rest) == 0 || len(rest) <= maxPending && len(q.rereadSpans) < 2 {
		base.complete(q.ending.Snapshot, rest)
		e.endRequest(q, q.ending)
		return nil
	}
	if err := e.loadState(q.slot, base); err != nil {
		return err
	}
	if err := e.loadMembers(q, base); err != nil {
		return err
	}
	q.returnTo(base.Position)
	q.unread = rest
	if len(q.rereadSpans) > 1 {
		e.switchRereadAdapter(q)
		q.phase, q.promptLeft, q.singleSteps = phaseRewinding, 0, 0
		return nil
	}
	return e.readUnread(q)
}

// readUnread ends an answer whose slot has a state from before the end: q.unread
// stays pending, or is read first if it is long.
func (e *Engine) readUnread(q *sequence) error {
	if len(q.unread) <= maxPending {
		return e.finishRewinding(q)
	}
	q.phase, q.promptLeft, q.singleSteps = phaseRewinding, 0, 0
	return nil
}

// finishRewinding ends q with q.ending and the state in the slot.
func (e *Engine) finishRewinding(q *sequence) error {
	return e.saveSnapshot(q, q.ending, q.unread)
}

// finishReading ends a request that only reads.
func (e *Engine) finishReading(q *sequence) error {
	switch {
	case len(q.req.Score) > 0:
		return e.scoreToken(q)
	case len(q.req.Replay) > 0:
		s := e.newSnapshot(q)
		s.Sampler = q.memory(0)
		return e.saveSnapshot(q, Ending{Reason: ReasonLength, Snapshot: s}, nil)
	case q.promptSnapshot == nil:
		s := e.promptSnapshot(q)
		q.endsPrompt = true
		return e.saveSnapshot(q, Ending{Reason: ReasonLength, Snapshot: s}, nil)
	}
	e.keepState(q, q.promptSnapshot.State) // nothing was read
	e.endRequest(q, Ending{Reason: ReasonLength, Snapshot: q.promptSnapshot})
	return nil
}

// endHere ends a request at the token where it is. Tokens that are not read, or
// drawn and not consumed, stay pending.
func (e *Engine) endHere(q *sequence, reason Reason) error {
	pending := q.unread
	if q.phase == phaseDecoding {
		pending = q.answer.ids[q.consumed:]
	}
	q.stream.publishText(q.answer.releaseHeld())
	s := e.newSnapshot(q)
	s.Sampler = q.memory(len(q.answer.ids))
	return e.saveSnapshot(q, Ending{Reason: reason, Tokens: q.answer.ids, Snapshot: s}, pending)
}

// cancelRequest ends a request between two steps.
func (e *Engine) cancelRequest(q *sequence) {
	var err error
	switch q.phase {
	case phaseWaiting:
		base, rest := e.lastHostState(q, nil)
		s := e.newSnapshot(q)
		s.Sampler = q.memory(0)
		base.complete(s, rest)
		e.endRequest(q, Ending{Reason: ReasonCancelled, Snapshot: s})
	case phaseRewinding: // the answer is complete; its state is not
		err = e.finishRewinding(q)
	case phaseScoring:
		e.endRequest(q, Ending{Reason: ReasonCancelled})
	case phaseReading, phaseDecoding:
		err = e.endHere(q, ReasonCancelled)
	}
	if err != nil {
		e.failRequest(q, err)
	}
}

// failRequest ends a request whose state in the slot cannot be trusted any more.
// Its snapshot is the last state on the host, with all tokens since then pending.
func (e *Engine) failRequest(q *sequence, err error) {
	end := q.ending
	if end.Snapshot == nil {
		q.stream.publishText(q.answer.releaseHeld())
		end = Ending{Tokens: q.answer.ids, Snapshot: e.newSnapshot(q)}
		end.Snapshot.Sampler = q.memory(len(q.answer.ids))
	}
	end.Reason, end.Err = ReasonError, err
	base, rest := e.lastHostState(q, end.Tokens)
	base.complete(end.Snapshot, rest)
	e.endRequest(q, end)
}

// endRequest publishes an ending and frees the slots that q still has.
func (e *Engine) endRequest(q *sequence, end Ending) {
	now := time.Now()
	if q.hasSlot {
		e.pool.put(q.slot)
		q.hasSlot = false
	}
	e.dropCheckpoint(q)
	e.dropMembers(q)
	q.phase = phaseEnded
	end.Usage = q.finalUsage(now)
	q.stream.setProgress(q.progress(now))
	q.stream.finish(end)
}

// finalUsage is what a request cost that ends now.
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

// lastHostState is the last snapshot of q on the host, and the tokens to read after
// it to have read the input and then tokens.
func (e *Engine) lastHostState(q *sequence, tokens []int32) (*Snapshot, []int32) {
	if q.promptReadback != nil {
		e.readbacks.await(q.promptReadback)
	}
	switch {
	case q.promptSnapshot != nil:
		return q.promptSnapshot, slices.Concat(q.req.Replay, tokens)
	case q.req.From != nil:
		return q.req.From, slices.Concat(q.input, tokens)
	}
	return &Snapshot{}, slices.Concat(q.input, tokens)
}

// complete gives s the state of base and the tokens to read after it.
func (base *Snapshot) complete(s *Snapshot, pending []int32) {
	s.Position, s.Spans, s.State, s.Pending, s.Logits = base.Position, base.Spans, base.State, pending, nil
	s.Weight, s.Members = base.Weight, base.Members
	if len(pending) == 0 {
		s.Pending, s.Logits = nil, base.Logits
	}
}

// saveSnapshot ends q with the state in its slot and the tokens to read after it, as
// soon as the state has been read back. It takes q.logits over. From now on q has
// no row, and its slot does not change.
func (e *Engine) saveSnapshot(q *sequence, end Ending, pending []int32) error {
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
	e.dropCheckpoint(q)
	e.dropMembers(q)
	q.phase = phaseSaving
	now := time.Now()
	end.Usage = q.finalUsage(now)
	q.stream.setProgress(q.progress(now)) // the reader sees the last tokens without waiting for the state
	e.reportWithoutEnded()
	out := &readback{slot: q.slot, into: s}
	out.publish = func() {
		if q.endsPrompt {
			q.stream.setPrompt(s)
		}
		q.stream.finish(end)
	}
	out.settle = func() {
		if out.err != nil {
			e.failRequest(q, out.err)
			return
		}
		e.keepState(q, s.State)
		q.phase = phaseEnded
	}
	e.readbacks.start(out)
	return nil
}

// keepState gives up the slot of q, which holds exactly this state, and leaves the
// state resident.
func (e *Engine) keepState(q *sequence, state []float32) {
	e.pool.keepResident(q.slot, state)
	q.hasSlot = false
}

// newSnapshot is a snapshot at the end of the answer's text so far. It has neither
// state, logits and position nor the sampler's memory.
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
