package turn

import (
	"fmt"
	"math"
	"slices"

	"rookery/infer/statefile"
)

// A History is what a state has read since the beginning of its line: all that
// is needed to read it once more. It is as long as the state's position: what a
// snapshot leaves pending is not in it. The tokens themselves are those of the
// turns on the line. The zero History is one that nobody wrote down.
type History struct {
	Model string         `json:"model,omitempty"` // fingerprint: to another model it says nothing
	Base  ID             `json:"base,omitempty"`  // of the library; 0: the zero state
	Kind  statefile.Kind `json:"kind,omitempty"`  // of the base: it decides how the line opens
	Runs  []Run          `json:"runs,omitempty"`  // neighbours differ in their adapter
}

// A Run is consecutive tokens that were read with one adapter.
type Run struct {
	Tokens  int    `json:"tokens"`
	Adapter string `json:"adapter,omitempty"` // fingerprint; "" is none
	Name    string `json:"name,omitempty"`    // what people called it
}

// Known says that the history was written down for a model.
func (h History) Known(model string) bool { return h.Model == model && len(h.Runs) > 0 }

// Len is how many tokens were read.
func (h History) Len() (n int) {
	for _, r := range h.Runs {
		n += r.Tokens
	}
	return n
}

// Prefix is the history of the first n tokens, or all of it if there are fewer.
func (h History) Prefix(n int) History {
	runs := h.Runs
	h.Runs = nil
	for _, r := range runs {
		r.Tokens = min(r.Tokens, n)
		if n -= r.Tokens; r.Tokens > 0 {
			h.Runs = append(h.Runs, r)
		}
	}
	return h
}

// Rest is how the tokens behind the first n were read.
func (h History) Rest(n int) (rest []Run) {
	for _, r := range h.Runs {
		skipped := min(r.Tokens, n)
		n -= skipped
		if r.Tokens -= skipped; r.Tokens > 0 {
			rest = append(rest, r)
		}
	}
	return rest
}

// Then is the history after one more run. A run without tokens says who reads next.
func (h History) Then(r Run) History {
	last := len(h.Runs) - 1
	h.Runs = slices.Clone(h.Runs)
	if last >= 0 && h.Runs[last].Adapter == r.Adapter {
		h.Runs[last].Tokens += r.Tokens
		return h
	}
	if last >= 0 && h.Runs[last].Tokens == 0 { // it never read
		h.Runs = h.Runs[:last]
		return h.Then(r)
	}
	h.Runs = append(h.Runs, r)
	return h
}

// Until is the history of exactly n tokens: the first n, or all of them and then
// what its last run goes on to read.
func (h History) Until(n int) History {
	if more := n - h.Len(); more > 0 && len(h.Runs) > 0 {
		last := h.Runs[len(h.Runs)-1]
		last.Tokens = more
		return h.Then(last)
	}
	return h.Prefix(n)
}

// HasPrefix says that a state of history p can go on to become one of h.
func (h History) HasPrefix(p History) bool {
	if h.Model != p.Model || h.Base != p.Base {
		return false
	}
	first := h.Prefix(p.Len())
	return slices.EqualFunc(first.Runs, p.Prefix(p.Len()).Runs, func(a, b Run) bool {
		return a.Tokens == b.Tokens && a.Adapter == b.Adapter
	})
}

// Reopened is the history when the first tokens of the line are others: now
// instead of was, to be read as the first one was.
func (h History) Reopened(was, now int) History {
	if len(h.Runs) == 0 {
		return h
	}
	out := h
	first := h.Runs[0]
	first.Tokens = min(now, max(now+h.Len()-was, 0))
	out.Runs = []Run{first}
	for _, r := range h.Rest(was) {
		out = out.Then(r)
	}
	return out
}

// Check says why no state can have read this, or nil.
func (h History) Check() error {
	const most = 1 << 16 // runs, of a person who changes the adapter all the time
	if len(h.Runs) > most {
		return fmt.Errorf("a history of %d runs: at most %d can be read", len(h.Runs), most)
	}
	if h.Base < 0 {
		return fmt.Errorf("a history from state %d", h.Base)
	}
	total := 0
	for _, r := range h.Runs {
		if total += r.Tokens; r.Tokens < 0 || r.Tokens > math.MaxInt32 || total > math.MaxInt32 {
			return fmt.Errorf("a history with a run of %d tokens", r.Tokens)
		}
	}
	return nil
}

// Names are all names in it.
func (h History) Names() []string {
	names := []string{h.Model, string(h.Kind)}
	for _, r := range h.Runs {
		names = append(names, r.Adapter, r.Name)
	}
	return names
}
