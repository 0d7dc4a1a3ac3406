package infer

import "slices"

// place gives the first in line a slot with the state that it goes on from;
// ok is false if it has to wait for one. After an error it has a slot, and the
// state in it is undefined.
//
// A state that is resident is not written again. It is copied, and stays, if
// others in line begin from it too or if there is room for both; otherwise q
// goes on in its slot.
func (e *Engine) place(q *sequence) (ok bool, err error) {
	if ok, err = e.admitMembers(q); !ok {
		return false, nil
	}
	if err == nil {
		ok, err = e.placeOwn(q)
	}
	if !ok || err != nil {
		e.dropMembers(q)
	}
	return ok, err
}

// placeOwn is place for the state that every sequence has.
func (e *Engine) placeOwn(q *sequence) (ok bool, err error) {
	state := q.req.From.state()
	if state == nil {
		if q.slot, q.placed = e.takeSlot(); !q.placed {
			return false, nil
		}
		return true, e.device.ZeroSlot(q.slot)
	}
	at := e.pool.find(identify(state))
	resident := at >= 0
	share := e.wanted(state, e.line[1:]) || resident && e.pool.spare()
	if resident {
		q.slot, q.placed = e.pool.claim(at), true
	} else if q.slot, q.placed = e.takeSlot(); !q.placed {
		return false, nil
	}
	e.monitor.observeWake(resident)
	if !resident {
		err = e.device.WriteSlot(q.slot, state)
	}
	if err == nil && share {
		err = e.share(q, state)
	}
	if err != nil {
		e.pool.giveUpAll()
	}
	return true, err
}

// wanted says whether any of the waiting begins from a state.
func (e *Engine) wanted(state []float32, line []*sequence) bool {
	return slices.ContainsFunc(line, func(q *sequence) bool {
		other := q.req.From.state()
		return other != nil && &other[0] == &state[0]
	})
}

// share makes q's slot, which holds exactly this state, resident and copies it
// to another one for q, if there is one.
func (e *Engine) share(q *sequence, state []float32) error {
	slot, ok := e.pool.take()
	if !ok {
		return nil
	}
	if err := e.device.CopySlot(slot, q.slot); err != nil {
		e.pool.put(slot)
		return err
	}
	e.pool.keep(q.slot, state)
	q.slot = slot
	return nil
}

// load gives a slot in use a snapshot's state.
func (e *Engine) load(slot Slot, from *Snapshot) error {
	state := from.state()
	if state == nil {
		return e.device.ZeroSlot(slot)
	}
	if at := e.pool.find(identify(state)); at >= 0 {
		return e.device.CopySlot(slot, e.pool.use(at))
	}
	return e.device.WriteSlot(slot, state)
}

// state is the values of a snapshot's state; nil is the zero state.
func (s *Snapshot) state() []float32 {
	if s == nil || len(s.State) == 0 {
		return nil
	}
	return s.State
}
