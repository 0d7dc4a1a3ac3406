package infer

import "rookery/infer/sampler"

// scoreToken takes the logits after the tokens read so far, which say how likely the
// next token of Request.Score was. The next step reads that token, unless it is the
// last one.
func (e *Engine) scoreToken(q *sequence) error {
	logits := q.combineLogits()
	n := min(q.answer.vocabulary.Size(), len(logits)) // ids from there up have no token
	p := sampler.LogProb(logits[:n], q.req.Score[len(q.scores)])
	if isNaN(p) {
		return ErrNaN
	}
	q.scores = append(q.scores, p)
	if len(q.scores) == len(q.req.Score) {
		e.endRequest(q, Ending{Reason: ReasonLength, Scores: q.scores})
		return nil
	}
	q.phase = phaseScoring
	return nil
}

// scoringRow is a row that reads the token that was scored last.
func (q *sequence) scoringRow() Row {
	q.oneToken[0] = q.req.Score[len(q.scores)-1]
	return Row{Slot: q.slot, Adapter: q.adapter, Tokens: q.oneToken[:], Logits: q.logits}
}
