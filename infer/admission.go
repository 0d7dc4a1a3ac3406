package infer

import "slices"

// admitSequence gives the first waiting sequence its slots, with the states that
// it goes on from. ok is false if it must wait for a slot. After an error the
// sequence has a slot, and the state in it is undefined.
//
// A resident state is not written again. If other waiting sequences begin from
// it too, or if there is room for both, the engine copies it to another slot and
// it stays resident. Otherwise the sequence goes on in the resident slot.
func (e *Engine) admitSequence(q *sequence) (ok bool, err error) {
	if ok, err = e.admitMembers(q); !ok {
		return false, nil
	}
	if err == nil {
		ok, err = e.admitState(q)
	}
	if !ok || err != nil {
		e.dropMembers(q)
	}
	return ok, err
}

// admitState gives a sequence the slot of its own state. The members of a mix have
// further ones.
func (e *Engine) admitState(q *sequence) (ok bool, err error) {
	state := q.req.From.state()
	if state == nil {
		if q.slot, q.hasSlot = e.takeSlot(); !q.hasSlot {
			return false, nil
		}
		return true, e.device.ZeroSlot(q.slot)
	}
	at := e.pool.find(identify(state))
	resident := at >= 0
	share := e.isAwaited(state, e.waiting[1:]) || resident && e.pool.hasSpare()
	if resident {
		q.slot, q.hasSlot = e.pool.claim(at), true
	} else if q.slot, q.hasSlot = e.takeSlot(); !q.hasSlot {
		return false, nil
	}
	e.monitor.observeWake(resident)
	if !resident {
		err = e.device.WriteSlot(q.slot, state)
	}
	if err == nil && share {
		err = e.shareState(q, state)
	}
	if err != nil {
		e.pool.evictAll()
	}
	return true, err
}

// isAwaited says whether any of the waiting sequences begins from a state.
func (e *Engine) isAwaited(state []float32, waiting []*sequence) bool {
	return slices.ContainsFunc(waiting, func(q *sequence) bool {
		other := q.req.From.state()
		return other != nil && &other[0] == &state[0]
	})
}

// shareState makes q's slot resident, which holds exactly this state, and gives
// q a copy of it in another slot. Without a free slot it does nothing.
func (e *Engine) shareState(q *sequence, state []float32) error {
	slot, ok := e.pool.take()
	if !ok {
		return nil
	}
	if err := e.device.CopySlot(slot, q.slot); err != nil {
		e.pool.put(slot)
		return err
	}
	e.pool.keepResident(q.slot, state)
	q.slot = slot
	return nil
}

// loadState puts a snapshot's state into a slot that is in use.
func (e *Engine) loadState(slot Slot, from *Snapshot) error {
	state := from.state()
	if state == nil {
		return e.device.ZeroSlot(slot)
	}
	if at := e.pool.find(identify(state)); at >= 0 {
		return e.device.CopySlot(slot, e.pool.touch(at))
	}
	return e.device.WriteSlot(slot, state)
}

// state is a snapshot's state; nil is the zero state.
func (s *Snapshot) state() []float32 {
	if s == nil || len(s.State) == 0 {
		return nil
	}
	return s.State
}
