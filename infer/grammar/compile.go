package grammar

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

// A state of a rule's deterministic automaton.
type state struct {
	edges []edge // disjoint, in ascending order
	calls []call
	final bool // the rule may end here
}

// A program is a compiled grammar.
type program struct {
	states []state
	starts []int32 // of each rule
	whole  int32   // the state that a text begins at
}

func sortSpans(spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
}

// compile turns rules into deterministic automata, without what matches nothing.
func (s *source) compile() (*program, error) {
	for _, r := range s.rules {
		if !r.defined && s.err == nil {
			s.err = fmt.Errorf("the grammar has no rule %q: define it", clip(r.name))
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	s.inline()
	p := &program{starts: make([]int32, len(s.rules))}
	for i, r := range s.rules {
		if s.err == nil {
			p.starts[i] = s.determine(p, r.body)
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	p.whole = p.starts[s.start]
	if err := p.trim(); err != nil {
		return nil, err
	}
	if name, found := p.leftRecursion(s.rules); found {
		return nil, fmt.Errorf("rule %q begins with itself: write the repetition with * or at the end of the rule", clip(name))
	}
	return p, nil
}

// closure adds what the nodes reach without reading, and sorts.
func (s *source) closure(set []int32) []int32 {
	seen := make(map[int32]bool, 2*len(set))
	var out []int32
	for len(set) > 0 {
		n := set[len(set)-1]
		set = set[:len(set)-1]
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
			set = append(set, s.nodes[n].jumps...)
		}
	}
	slices.Sort(out)
	return out
}

// determine adds the deterministic automaton of a fragment to p by the subset
// construction, in which a call is a symbol like a byte, and returns its start.
func (s *source) determine(p *program, f fragment) int32 {
	numbered := map[string]int32{}
	var sets [][]int32
	first := int32(len(p.states))
	number := func(set []int32) int32 {
		set = s.closure(set)
		key := keyOf(set)
		id, ok := numbered[key]
		if !ok {
			id = first + int32(len(sets))
			numbered[key] = id
			sets = append(sets, set)
			p.states = append(p.states, state{})
		}
		return id
	}
	number([]int32{f.start})
	for i := 0; i != len(sets); i++ { // numbering adds to them
		if len(p.states) > maxStates {
			s.err = errTooLarge
			return first
		}
		var st state
		var edges []edge
		called := map[int32][]int32{}
		for _, n := range sets[i] {
			st.final = st.final || n == f.end
			edges = append(edges, s.nodes[n].edges...)
			for _, c := range s.nodes[n].calls {
				called[c.rule] = append(called[c.rule], c.to)
			}
		}
		st.edges = joinEdges(edges, number)
		for id, to := range called {
			st.calls = append(st.calls, call{id, number(to)})
		}
		slices.SortFunc(st.calls, func(a, b call) int { return cmp.Compare(a.rule, b.rule) })
		p.states[first+int32(i)] = st
	}
	return first
}

// joinEdges makes edges disjoint: each byte leads to the set of all nodes that
// it leads to.
func joinEdges(edges []edge, number func([]int32) int32) (out []edge) {
	var bounds [257]bool
	for _, e := range edges {
		bounds[e.lo], bounds[int(e.hi)+1] = true, true
	}
	for lo := 0; lo < 256; {
		hi := lo
		for hi < 255 && !bounds[hi+1] {
			hi++
		}
		var to []int32
		for _, e := range edges {
			if int(e.lo) <= lo && hi <= int(e.hi) {
				to = append(to, e.to)
			}
		}
		if len(to) > 0 {
			id := number(to)
			if n := len(out); n > 0 && out[n-1].to == id && int(out[n-1].hi)+1 == lo {
				out[n-1].hi = byte(hi)
			} else {
				out = append(out, edge{byte(lo), byte(hi), id})
			}
		}
		lo = hi + 1
	}
	return out
}

// keyOf is a set as a key of a map.
func keyOf(set []int32) string {
	key := make([]byte, 0, 4*len(set))
	for _, n := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return string(key)
}

// after is where a byte leads to from a state; ok says whether it does.
func (p *program) after(at int32, b byte) (to int32, ok bool) {
	edges := p.states[at].edges
	i := sort.Search(len(edges), func(i int) bool { return edges[i].hi >= b })
	if i == len(edges) || edges[i].lo > b {
		return 0, false
	}
	return edges[i].to, true
}

// trim removes the edges and calls from which no end can be reached.
func (p *program) trim() error {
	live := make([]bool, len(p.states))
	ends := func(st state) bool {
		return st.final ||
			slices.ContainsFunc(st.edges, func(e edge) bool { return live[e.to] }) ||
			slices.ContainsFunc(st.calls, func(c call) bool { return live[c.to] && live[p.starts[c.rule]] })
	}
	for changed := true; changed; {
		changed = false
		for i := len(p.states) - 1; i >= 0; i-- {
			if !live[i] && ends(p.states[i]) {
				live[i], changed = true, true
			}
		}
	}
	for i := range p.states {
		st := &p.states[i]
		st.edges = slices.DeleteFunc(st.edges, func(e edge) bool { return !live[e.to] })
		st.calls = slices.DeleteFunc(st.calls, func(c call) bool { return !live[c.to] || !live[p.starts[c.rule]] })
	}
	if !live[p.whole] {
		return fmt.Errorf("the grammar matches no text: look for rules that never end and for bounds that contradict each other")
	}
	return nil
}

// leftRecursion finds a rule that can call itself before it reads anything:
// its stack would grow for ever.
func (p *program) leftRecursion(rules []rule) (name string, found bool) {
	empty := p.emptyRules()
	first := make([][]int32, len(p.starts)) // the rules that a rule can begin with
	for i, start := range p.starts {
		p.beforeReading(start, empty, map[int32]bool{}, func(c call) { first[i] = append(first[i], c.rule) })
	}
	const visiting, done = 1, 2
	mark := make([]uint8, len(p.starts))
	var visit func(int32) bool
	visit = func(r int32) bool {
		switch mark[r] {
		case visiting:
			name = rules[r].name
			return true
		case done:
			return false
		}
		mark[r] = visiting
		if slices.ContainsFunc(first[r], visit) {
			return true
		}
		mark[r] = done
		return false
	}
	for r := range p.starts {
		if visit(int32(r)) {
			return name, true
		}
	}
	return "", false
}

// emptyRules are the rules that match the empty text.
func (p *program) emptyRules() []bool {
	empty := make([]bool, len(p.starts))
	for changed := true; changed; {
		changed = false
		for i, start := range p.starts {
			if empty[i] {
				continue
			}
			seen := map[int32]bool{}
			p.beforeReading(start, empty, seen, func(call) {})
			for at := range seen {
				if p.states[at].final {
					empty[i], changed = true, true
				}
			}
		}
	}
	return empty
}

// beforeReading visits the states that are reached from one without reading,
// where the rules marked empty read nothing.
func (p *program) beforeReading(at int32, empty []bool, seen map[int32]bool, visit func(call)) {
	for waiting := []int32{at}; len(waiting) > 0; {
		at, waiting = waiting[len(waiting)-1], waiting[:len(waiting)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, c := range p.states[at].calls {
			visit(c)
			if empty[c.rule] {
				waiting = append(waiting, c.to)
			}
		}
	}
}
