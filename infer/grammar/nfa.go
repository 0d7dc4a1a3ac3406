package grammar

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bounds of what a grammar may become.
const (
	maxText    = 1 << 20 // bytes of its source
	maxNodes   = 400_000 // of all nondeterministic automata together
	maxStates  = 100_000 // of all deterministic ones
	maxNesting = 200     // of its source
)

var errTooLarge = errors.New("the grammar is too large: use fewer or smaller repetitions and alternatives")

// An edge reads one byte from lo to hi.
type edge struct {
	lo, hi byte
	to     int32
}

// A call reads what a rule matches.
type call struct{ rule, to int32 }

// A node is a state of a nondeterministic automaton.
type node struct {
	edges []edge
	calls []call
	jumps []int32 // without reading anything
}

// A fragment is an automaton that matches from start to end.
type fragment struct{ start, end int32 }

// A source is a grammar before it is compiled: the automata of its rules.
type source struct {
	nodes []node
	rules []rule
	named map[string]int32
	start int32 // the rule that is the whole: the first, unless another stands before it
	err   error // the first of several
}

// A rule is a named automaton.
type rule struct {
	name    string
	defined bool
	body    fragment
}

func newSource() *source { return &source{named: map[string]int32{}} }

// ruleNamed is the number of a rule, which may be defined later.
func (s *source) ruleNamed(name string) int32 {
	id, ok := s.named[name]
	if !ok {
		id = int32(len(s.rules))
		s.named[name] = id
		s.rules = append(s.rules, rule{name: name})
	}
	return id
}

// define gives a rule its body.
func (s *source) define(id int32, body fragment) {
	s.rules[id].body, s.rules[id].defined = body, true
}

// fail keeps the first error.
func (s *source) fail(format string, args ...any) fragment {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
	return s.empty()
}

func (s *source) node() int32 {
	if len(s.nodes) >= maxNodes {
		if s.err == nil {
			s.err = errTooLarge
		}
		return int32(len(s.nodes) - 1)
	}
	s.nodes = append(s.nodes, node{})
	return int32(len(s.nodes) - 1)
}

func (s *source) jump(from, to int32) {
	s.nodes[from].jumps = append(s.nodes[from].jumps, to)
}

func (s *source) edge(from int32, lo, hi byte, to int32) {
	s.nodes[from].edges = append(s.nodes[from].edges, edge{lo, hi, to})
}

// empty matches the empty text.
func (s *source) empty() fragment {
	n := s.node()
	return fragment{n, n}
}

// nothing matches no text.
func (s *source) nothing() fragment { return fragment{s.node(), s.node()} }

// literal matches these bytes.
func (s *source) literal(text string) fragment {
	f := s.empty()
	for i := range len(text) {
		next := s.node()
		s.edge(f.end, text[i], text[i], next)
		f.end = next
	}
	return f
}

// concat matches one after the other.
func (s *source) concat(parts ...fragment) fragment {
	f := s.empty()
	for _, p := range parts {
		s.jump(f.end, p.start)
		f.end = p.end
	}
	return f
}

// either matches one of several.
func (s *source) either(parts ...fragment) fragment {
	f := fragment{s.node(), s.node()}
	for _, p := range parts {
		s.jump(f.start, p.start)
		s.jump(p.end, f.end)
	}
	return f
}

// optional matches the part or nothing.
func (s *source) optional(part fragment) fragment {
	return s.either(part, s.empty())
}

// star matches the part any number of times.
func (s *source) star(part fragment) fragment {
	f := fragment{s.node(), s.node()}
	s.jump(f.start, part.start)
	s.jump(part.end, f.start)
	s.jump(f.start, f.end)
	return f
}

// repeat matches what make builds from least to most times; most below 0 is no limit.
func (s *source) repeat(least, most int, build func() fragment) fragment {
	f := s.empty()
	for range least {
		if s.err != nil {
			return f
		}
		f = s.concat(f, build())
	}
	if most < 0 {
		return s.concat(f, s.star(build()))
	}
	end := s.node()
	s.jump(f.end, end)
	for range most - least {
		if s.err != nil {
			break
		}
		f = s.concat(f, build())
		s.jump(f.end, end)
	}
	return fragment{f.start, end}
}

// call matches what a rule matches.
func (s *source) call(id int32) fragment {
	f := fragment{s.node(), s.node()}
	s.nodes[f.start].calls = append(s.nodes[f.start].calls, call{id, f.end})
	return f
}

// A span is the characters from lo to hi.
type span struct{ lo, hi rune }

// characters matches one character of the spans, in UTF-8.
func (s *source) characters(spans ...span) fragment {
	f := fragment{s.node(), s.node()}
	for _, r := range spans {
		s.addSpan(f, r.lo, r.hi)
	}
	return f
}

// anyCharacter matches one character.
func (s *source) anyCharacter() fragment { return s.characters(span{0, utf8.MaxRune}) }

// addSpan adds the UTF-8 forms of the characters from lo to hi. It splits the
// span until all its characters have the same length and every byte of the
// form can be chosen by itself.
func (s *source) addSpan(f fragment, lo, hi rune) {
	const firstSurrogate, lastSurrogate = 0xD800, 0xDFFF
	if lo <= lastSurrogate && hi >= firstSurrogate { // UTF-8 has none
		s.addSpan(f, lo, firstSurrogate-1)
		s.addSpan(f, lastSurrogate+1, hi)
		return
	}
	if lo > hi {
		return
	}
	for _, last := range []rune{1<<7 - 1, 1<<11 - 1, 1<<16 - 1} {
		if lo <= last && last < hi {
			s.addSpan(f, lo, last)
			s.addSpan(f, last+1, hi)
			return
		}
	}
	for tail := rune(1 << 6); tail <= 1<<18 && hi >= 1<<7; tail <<= 6 {
		rest := tail - 1
		switch {
		case lo&^rest == hi&^rest:
			continue
		case lo&rest != 0:
			s.addSpan(f, lo, lo|rest)
			s.addSpan(f, (lo|rest)+1, hi)
			return
		case hi&rest != rest:
			s.addSpan(f, lo, (hi&^rest)-1)
			s.addSpan(f, hi&^rest, hi)
			return
		}
	}
	first, last := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	at := f.start
	for i := range first {
		to := f.end
		if i < len(first)-1 {
			to = s.node()
		}
		s.edge(at, first[i], last[i], to)
		at = to
	}
}

// without are the characters that are in none of the spans.
func without(spans []span) (rest []span) {
	covered := make([]span, 0, len(spans))
	covered = append(covered, spans...)
	sortSpans(covered)
	next := rune(0)
	for _, r := range covered {
		if r.lo > next {
			rest = append(rest, span{next, r.lo - 1})
		}
		next = max(next, r.hi+1)
	}
	if next <= utf8.MaxRune {
		rest = append(rest, span{next, utf8.MaxRune})
	}
	return rest
}
