package infer

import "errors"

// The values of sequence.logitsRow that are no row.
const (
	logitsHere = -1 // q.logits has the logits
	logitsGone = -2 // a later step has replaced them
)

// noteLogits notes where the logits are after a step in which q had row number.
func (q *sequence) noteLogits(number int, row Row) {
	if row.Logits != nil {
		q.logitsRow = logitsHere
	} else if row.Sampler != nil {
		q.logitsRow = number
	}
}

// loseLogits is called before a step, in which the backend gives up the logits of
// the last one.
func (q *sequence) loseLogits() {
	if q.logitsRow >= 0 {
		q.logitsRow = logitsGone
	}
}

// fetchLogits reads the logits that the backend kept into q.logits and those of the
// members of a mix.
func (e *Engine) fetchLogits(q *sequence) (err error) {
	switch q.logitsRow {
	case logitsHere:
		return nil
	case logitsGone:
		return errors.New("the logits of an earlier step are needed, and not kept")
	}
	defer caught(&err, "reading logits")
	if err := e.logitsKeeper.ReadLogits(q.logitsRow, q.logits); err != nil {
		return err
	}
	if q.mix != nil {
		for i := range q.mix.members { // their rows follow
			if err := e.logitsKeeper.ReadLogits(q.logitsRow+1+i, q.mix.members[i].logits); err != nil {
				return err
			}
		}
	}
	q.logitsRow = logitsHere
	return nil
}
