package infer

import "slices"

// A Span is consecutive tokens that a state has read with one adapter.
type Span struct {
	Tokens  int
	Adapter string // fingerprint; "" is none
}

// spans are what a state has read, in order. Neighbours differ in their adapter.
type spans []Span

// and is the spans after n more tokens. It may change the last of s in place.
func (s spans) and(n int, adapter string) spans {
	switch last := len(s) - 1; {
	case n <= 0:
		return s
	case last >= 0 && s[last].Adapter == adapter:
		s[last].Tokens += n
		return s
	}
	return append(s, Span{n, adapter})
}

// without is the spans before the last n tokens, which may be more than there are.
func (s spans) without(n int) spans {
	s = slices.Clone(s)
	for n > 0 && len(s) > 0 {
		last := &s[len(s)-1]
		if last.Tokens > n {
			last.Tokens -= n
			break
		}
		n -= last.Tokens
		s = s[:len(s)-1]
	}
	return s
}

// consume notes that the state has read n more tokens, and tells the stream
// when it was with another adapter than those before.
func (q *sequence) consume(n int) {
	q.position += n
	if q.reads != q.req.Adapter || len(q.read) > 0 && q.read[len(q.read)-1].Adapter != q.req.Adapter {
		q.reads = q.req.Adapter
		q.stream.setSpans(slices.Clone(q.read), q.reads)
	}
	q.read = q.read.and(n, q.req.Adapter)
}

// returnTo notes that the state is again that after so many tokens.
func (q *sequence) returnTo(position int) {
	q.read = q.read.without(q.position - position)
	q.position = position
}

// readSince is how the tokens since a position were read.
func (q *sequence) readSince(position int) []Span {
	n := max(q.position-position, 0)
	var since spans
	for i := len(q.read) - 1; i >= 0 && n > 0; i-- {
		s := q.read[i]
		s.Tokens = min(s.Tokens, n)
		n -= s.Tokens
		since = append(since, s)
	}
	slices.Reverse(since)
	return since
}

// history is how the state came to be, for a snapshot.
func (q *sequence) history() []Span {
	all := spans(slices.Clone(q.begun))
	for _, s := range q.read {
		all = all.and(s.Tokens, s.Adapter)
	}
	return all
}
