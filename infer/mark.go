package infer

import "rookery/infer/sampler"

// A mark is the point before a token in which a stop may begin: everything
// needed to end the answer there. The logits are kept for a stop that begins
// with that very token.
type mark struct {
	set      bool
	index    int // tokens of the answer consumed
	position int
	memory   sampler.Memory
	logits   []float32
	slot     Slot
	hasSlot  bool // otherwise the state must be read again
}

// updateMark keeps q.mark at or before the token in which held bytes begin. It
// is called when the last token was drawn but not yet consumed or observed.
func (e *Engine) updateMark(q *sequence) error {
	last := len(q.answer.ids) - 1
	switch from := q.answer.heldFrom(); {
	case from > last:
		e.dropMark(q)
	case from == last && (!q.mark.set || last-q.mark.index >= maxPending):
		return e.setMark(q)
	}
	return nil
}

// setMark marks the point before the last drawn token. The state is copied if
// a slot is free; nobody is kept waiting for one.
func (e *Engine) setMark(q *sequence) error {
	if err := e.fetchLogits(q); err != nil {
		return err
	}
	m := &q.mark
	m.set, m.index, m.position = true, q.consumed, q.position
	m.memory = q.memory(q.consumed)
	m.logits = append(m.logits[:0], q.logits...)
	if !m.hasSlot && q.mix == nil { // a mix is read again from its prompt
		m.slot, m.hasSlot = e.pool.take()
	}
	if !m.hasSlot {
		return nil
	}
	return e.device.CopySlot(m.slot, q.slot)
}

func (e *Engine) dropMark(q *sequence) {
	if q.mark.hasSlot {
		e.pool.put(q.mark.slot)
	}
	q.mark.set, q.mark.hasSlot = false, false
	q.mark.memory = sampler.Memory{}
}

// memoryAt is the sampler's memory after the first n tokens of the answer,
// which are known to come at or after the mark.
func (q *sequence) memoryAt(n int) sampler.Memory {
	s := bareSampler(q.answer.vocabulary, len(q.logits), q.sampler.Params())
	s.Restore(q.mark.memory)
	for _, id := range q.answer.ids[q.mark.index:n] {
		s.Observe(id)
	}
	m := s.Memory()
	m.Draws = q.draws + uint64(n)
	return m
}
