package infer

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// begin starts a sequence whose slot holds the state to go on from.
func (e *Engine) begin(q *sequence) error {
	q.phase = phaseReading
	q.takeSampling()
	if err := e.adapt(q); err != nil {
		return err
	}
	q.logits = make([]float32, e.model.Shape.Vocab)
	q.lateLogits = e.saver != nil && !q.drawsItself()
	from := q.req.From
	if from != nil && from.Logits != nil && q.prompt == 0 {
		copy(q.logits, from.Logits)
		q.setStart(from)
	}
	if len(q.unread) > 0 {
		return nil
	}
	if from.Logits == nil { // the mix was changed, and nothing is left to read
		return errors.New("a mix with other states cannot go on without reading a token: give it one")
	}
	return e.firstFromLogits(q)
}

// takeSampling takes over what Stream.SetSampling left.
func (q *sequence) takeSampling() {
	if p := q.stream.sampling.Swap(nil); p != nil {
		q.sampler.SetParams(*p)
	}
	q.takeWeights()
}

// firstFromLogits draws the first token from the snapshot's logits, without a step.
func (e *Engine) firstFromLogits(q *sequence) error {
	now := time.Now()
	q.promptEnd = now
	if q.req.Logits {
		return e.finishReading(q)
	}
	d, err := q.draw()
	if err != nil {
		return err
	}
	q.phase = phaseDecoding
	return e.accept(q, d, span{now, now})
}

// advance takes what came of a row with n tokens in a step.
func (e *Engine) advance(q *sequence, n int, d Drawn, at span) (err error) {
	q.consume(n)
	if q.drawsItself() && q.drawsAfter(n) {
		if d, err = q.draw(); err != nil {
			return err
		}
	}
	switch q.phase {
	case phaseDecoding:
		q.consumed += n
		q.rate.add(at, 1)
		return e.accept(q, d, at)
	case phaseScoring:
		q.usage.Read += n
		q.rate.add(at, n)
		q.stream.setProgress(q.progress(at.end))
		return e.score(q)
	case phaseReading:
		return e.advanceReading(q, n, d, at)
	case phaseRewinding:
		q.unread = q.unread[n:]
		if len(q.again) > 1 {
			if q.again[0].Tokens -= n; q.again[0].Tokens == 0 {
				q.again = q.again[1:]
				e.readAgain(q)
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
	q.singly = max(q.singly-n, 0)
	q.rate.add(at, n)
	if q.prompt > 0 {
		if q.prompt -= n; q.prompt == 0 {
			if q.req.Logits && len(q.unread) == 0 {
				q.promptEnd = at.end
				return e.finishReading(q)
			}
			if err := e.takeStart(q); err != nil {
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
	return e.accept(q, d, at)
}

// takeStart takes the prompt snapshot: state and logits after the last prompt
// token, and the sampler as it was before the first draw. The state is copied
// to a slot of its own if there is one, from which it is read while q goes on,
// and where it stays for a retry.
func (e *Engine) takeStart(q *sequence) error {
	s := e.startSnapshot(q)
	s.Logits = slices.Clone(q.logits)
	if err := e.readMembers(q, s, true); err != nil {
		return err
	}
	slot, ok := e.pool.take()
	if !ok {
		state, err := e.readState(q.slot)
		if err == nil {
			s.State = state
			q.setStart(s)
		}
		return err
	}
	if err := e.device.CopySlot(slot, q.slot); err != nil {
		e.pool.put(slot)
		return err
	}
	out := &readout{slot: slot, into: s, publish: func() { q.stream.setPrompt(s) }}
	out.then = func() {
		q.starting = nil
		if out.err != nil { // what q began from serves as well
			e.pool.put(slot)
			return
		}
		e.pool.keep(slot, s.State)
		q.setStart(s)
	}
	q.starting = out
	e.outs.start(out)
	return nil
}

// startSnapshot is the prompt snapshot without state and logits.
func (e *Engine) startSnapshot(q *sequence) *Snapshot {
	s := e.newSnapshot(q)
	s.Position, s.Spans, s.Tail = q.position, q.history(), q.tail
	if q.req.From != nil {
		s.Sampler = q.req.From.Sampler
	}
	return s
}

// setStart makes s the prompt snapshot; what it continued is not needed any more.
func (q *sequence) setStart(s *Snapshot) {
	q.start, q.req.From = s, nil
	q.stream.setPrompt(s)
}

// accept takes a drawn token: it publishes it and decides whether it ends the
// answer or may begin a stop. The sampler observes it last, so that everything
// before still sees the memory from before the token.
func (e *Engine) accept(q *sequence, d Drawn, at span) error {
	if isNaN(d.LogProb) || q.logitsRow == logitsHere && hasNaN(q.logits) {
		return errNaN
	}
	if d.Token < 0 || int(d.Token) >= e.model.Shape.Vocab {
		return fmt.Errorf("the backend drew token %d: the model has tokens 0 to %d", d.Token, e.model.Shape.Vocab-1)
	}
	e.publishDistribution(q, d.Token)
	q.usage.Generated++
	if q.usage.Generated == 1 {
		q.usage.FirstToken = at.end.Sub(q.submitted)
	}
	if d.Token == 0 {
		return e.stop(q, len(q.answer.ids), nil)
	}
	text, cut, found := q.answer.push(d.Token)
	q.stream.publish(Token{ID: d.Token, LogProb: d.LogProb, Top: d.Top, MemberLogprobs: d.MemberLogprobs}, text)
	if found {
		n, part := q.answer.locate(cut)
		return e.stop(q, n, part)
	}
	if err := e.updateMark(q); err != nil {
		return err
	}
	q.sampler.Observe(d.Token)
	if q.req.MaxTokens > 0 && q.usage.Generated >= q.req.MaxTokens {
		return e.finishOpen(q, ReasonLength)
	}
	q.stream.setProgress(q.progress(at.end))
	return nil
}

// drawsItself says that q is a mix and no backend draws for it.
func (q *sequence) drawsItself() bool { return q.mix != nil && !q.mix.onDevice }

// drawsAfter says whether a token is to be drawn after a row with n tokens.
func (q *sequence) drawsAfter(n int) bool {
	return q.phase == phaseDecoding || q.phase == phaseReading && n == len(q.unread) && !q.req.Logits
}
