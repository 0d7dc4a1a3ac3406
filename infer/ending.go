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
		q.slot, q.position, q.mark.hasSlot = q.mark.slot, q.mark.position, false
		q.logits, q.mark.logits, q.logitsRow = q.mark.logits, q.logits, logitsHere
		return e.rewind(q)
	}
	return e.reread(q)
}

// reread ends an answer from the prompt snapshot, where no later state is kept.
func (e *Engine) reread(q *sequence) error {
	base, rest := q.base(q.settled.Tokens)
	if len(rest) <= maxPending {
		base.complete(q.settled.Snapshot, rest)
		e.end(q, q.settled)
		return nil
	}
	if err := e.load(q.slot, base); err != nil {
		return err
	}
	q.position, q.unread = base.Position, rest
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
	if err := e.save(q, q.settled.Snapshot, q.unread); err != nil {
		return err
	}
	e.end(q, q.settled)
	return nil
}

// finishReading ends a request that only reads.
func (e *Engine) finishReading(q *sequence) error {
	s := q.start
	if s == nil || len(q.req.Replay) > 0 {
		s = e.newSnapshot(q)
		s.Sampler = q.memory(0)
		if err := e.save(q, s, nil); err != nil {
			return err
		}
	}
	e.end(q, Ending{Reason: ReasonLength, Snapshot: s})
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
	if err := e.save(q, s, pending); err != nil {
		return err
	}
	e.end(q, Ending{Reason: reason, Tokens: q.answer.ids, Snapshot: s})
	return nil
}

// cancel ends a request between two steps.
func (e *Engine) cancel(q *sequence) {
	var err error
	switch q.phase {
	case phaseWaiting:
		base, rest := q.base(nil)
		s := e.newSnapshot(q)
		s.Sampler = q.memory(0)
		base.complete(s, rest)
		e.end(q, Ending{Reason: ReasonCancelled, Snapshot: s})
	case phaseRewinding: // the answer is complete; only its state is behind
		err = e.finishRewinding(q)
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
	base, rest := q.base(end.Tokens)
	base.complete(end.Snapshot, rest)
	e.end(q, end)
}

// end publishes an ending and gives the slots back.
func (e *Engine) end(q *sequence, end Ending) {
	now := time.Now()
	if q.phase != phaseWaiting {
		e.pool.put(q.slot)
	}
	e.dropMark(q)
	q.phase = phaseEnded
	if q.promptEnd.IsZero() {
		q.usage.ReadTime = now.Sub(q.submitted)
	} else {
		q.usage.ReadTime = q.promptEnd.Sub(q.submitted)
		q.usage.DecodeTime = now.Sub(q.promptEnd)
	}
	end.Usage = q.usage
	q.stream.setProgress(q.progress(now))
	q.stream.finish(end)
}

// base is the last state that is kept on the host, and what must be read after
// it to have read the input and then tokens.
func (q *sequence) base(tokens []int32) (*Snapshot, []int32) {
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
	s.Position, s.State, s.Pending, s.Logits = base.Position, base.State, pending, nil
	if len(pending) == 0 {
		s.Pending, s.Logits = nil, base.Logits
	}
}

// save completes s with the state in q's slot and what is to be read after it.
// It takes over q.logits.
func (e *Engine) save(q *sequence, s *Snapshot, pending []int32) error {
	state, err := e.readState(q.slot)
	if err != nil {
		return err
	}
	s.Position, s.State, s.Pending = q.position, state, slices.Clone(pending)
	if len(pending) > 0 {
		return nil
	}
	if err := e.fetchLogits(q); err != nil {
		return err
	}
	s.Pending, s.Logits = nil, q.logits
	return nil
}

// newSnapshot is a snapshot at the end of the answer's text as it is now. It
// lacks the sampler's memory and everything of the state.
func (e *Engine) newSnapshot(q *sequence) *Snapshot {
	return &Snapshot{
		Model:     e.model.Fingerprint,
		Tokenizer: e.model.Tokenizer.Fingerprint(),
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
