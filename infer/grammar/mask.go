package grammar

// An inside is what tokens do from a state while they stay in its rule and in
// those it calls.
type inside struct {
	allowed []uint64
	crosses []crossing // tokens that reach beyond the end of the rule
}

// A crossing is a token that the stack below decides about.
type crossing struct {
	token int32
	text  []byte
}

// mask has a bit for each token that may come next, the lowest first; that of
// token 0, the end of text, says whether the text may end. Nobody may change it.
func (m *machine) mask(p *position) []uint64 {
	if p.mask != nil {
		return p.mask
	}
	mask := make([]uint64, m.vocabulary.words())
	for _, f := range p.tops {
		in := m.insideOf(f.at)
		for i, word := range in.allowed {
			mask[i] |= word
		}
	}
	for _, f := range p.tops {
		for _, c := range m.insideOf(f.at).crosses {
			if mask[c.token/64]>>(c.token%64)&1 == 0 && !m.read(p, c.text).dead() {
				mask[c.token/64] |= 1 << (c.token % 64)
			}
		}
	}
	mask[0] &^= 1
	if p.final {
		mask[0] |= 1
	}
	p.mask = mask
	m.masks++
	return mask
}

// insideOf walks the vocabulary from one state, over a stack of which nothing
// is known.
func (m *machine) insideOf(at int32) *inside {
	if in, ok := m.inside[at]; ok {
		return in
	}
	in := &inside{allowed: make([]uint64, m.vocabulary.words())}
	m.inside[at] = in
	m.masks++
	var g gathering
	g.tops = append(g.tops, m.frame(at, unknown))
	type step struct {
		*position
		ended bool // the rule may have ended before this byte
	}
	path := []step{{m.position(&g), false}} // by depth, plus one
	text := make([]byte, 0, 128)
	nodes := m.vocabulary.nodes
	for i := int32(0); i < int32(len(nodes)); {
		n := &nodes[i]
		from := path[n.depth]
		now := step{m.step(from.position, n.last), from.ended || from.escaped}
		if now.dead() && !now.ended {
			i = n.after
			continue
		}
		path = append(path[:n.depth+1], now)
		text = append(text[:n.depth], n.last)
		switch {
		case n.token < 0:
		case !now.dead():
			in.allowed[n.token/64] |= 1 << (n.token % 64)
		default:
			in.crosses = append(in.crosses, crossing{n.token, append([]byte(nil), text...)})
		}
		i++
	}
	return in
}
