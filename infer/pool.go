package infer

import (
	"slices"
	"weak"
)

// A pool knows what every slot of the backend is for: it is in use (by a
// request, as a mark, or while it is read out), it is resident, or it is free.
//
// A resident slot holds the state of a snapshot that the host has too, so that
// a request that goes on from that snapshot needs not write it again. Nothing
// is lost when it is given up.
type pool struct {
	slots     int
	free      []Slot
	residents []resident // the one not used for longest first
	limit     int        // residents at most
}

// A resident is a slot with the state of a snapshot.
type resident struct {
	slot  Slot
	state identity
}

// An identity is that of a snapshot's state: the place of its values in the
// host's memory. Snapshots are immutable, so that equal identities are equal
// states, also of a copied Snapshot that shares them. It does not keep the
// values alive, and is never that of values that come to lie there later.
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

// take returns a slot that is free, or else a resident one; ok is false if
// there is neither.
func (p *pool) take() (s Slot, ok bool) {
	if len(p.free) == 0 && !p.giveUp() {
		return 0, false
	}
	s = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return s, true
}

// put makes a slot free.
func (p *pool) put(s Slot) { p.free = append(p.free, s) }

// keep makes a slot in use resident: it holds exactly this state.
func (p *pool) keep(s Slot, state []float32) {
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
		p.giveUp()
	}
}

// find returns the index of the resident slot with a state, or -1.
func (p *pool) find(id identity) int {
	return slices.IndexFunc(p.residents, func(r resident) bool { return r.state == id })
}

// use makes the i-th resident the one used last and returns its slot.
func (p *pool) use(i int) Slot {
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

// giveUp frees a resident slot: one that nobody can ask for any more, or the
// one not used for longest.
func (p *pool) giveUp() bool {
	if len(p.residents) == 0 {
		return false
	}
	dead := slices.IndexFunc(p.residents, func(r resident) bool { return !r.state.alive() })
	p.put(p.claim(max(dead, 0)))
	return true
}

// giveUpAll frees all resident slots.
func (p *pool) giveUpAll() {
	for p.giveUp() {
		continue
	}
}

// spare says whether one more state could become resident without another
// that may be asked for being given up.
func (p *pool) spare() bool {
	return len(p.free) > 0 && len(p.residents) < p.limit
}

// kinds counts the slots by what they are for.
func (p *pool) kinds() SlotKinds {
	k := SlotKinds{Free: len(p.free), Resident: len(p.residents)}
	k.Running = p.slots - k.Free - k.Resident
	return k
}
