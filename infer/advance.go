package infer

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// beginSequence starts a sequence whose slot holds the state to go on from.
func (e *Engine) beginSequence(q *sequence) error {
	q.phase = phaseReading
	q.takeSampling()
	if err := e.resolveAdapter(q); err != nil {
		return err
	}
	q.logits = make([]float32, e.model.Shape.Vocab)
	q.logitsOnDevice = e.logitsKeeper != nil && !q.drawsItself()
	from := q.req.From
	if from != nil && from.Logits != nil && q.promptLeft == 0 {
		copy(q.logits, from.Logits)
		q.setPrompt(from)
	}
	if len(q.unread) > 0 {
		return nil
	}
	if from.Logits == nil { // the mix has other members now, whose logits are not known
		return errors.New("a mix with other states cannot go on without reading a token: give it one")
	}
	return e.firstFromLogits(q)
}

// takeSampling applies the parameters of the last Stream.SetSampling.
func (q *sequence) takeSampling() {
	if p := q.stream.sampling.Swap(nil); p != nil {
		q.sampler.SetParams(*p)
	}
	q.takeWeights()
}

// firstFromLogits draws the first token from the snapshot's logits. That needs no
// step.
func (e *Engine) firstFromLogits(q *sequence) error {
	now := time.Now()
	q.promptEnd = now
	if q.req.Logits {
		return e.finishReading(q)
	}
	d, err := q.drawToken()
	if err != nil {
		return err
	}
	q.phase = phaseDecoding
	return e.acceptToken(q, d, span{now, now})
}

// advanceSequence takes the result of a step in which q had a row with n tokens.
func (e *Engine) advanceSequence(q *sequence, n int, d Drawn, at span) (err error) {
	q.consume(n)
	if q.drawsItself() && q.drawsAfter(n) {
		if d, err = q.drawToken(); err != nil {
			return err
		}
	}
	switch q.phase {
	case phaseDecoding:
		q.consumed += n
		q.rate.add(at, 1)
		return e.acceptToken(q, d, at)
	case phaseScoring:
		q.usage.Read += n
		q.rate.add(at, n)
		q.stream.setProgress(q.progress(at.end))
		return e.scoreToken(q)
	case phaseReading:
		return e.advanceReading(q, n, d, at)
	case phaseRewinding:
		q.unread = q.unread[n:]
		if len(q.rereadSpans) > 1 {
			if q.rereadSpans[0].Tokens -= n; q.rereadSpans[0].Tokens == 0 {
				q.rereadSpans = q.rereadSpans[1:]
				e.switchRereadAdapter(q)
			}
		}
		if len(q.unread) == 0 {
			return e.finishRewinding(q)
		}
	}
	return nil
}

func (e *Engine) advanceReading(q *sequence, n int, d Drawn, at span) error {
	q.unread = q.unread[n:]
	q.usage.Read += n
	q.singleSteps = max(q.singleSteps-n, 0)
	q.rate.add(at, n)
	if q.promptLeft > 0 {
		if q.promptLeft -= n; q.promptLeft == 0 {
			if q.req.Logits && len(q.unread) == 0 {
				q.promptEnd = at.end
				return e.finishReading(q)
			}
			if err := e.savePrompt(q); err != nil {
				return err
			}
		}
	}
	if len(q.unread) > 0 {
		q.stream.setProgress(q.progress(at.end))
		return nil
	}
	q.promptEnd = at.end
	if q.req.Logits {
		return e.finishReading(q)
	}
	q.phase = phaseDecoding
	q.rate.reset()
	return e.acceptToken(q, d, at)
}

// savePrompt makes the prompt's snapshot: state and logits after the last prompt
// token, and the sampler as it was before the first draw. If a slot is free, the
// engine copies the state to it and reads it back from there while q goes on; the
// copy stays resident for a retry.
func (e *Engine) savePrompt(q *sequence) error {
	s := e.promptSnapshot(q)
	s.Logits = slices.Clone(q.logits)
	if err := e.readMembers(q, s, true); err != nil {
		return err
	}
	slot, ok := e.pool.take()
	if !ok {
		state, err := e.readState(q.slot)
		if err == nil {
			s.State = state
			q.setPrompt(s)
		}
		return err
	}
	if err := e.device.CopySlot(slot, q.slot); err != nil {
		e.pool.put(slot)
		return err
	}
	out := &readback{slot: slot, into: s, publish: func() { q.stream.setPrompt(s) }}
	out.settle = func() {
		q.promptReadback = nil
		if out.err != nil { // q can still be read again from req.From
			e.pool.put(slot)
			return
		}
		e.pool.keepResident(slot, s.State)
		q.setPrompt(s)
	}
	q.promptReadback = out
	e.readbacks.start(out)
	return nil
}

// promptSnapshot is the prompt's snapshot, still without state and logits.
func (e *Engine) promptSnapshot(q *sequence) *Snapshot {
	s := e.newSnapshot(q)
	s.Position, s.Spans, s.Tail = q.position, q.history(), q.tail
	if q.req.From != nil {
		s.Sampler = q.req.From.Sampler
	}
	return s
}

// setPrompt makes s the prompt's snapshot. The snapshot that the request went on
// from is not needed any more.
func (q *sequence) setPrompt(s *Snapshot) {
	q.promptSnapshot, q.req.From = s, nil
	q.stream.setPrompt(s)
}

// acceptToken publishes a drawn token and decides whether it ends the answer or may
// begin a stop. The sampler observes the token last, so that a checkpoint has the
// sampler's memory from before it.
func (e *Engine) acceptToken(q *sequence, d Drawn, at span) error {
	if isNaN(d.LogProb) || q.logitsRow == logitsHere && hasNaN(q.logits) {
		return ErrNaN
	}
	if d.Token < 0 || int(d.Token) >= e.model.Shape.Vocab {
		return fmt.Errorf("the backend drew token %d: the model has tokens 0 to %d", d.Token, e.model.Shape.Vocab-1)
	}
	e.publishDistribution(q, d.Token)
	q.usage.Generated++
	if q.usage.Generated == 1 {
		q.usage.FirstToken = at.end.Sub(q.submitted)
	}
	whole, err := q.followGrammar(d.Token)
	if err != nil {
		return err
	}
	if d.Token == 0 {
		return e.endAtStop(q, len(q.answer.ids), nil)
	}
	text, cut, found := q.answer.push(d.Token)
	q.stream.publish(Token{ID: d.Token, LogProb: d.LogProb, Top: d.Top, MemberLogprobs: d.MemberLogprobs}, text)
	if found {
		n, part := q.answer.locate(cut)
		return e.endAtStop(q, n, part)
	}
	if err := e.updateCheckpoint(q); err != nil {
		return err
	}
	q.sampler.Observe(d.Token)
	if whole {
		return e.endHere(q, ReasonStop)
	}
	if q.req.MaxTokens > 0 && q.usage.Generated >= q.req.MaxTokens {
		return e.endHere(q, ReasonLength)
	}
	q.stream.setProgress(q.progress(at.end))
	return nil
}

// drawsItself says that q is a mix and that the backend does not draw for it.
func (q *sequence) drawsItself() bool { return q.mix != nil && !q.mix.onDevice }

// drawsAfter says whether q draws a token after a row with n tokens.
func (q *sequence) drawsAfter(n int) bool {
	return q.phase == phaseDecoding || q.phase == phaseReading && n == len(q.unread) && !q.req.Logits
}
