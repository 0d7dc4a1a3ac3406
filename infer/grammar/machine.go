package grammar

import (
	"encoding/binary"
	"slices"
)

// Bounds of what a machine remembers. Beyond them it forgets everything; the
// positions that matchers hold stay good.
const (
	maxPositions = 8192    // about 2 KB each
	maxMasks     = 4096    // 8 KB each with the World vocabulary
	maxFrames    = 500_000 // of stacks
)

// maxStacks is how many stacks a position may have. A grammar in which a text
// can be read in more ways is too ambiguous to follow.
const maxStacks = 512

// A frame is a state on a stack, above the state to go on from when the rule
// of this one ends. Frames are unique: equal ones are the same pointer.
type frame struct {
	at     int32
	parent *frame // nil below the first rule; unknown where nothing is known of the rest
	id     uint32
}

// unknown stands for a stack that is not looked at.
var unknown = &frame{at: -1}

// A position is a set of stacks. Positions are unique as long as the machine
// remembers them.
type position struct {
	tops    []*frame // those that can read a byte, by id
	final   bool     // the text may end here
	escaped bool     // an end of the rule above unknown may be here
	next    [256]*position
	mask    []uint64 // once somebody asked for it
}

// dead says that nothing can be read and nothing has ended.
func (p *position) dead() bool { return len(p.tops) == 0 && !p.final && !p.escaped }

// A machine runs a program over a vocabulary. It is not safe for concurrent use.
type machine struct {
	*program
	vocabulary *Vocabulary
	start      *position

	frames    map[frameKey]*frame
	positions map[string]*position
	inside    map[int32]*inside // by state
	masks     int               // how many are remembered
	lastFrame uint32
}

type frameKey struct {
	at     int32
	parent *frame
}

func newMachine(p *program, v *Vocabulary) *machine {
	m := &machine{program: p, vocabulary: v}
	m.forget()
	return m
}

// forget drops all that can be computed again.
func (m *machine) forget() {
	m.frames, m.positions = map[frameKey]*frame{}, map[string]*position{}
	m.inside, m.masks = map[int32]*inside{}, 0
	var g gathering
	m.gather(&g, m.frame(m.whole, nil))
	m.start = m.position(&g)
}

func (m *machine) frame(at int32, parent *frame) *frame {
	key := frameKey{at, parent}
	f, ok := m.frames[key]
	if !ok {
		m.lastFrame++
		f = &frame{at, parent, m.lastFrame}
		m.frames[key] = f
	}
	return f
}

// A gathering collects the stacks of a position.
type gathering struct {
	seen           []*frame
	tops           []*frame
	final, escaped bool
}

// gather adds a stack, with those that it becomes by calling rules and by
// ending them.
func (m *machine) gather(g *gathering, f *frame) {
	for waiting := []*frame{f}; len(waiting) > 0 && len(g.tops) <= maxStacks; {
		f, waiting = waiting[len(waiting)-1], waiting[:len(waiting)-1]
		switch {
		case f == nil:
			g.final = true
			continue
		case f == unknown:
			g.escaped = true
			continue
		case slices.Contains(g.seen, f):
			continue
		}
		g.seen = append(g.seen, f)
		st := &m.states[f.at]
		if len(st.edges) > 0 {
			g.tops = append(g.tops, f)
		}
		if st.final {
			waiting = append(waiting, f.parent)
		}
		for _, c := range st.calls {
			back := f.parent
			if to := &m.states[c.to]; len(to.edges)+len(to.calls) > 0 || !to.final {
				back = m.frame(c.to, f.parent)
			} // else the call is the last thing: nothing to come back to
			waiting = append(waiting, m.frame(m.starts[c.rule], back))
		}
	}
}

// position is the position with these stacks.
func (m *machine) position(g *gathering) *position {
	slices.SortFunc(g.tops, func(a, b *frame) int { return int(a.id) - int(b.id) })
	key := make([]byte, 1, 1+4*len(g.tops))
	if g.final {
		key[0] |= 1
	}
	if g.escaped {
		key[0] |= 2
	}
	for _, f := range g.tops {
		key = binary.LittleEndian.AppendUint32(key, f.id)
	}
	p, ok := m.positions[string(key)]
	if !ok {
		p = &position{tops: slices.Clone(g.tops), final: g.final, escaped: g.escaped}
		m.positions[string(key)] = p
	}
	return p
}

// step is where a byte leads to.
func (m *machine) step(p *position, b byte) *position {
	if next := p.next[b]; next != nil {
		return next
	}
	var g gathering
	for _, f := range p.tops {
		if to, ok := m.after(f.at, b); ok {
			m.gather(&g, m.frame(to, f.parent))
		}
	}
	if len(g.tops) > maxStacks {
		g = gathering{} // nothing may follow a text that can be read in too many ways
	}
	p.next[b] = m.position(&g)
	return p.next[b]
}

// read is where a text leads to.
func (m *machine) read(p *position, text []byte) *position {
	for _, b := range text {
		p = m.step(p, b)
	}
	return p
}

// makeRoom forgets if too much is remembered.
func (m *machine) makeRoom() {
	if len(m.positions) > maxPositions || m.masks > maxMasks || len(m.frames) > maxFrames {
		m.forget()
	}
}
