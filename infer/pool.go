package infer

import (
	"slices"
	"weak"
)

// A pool knows what every slot of the backend is for. A slot is in use (by a
// request, by a checkpoint, or until its readback has ended), resident, or free.
//
// A resident slot holds the state of a snapshot. The host has that state too, so
// the engine can evict it at any time. A request that goes on from the snapshot
// need not write the state again.
type pool struct {
	slots     int
	free      []Slot
	residents []resident // least recently used first
	limit     int        // residents at most
}

// A resident is a slot with the state of a snapshot.
type resident struct {
	slot  Slot
	state identity
}

// An identity identifies a snapshot's state by the address of its values in host
// memory. Snapshots are immutable, so equal identities mean equal states; a copy
// of a Snapshot that shares the values has the same one. An identity does not
// keep the values alive, and never equals that of later values at that address.
type identity weak.Pointer[float32]

func identify(state []float32) identity { return identity(weak.Make(&state[0])) }

// alive says whether a request can still ask for the state.
func (id identity) alive() bool { return weak.Pointer[float32](id).Value() != nil }

func newPool(slots, limit int) pool {
	p := pool{slots: slots, limit: limit, free: make([]Slot, 0, max(slots, 0))}
	for s := slots - 1; s >= 0; s-- { // slot 0 first
		p.free = append(p.free, Slot(s))
	}
	return p
}

// take returns a free slot, or evicts a resident one; ok is false if there is
// neither.
func (p *pool) take() (s Slot, ok bool) {
	if len(p.free) == 0 && !p.evict() {
		return 0, false
	}
	s = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return s, true
}

// put makes a slot free.
func (p *pool) put(s Slot) { p.free = append(p.free, s) }

// keepResident makes a slot in use resident, which holds exactly this state. If
// the state is resident already, the slot becomes free.
func (p *pool) keepResident(s Slot, state []float32) {
	if p.limit < 1 || len(state) == 0 {
		p.put(s)
		return
	}
	id := identify(state)
	if p.find(id) >= 0 {
		p.put(s)
		return
	}
	p.residents = append(p.residents, resident{s, id})
	if len(p.residents) > p.limit {
		p.evict()
	}
}

// find returns the index of the resident slot with a state, or -1.
func (p *pool) find(id identity) int {
	return slices.IndexFunc(p.residents, func(r resident) bool { return r.state == id })
}

// touch makes the i-th resident the most recently used and returns its slot.
func (p *pool) touch(i int) Slot {
	r := p.residents[i]
	p.residents = append(slices.Delete(p.residents, i, i+1), r)
	return r.slot
}

// claim takes the i-th resident's slot into use, state and all.
func (p *pool) claim(i int) Slot {
	s := p.residents[i].slot
	p.residents = slices.Delete(p.residents, i, i+1)
	return s
}

// evict frees a resident slot: one whose state no request can name any more, or
// the least recently used one.
func (p *pool) evict() bool {
	if len(p.residents) == 0 {
		return false
	}
	dead := slices.IndexFunc(p.residents, func(r resident) bool { return !r.state.alive() })
	p.put(p.claim(max(dead, 0)))
	return true
}

// evictAll frees all resident slots.
func (p *pool) evictAll() {
	for p.evict() {
		continue
	}
}

// hasSpare says whether one more state can become resident without an eviction.
func (p *pool) hasSpare() bool {
	return len(p.free) > 0 && len(p.residents) < p.limit
}

// kinds counts the slots by what they are for.
func (p *pool) kinds() SlotKinds {
	k := SlotKinds{Free: len(p.free), Resident: len(p.residents)}
	k.Running = p.slots - k.Free - k.Resident
	return k
}
