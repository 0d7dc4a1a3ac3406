package infer

// A pool hands out the backend's slots.
type pool struct {
	free []Slot
}

func newPool(slots int) pool {
	p := pool{free: make([]Slot, 0, max(slots, 0))}
	for s := slots - 1; s >= 0; s-- { // slot 0 first
		p.free = append(p.free, Slot(s))
	}
	return p
}

// take returns a free slot; ok is false if there is none.
func (p *pool) take() (s Slot, ok bool) {
	if len(p.free) == 0 {
		return 0, false
	}
	s = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return s, true
}

func (p *pool) put(s Slot) { p.free = append(p.free, s) }
