package infer

import "errors"

// What sequence.logitsRow can be besides a row.
const (
	logitsHere = -1 // q.logits has them
	logitsGone = -2 // another step came after the one that made them
)

// noteLogits notes where the logits are after a step in which q had a row.
func (q *sequence) noteLogits(number int, row Row) {
	if row.Logits != nil {
		q.logitsRow = logitsHere
	} else if row.Sampler != nil {
		q.logitsRow = number
	}
}

// loseLogits is called before a step: the backend gives up those of the last one.
func (q *sequence) loseLogits() {
	if q.logitsRow >= 0 {
		q.logitsRow = logitsGone
	}
}

// fetchLogits completes q.logits, and those of the other states of a mix, after
// a step that was not asked for them.
func (e *Engine) fetchLogits(q *sequence) (err error) {
	switch q.logitsRow {
	case logitsHere:
		return nil
	case logitsGone:
		return errors.New("the logits of an earlier step are needed, and not kept")
	}
	defer caught(&err, "reading logits")
	if err := e.saver.ReadLogits(q.logitsRow, q.logits); err != nil {
		return err
	}
	if q.mix != nil {
		for i := range q.mix.voices { // their rows follow
			if err := e.saver.ReadLogits(q.logitsRow+1+i, q.mix.voices[i].logits); err != nil {
				return err
			}
		}
	}
	q.logitsRow = logitsHere
	return nil
}
