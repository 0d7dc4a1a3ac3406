package grammar

import "slices"

// maxInlined is how many nodes a rule may have to be copied to where it is called.
const maxInlined = 120

// inline copies small rules that do not call themselves to where they are
// called. A rule of one character, which GBNF grammars have, would otherwise
// make every token of a string one that crosses the end of a rule.
func (s *source) inline() {
	small := map[int32][]int32{} // the nodes of rules to copy
	mark := make([]uint8, len(s.rules))
	var visit func(id int32, depth int) bool // says whether a rule calls itself
	visit = func(id int32, depth int) bool {
		const visiting, plain, recursive = 1, 2, 3
		switch {
		case mark[id] == plain:
			return false
		case mark[id] != 0 || depth > maxNesting:
			return true
		}
		mark[id] = visiting
		_, calls := s.reach(s.rules[id].body.start)
		again := false
		for _, at := range calls {
			for _, c := range slices.Clone(s.nodes[at].calls) {
				if visit(c.rule, depth+1) {
					again = true
				} else if nodes, ok := small[c.rule]; ok && s.err == nil {
					s.replaceCall(at, c, nodes)
				}
			}
		}
		if again {
			mark[id] = recursive
			return true
		}
		mark[id] = plain
		if body, left := s.reach(s.rules[id].body.start); len(body) <= maxInlined && len(left) == 0 && id != s.start {
			small[id] = body
		}
		return false
	}
	for id := range s.rules {
		visit(int32(id), 0)
	}
}

// reach are the nodes that a body has, and those of them with calls.
func (s *source) reach(start int32) (nodes, calls []int32) {
	seen := map[int32]bool{}
	for waiting := []int32{start}; len(waiting) > 0; {
		n := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		nodes = append(nodes, n)
		if len(s.nodes[n].calls) > 0 {
			calls = append(calls, n)
		}
		waiting = append(waiting, s.nodes[n].jumps...)
		for _, e := range s.nodes[n].edges {
			waiting = append(waiting, e.to)
		}
		for _, c := range s.nodes[n].calls {
			waiting = append(waiting, c.to)
		}
	}
	return nodes, calls
}

// replaceCall puts a copy of a rule's nodes in the place of a call.
func (s *source) replaceCall(at int32, c call, nodes []int32) {
	copied := make(map[int32]int32, len(nodes)+1)
	for _, n := range nodes {
		copied[n] = s.node()
	}
	if s.err != nil {
		return
	}
	for _, n := range nodes {
		to := &s.nodes[copied[n]]
		for _, j := range s.nodes[n].jumps {
			to.jumps = append(to.jumps, copied[j])
		}
		for _, e := range s.nodes[n].edges {
			to.edges = append(to.edges, edge{e.lo, e.hi, copied[e.to]})
		}
	}
	body := s.rules[c.rule].body
	s.nodes[at].calls = slices.DeleteFunc(s.nodes[at].calls, func(other call) bool { return other == c })
	s.jump(at, copied[body.start])
	if end, ok := copied[body.end]; ok { // the rule can end
		s.jump(end, c.to)
	}
}
