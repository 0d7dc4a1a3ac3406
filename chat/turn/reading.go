package turn

import (
	"fmt"
	"math"
	"rookery/infer"
	"slices"
)

// A Reading says how the state after a turn came to be: with it a line whose
// states are gone is read again as it was read at first. The zero Reading is
// one that was not written down, as of turns that no state has read yet.
type Reading struct {
	Model string `json:"model,omitempty"` // fingerprint of the model that read: to another one it says nothing
	// Spans are who read the turn's tokens, in order. The last one reaches to
	// the end of what was read, whatever its count, and so the only one has none.
	Spans []Span `json:"spans,omitempty"`
	// Before is how many tokens of Spans come before the turn's own: what is
	// read there belongs to no state of its own, such as a Recall.
	Before int `json:"before,omitempty"`
	// Unread is how many tokens at the end the state has not read: it leaves
	// them to what comes next, which reads them in its own way.
	Unread int `json:"unread,omitempty"`
	// Anew, if it is not nil, is what was read again for this turn alone, in
	// another way than the turns there say.
	Anew *Anew `json:"anew,omitempty"`
}

// A Span is consecutive tokens that were read with one adapter.
type Span struct {
	Tokens  int    `json:"tokens,omitempty"`
	Adapter string `json:"adapter,omitempty"` // fingerprint; "" is none
	Name    string `json:"name,omitempty"`    // what people called it
}

// An Anew is turns right above one that were read again for it, all with one
// adapter: the prompt of a variant, or a line that was begun from another
// state, or whose adapters are gone.
type Anew struct {
	Turns   int    `json:"turns"`
	Adapter string `json:"adapter,omitempty"`
	Name    string `json:"name,omitempty"`
	Base    ID     `json:"base,omitempty"` // of the library: what was begun from, if Turns are all there are
}

// Check says why nothing can have been read like this, or nil.
func (r *Reading) Check() error {
	const most = 1 << 16 // spans, of a person who changes the adapter all the time
	if len(r.Spans) > most {
		return fmt.Errorf("%d stretches: at most %d can be read", len(r.Spans), most)
	}
	if min(r.Before, r.Unread) < 0 || max(r.Before, r.Unread) > math.MaxInt32 {
		return fmt.Errorf("%d tokens before the turn and %d at its end", r.Before, r.Unread)
	}
	for _, s := range r.Spans {
		if s.Tokens < 0 || s.Tokens > math.MaxInt32 {
			return fmt.Errorf("a stretch of %d tokens", s.Tokens)
		}
	}
	if a := r.Anew; a != nil && (a.Turns < 1 || a.Base < 0) {
		return fmt.Errorf("%d turns read anew, from state %d", a.Turns, a.Base)
	}
	return nil
}

// names are all that it has.
func (r *Reading) Names() []string {
	names := []string{r.Model}
	for _, s := range r.Spans {
		names = append(names, s.Adapter, s.Name)
	}
	if r.Anew != nil {
		names = append(names, r.Anew.Adapter, r.Anew.Name)
	}
	return names
}

// reading is how a model read the turn, as far as that is known. Of an
// answer its adapter is enough: it has read what it drew.
func (t *Turn) ReadingBy(model string) (r Reading, known bool) {
	switch {
	case t.Reading.Model == model && len(t.Reading.Spans) > 0:
		return t.Reading, true
	case t.Role == RoleAssistant && t.Model == model && t.AdapterID != "",
		t.Role == RoleAssistant && t.Model == model && t.Adapter == "":
		return Reading{Model: model, Spans: []Span{{Adapter: t.AdapterID, Name: t.Adapter}}}, true
	}
	return Reading{}, false
}

// over is who read the n tokens of the turn's own that are not unread, and who
// read what came before them, all with their counts.
func (r *Reading) Over(n int) (before, own []Span) {
	skip := r.Before
	for i, s := range r.Spans {
		if i == len(r.Spans)-1 {
			s.Tokens = skip + n
		}
		ahead := min(skip, s.Tokens)
		skip -= ahead
		own = Grown(own, s.Resize(min(s.Tokens-ahead, n)))
		before, n = Grown(before, s.Resize(ahead)), n-min(s.Tokens-ahead, n)
	}
	return before, own
}

// of is n tokens of a span's kind.
func (s Span) Resize(n int) Span {
	s.Tokens = n
	return s
}

// grown is spans with one more; neighbours differ in their adapter.
func Grown(all []Span, s Span) []Span {
	switch last := len(all) - 1; {
	case s.Tokens <= 0:
	case last >= 0 && all[last].Adapter == s.Adapter:
		all[last].Tokens += s.Tokens
	default:
		all = append(all, s)
	}
	return all
}

// counted is how many tokens spans have together.
func Counted(spans []Span) (n int) {
	for _, s := range spans {
		n += s.Tokens
	}
	return n
}

// trailing is the last n tokens of spans. Where there are fewer, the first of
// them reaches further back.
func Trailing(spans []Span, n int) []Span {
	var out []Span
	for i := len(spans) - 1; i >= 0 && n > 0; i-- {
		s := spans[i]
		if i == 0 || s.Tokens > n {
			s.Tokens = n
		}
		out, n = append(out, s), n-s.Tokens
	}
	slices.Reverse(out)
	return out
}

// readAs is the Reading of a turn whose spans, with their counts, end with the
// turn's last token but unread ones; before of them are not the turn's own.
func ReadAs(model string, spans []Span, before, unread int) Reading {
	spans = slices.Clone(spans)
	if len(spans) == 0 {
		return Reading{}
	}
	if len(spans) == 1 {
		before = 0
	}
	spans[len(spans)-1].Tokens = 0
	return Reading{Model: model, Spans: spans, Before: before, Unread: unread}
}

// leading is the first n tokens of spans.
func Leading(spans []Span, n int) (out []Span) {
	for _, s := range spans {
		out = Grown(out, s.Resize(min(s.Tokens, n)))
		n = max(n-s.Tokens, 0)
	}
	return out
}

// readUpTo says how a turn's first n tokens were read, and that what stands
// behind them is to be read with an adapter of now. It is of a turn beside it.
func (t *Turn) ReadUpTo(model string, n int, now Span) Reading {
	r, known := t.ReadingBy(model)
	var spans []Span
	if known {
		_, own := r.Over(max(len(t.Tokens)-r.Unread, 0))
		spans = Leading(own, n)
	}
	if last := len(spans) - 1; last < 0 || spans[last].Adapter != now.Adapter {
		spans = append(spans, now)
	}
	out := ReadAs(model, spans, 0, 0)
	out.Anew = r.Anew
	return out
}

// adaptedAs says that a snapshot is of the adapter that the turn was made with,
// as far as that was written down.
func (t *Turn) AdaptedAs(s *infer.Snapshot) bool {
	if t.Role != RoleAssistant {
		r, known := t.ReadingBy(s.Model)
		return !known || r.Spans[len(r.Spans)-1].Adapter == s.Adapter
	}
	return t.Adapter != "" && t.AdapterID == "" || s.Adapter == t.AdapterID
}
