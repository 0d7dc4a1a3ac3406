package infer

import (
	"fmt"

	"rookery/infer/grammar"
)

// beginGrammar restricts the draws of q to what its grammar allows after the
// tokens of the answer that are there already.
func (q *sequence) beginGrammar(r *Request, v func() *grammar.Vocabulary) error {
	if r.Grammar == nil {
		return nil
	}
	q.matcher = r.Grammar.Match(v(), q.answer.vocabulary)
	for _, tokens := range [][]int32{r.Begun, r.Replay} {
		for _, id := range tokens {
			if err := q.matcher.Accept(id); err != nil {
				return fmt.Errorf("the answer cannot go on under its grammar: %w", err)
			}
		}
	}
	q.sampler.Restrict(q.matcher.Mask())
	return nil
}

// followGrammar reads a drawn token and restricts the next draw. It says whether
// the answer is whole, so that there is nothing to draw.
func (q *sequence) followGrammar(id int32) (whole bool, err error) {
	if q.matcher == nil {
		return false, nil
	}
	defer caught(&err, "the grammar")
	if err := q.matcher.Accept(id); err != nil {
		return false, err
	}
	q.sampler.Restrict(q.matcher.Mask())
	return q.matcher.Complete(), nil
}
