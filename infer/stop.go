package infer

// A stopper finds the first of a set of byte strings in a stream of bytes: the one
// that is complete first and, of several that are complete at the same byte, the
// longest. Each string has its own Knuth-Morris-Pratt automaton: a request has a
// dozen stops at most, too few to merge the automata. A stopper keeps no bytes of
// the stream and allocates nothing after newStopper.
type stopper struct {
	stops []stopString
}

// A stopString is one stop and how many of its bytes the stream ends with (at).
type stopString struct {
	text string
	// border[i] is the length of the longest proper prefix of text that
	// text[:i+1] ends with.
	border []int
	at     int
}

func newStopper(stops []string) stopper {
	s := stopper{stops: make([]stopString, len(stops))}
	for i, text := range stops {
		s.stops[i] = stopString{text: text, border: borders(text)}
	}
	return s
}

func borders(text string) []int {
	border := make([]int, len(text))
	for i, n := 1, 0; i < len(text); i++ {
		for n > 0 && text[i] != text[n] {
			n = border[n-1]
		}
		if text[i] == text[n] {
			n++
		}
		border[i] = n
	}
	return border
}

// next takes one byte and returns the length of the longest stop that ends with
// it, or 0.
func (s *stopper) next(b byte) int {
	longest := 0
	for i := range s.stops {
		p := &s.stops[i]
		if p.at == len(p.text) { // after a complete stop only a border of it can go on
			p.at = p.border[p.at-1]
		}
		for p.at > 0 && p.text[p.at] != b {
			p.at = p.border[p.at-1]
		}
		if p.text[p.at] == b {
			p.at++
		}
		if p.at == len(p.text) {
			longest = max(longest, p.at)
		}
	}
	return longest
}

// pending is the length of the longest end of the stream that a stop begins with.
func (s *stopper) pending() int {
	longest := 0
	for i := range s.stops {
		longest = max(longest, s.stops[i].at)
	}
	return longest
}
