package turn_test

import (
	"math"
	"slices"
	"testing"

	"rookery/chat/turn"
)

// read is a history of runs that one letter each names: "aab" is two tokens by
// a, and one by b.
func read(adapters string) turn.History {
	h := turn.History{Model: "m"}
	for _, a := range adapters {
		h = h.Then(turn.Run{Tokens: 1, Adapter: string(a)})
	}
	return h
}

// spelt is the inverse of read.
func spelt(runs []turn.Run) string {
	var out []byte
	for _, r := range runs {
		out = append(out, slices.Repeat([]byte(r.Adapter), r.Tokens)...)
	}
	return string(out)
}

func TestHistory(t *testing.T) {
	all := "aaabbaccc"
	h := read(all)
	if len(h.Runs) != 4 || h.Len() != len(all) {
		t.Fatalf("%+v", h)
	}
	for n := range len(all) + 1 {
		first := h.Prefix(n)
		if spelt(first.Runs) != all[:n] || spelt(h.Rest(n)) != all[n:] {
			t.Errorf("cut at %d it is %q and %q", n, spelt(first.Runs), spelt(h.Rest(n)))
		}
		if !h.HasPrefix(first) || n < len(all) && first.HasPrefix(h) {
			t.Errorf("the first %d tokens are no prefix, or the other way round", n)
		}
		if other := first.Then(turn.Run{Tokens: 1, Adapter: "x"}); n < len(all) && h.HasPrefix(other) {
			t.Errorf("%q is taken for a beginning of %q", spelt(other.Runs), all)
		}
		if got := spelt(h.Until(n).Runs); got != all[:n] {
			t.Errorf("until %d it is %q", n, got)
		}
	}
	if got := spelt(h.Until(11).Runs); got != all+"cc" {
		t.Errorf("gone on with it is %q", got)
	}
	if spelt(h.Runs) != all {
		t.Errorf("it has become %q", spelt(h.Runs))
	}
	for _, other := range []turn.History{{Model: "other", Runs: h.Runs[:1]}, {Model: "m", Base: 1, Runs: h.Runs[:1]}} {
		if h.HasPrefix(other) {
			t.Errorf("%+v is taken for a beginning", other)
		}
	}
}

// Two histories that grow from one do not share what they add.
func TestHistoriesAreValues(t *testing.T) {
	h := read("aab")
	x, y := h.Then(turn.Run{Tokens: 1, Adapter: "x"}), h.Then(turn.Run{Tokens: 1, Adapter: "y"})
	z := h.Then(turn.Run{Tokens: 2, Adapter: "b"})
	if spelt(h.Runs) != "aab" || spelt(x.Runs) != "aabx" || spelt(y.Runs) != "aaby" || spelt(z.Runs) != "aabbb" {
		t.Errorf("%+v, %+v, %+v, %+v", h, x, y, z)
	}
}

// The last run of an unfinished answer is open: it reads whatever comes.
func TestOpenRuns(t *testing.T) {
	h := read("aa").Then(turn.Run{Adapter: "b"})
	if h.Len() != 2 || spelt(h.Until(4).Runs) != "aabb" || len(h.Until(2).Runs) != 1 {
		t.Errorf("%+v", h)
	}
	if h = h.Then(turn.Run{Adapter: "c"}); len(h.Runs) != 2 || spelt(h.Until(3).Runs) != "aac" {
		t.Errorf("after another change %+v", h)
	}
	if h = h.Then(turn.Run{Adapter: "a"}); spelt(h.Until(3).Runs) != "aaa" || len(h.Runs) != 1 {
		t.Errorf("changed back %+v", h)
	}
}

func TestReopened(t *testing.T) {
	for _, c := range []struct {
		history  string
		was, now int
		want     string
	}{
		{"aabb", 1, 3, "aaaabb"},
		{"aabb", 2, 1, "abb"},
		{"aabb", 3, 1, "ab"},
		{"aabb", 4, 2, "aa"},
		{"aabb", 6, 5, "aaa"}, // the state has not read all of the turn
		{"", 2, 3, ""},
	} {
		if got := spelt(read(c.history).Reopened(c.was, c.now).Runs); got != c.want {
			t.Errorf("%q with %d tokens in place of %d is %q, want %q", c.history, c.now, c.was, got, c.want)
		}
	}
}

// What a file says of a history is believed only within bounds.
func TestHistoryCheck(t *testing.T) {
	if err := read("aab").Check(); err != nil {
		t.Error(err)
	}
	for name, h := range map[string]turn.History{
		"a negative run":  {Runs: []turn.Run{{Tokens: -1}}},
		"too long a run":  {Runs: []turn.Run{{Tokens: math.MaxInt32 + 1}}},
		"too many tokens": {Runs: []turn.Run{{Tokens: math.MaxInt32}, {Tokens: 1, Adapter: "a"}}},
		"too many runs":   {Runs: make([]turn.Run, 1<<16+1)},
		"a negative base": {Base: -1},
	} {
		if h.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
