package infer

import "rookery/infer/sampler"

// A checkpoint is everything needed to end an answer before a token in which a
// stop string may begin. The logits are for a stop that begins with the first
// byte of that token.
type checkpoint struct {
	set      bool
	index    int // how many tokens of the answer the state has consumed
	position int
	memory   sampler.Memory
	logits   []float32
	slot     Slot
	hasSlot  bool // the state is in slot; without one the answer is read again
}

// updateCheckpoint keeps q.checkpoint at or before the token in which the bytes
// held back begin. The engine calls it when the last token is drawn, and neither
// consumed nor observed.
func (e *Engine) updateCheckpoint(q *sequence) error {
	last := len(q.answer.ids) - 1
	switch from := q.answer.heldFrom(); {
	case from > last:
		e.dropCheckpoint(q)
	case from == last && (!q.checkpoint.set || last-q.checkpoint.index >= maxPending):
		return e.setCheckpoint(q)
	}
	return nil
}

// setCheckpoint makes a checkpoint before the last drawn token. It copies the
// state if a slot is free; no request waits for one.
func (e *Engine) setCheckpoint(q *sequence) error {
	if err := e.fetchLogits(q); err != nil {
		return err
	}
	m := &q.checkpoint
	m.set, m.index, m.position = true, q.consumed, q.position
	m.memory = q.memory(q.consumed)
	m.logits = append(m.logits[:0], q.logits...)
	if !m.hasSlot && q.mix == nil { // a mix has no spare slots; it is read again
		m.slot, m.hasSlot = e.pool.take()
	}
	if !m.hasSlot {
		return nil
	}
	return e.device.CopySlot(m.slot, q.slot)
}

func (e *Engine) dropCheckpoint(q *sequence) {
	if q.checkpoint.hasSlot {
		e.pool.put(q.checkpoint.slot)
	}
	q.checkpoint.set, q.checkpoint.hasSlot = false, false
	q.checkpoint.memory = sampler.Memory{}
}

// memoryAt is the sampler's memory after the first n tokens of the answer, at
// or after the checkpoint.
func (q *sequence) memoryAt(n int) sampler.Memory {
	s := bareSampler(q.answer.vocabulary, len(q.logits), q.sampler.Params())
	s.Restore(q.checkpoint.memory)
	for _, id := range q.answer.ids[q.checkpoint.index:n] {
		s.Observe(id)
	}
	m := s.Memory()
	m.Draws = q.draws + uint64(n)
	return m
}
