package infer

import "rookery/infer/sampler"

// score takes the logits after what was read so far: they say how likely the
// next token to be scored was, which is then read. The last one is not.
func (e *Engine) score(q *sequence) error {
	logits := q.combine()
	n := min(q.answer.vocabulary.Size(), len(logits)) // the others stand for no token
	p := sampler.LogProb(logits[:n], q.req.Score[len(q.scores)])
	if isNaN(p) {
		return errNaN
	}
	q.scores = append(q.scores, p)
	if len(q.scores) == len(q.req.Score) {
		e.end(q, Ending{Reason: ReasonLength, Scores: q.scores})
		return nil
	}
	q.phase = phaseScoring
	return nil
}

// scoringRow reads the token that was scored last.
func (q *sequence) scoringRow() Row {
	q.one[0] = q.req.Score[len(q.scores)-1]
	return Row{Slot: q.slot, Adapter: q.adapter, Tokens: q.one[:], Logits: q.logits}
}
