package infer

import "slices"

// A Span is a number of consecutive tokens that a state has read with one adapter.
type Span struct {
	Tokens  int
	Adapter string // fingerprint; "" is none
}

// spans are what a state has read, in order. Neighbours have different adapters.
type spans []Span

// plus is the spans after n more tokens. It may change the last of s in place.
func (s spans) plus(n int, adapter string) spans {
	switch last := len(s) - 1; {
	case n <= 0:
		return s
	case last >= 0 && s[last].Adapter == adapter:
		s[last].Tokens += n
		return s
	}
	return append(s, Span{n, adapter})
}

// without is the spans without the last n tokens, or none if there are fewer.
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

// consume notes that the state has read n more tokens. If their adapter is another
// one than before, it tells the stream.
func (q *sequence) consume(n int) {
	q.position += n
	if q.streamAdapter != q.req.Adapter || len(q.readSpans) > 0 && q.readSpans[len(q.readSpans)-1].Adapter != q.req.Adapter {
		q.streamAdapter = q.req.Adapter
		q.stream.setSpans(slices.Clone(q.readSpans), q.streamAdapter)
	}
	q.readSpans = q.readSpans.plus(n, q.req.Adapter)
}

// returnTo notes that the state is again the one at an earlier position.
func (q *sequence) returnTo(position int) {
	q.readSpans = q.readSpans.without(q.position - position)
	q.position = position
}

// readSince is the spans of the tokens since a position.
func (q *sequence) readSince(position int) []Span {
	n := max(q.position-position, 0)
	var since spans
	for i := len(q.readSpans) - 1; i >= 0 && n > 0; i-- {
		s := q.readSpans[i]
		s.Tokens = min(s.Tokens, n)
		n -= s.Tokens
		since = append(since, s)
	}
	slices.Reverse(since)
	return since
}

// history is the spans of all tokens that the state has read, for a snapshot.
func (q *sequence) history() []Span {
	all := spans(slices.Clone(q.baseSpans))
	for _, s := range q.readSpans {
		all = all.plus(s.Tokens, s.Adapter)
	}
	return all
}
