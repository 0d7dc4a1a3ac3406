package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rookery/chat/replay"
	"rookery/chat/turn"
	"rookery/infer"
)

// A fixture is a line of turns in a few letters: of each, who has read the line
// up to its end, and whether its snapshot is kept.
type fixture struct {
	turns     []turn.Turn
	tokens    [][]int32
	snapshots []*infer.Snapshot
}

// add puts a turn of n tokens on the line. history names the reader of each
// token from the beginning of the line; what is missing was left pending. kept
// says that there is a snapshot.
func (f *fixture) add(role turn.Role, n int, history string, kept bool) {
	t := turn.Turn{Role: role, Model: "m", AdapterID: "?", History: read(history)}
	var tokens []int32
	for range n {
		tokens = append(tokens, int32(100*len(f.turns)+len(tokens)))
	}
	var s *infer.Snapshot
	if kept {
		s = &infer.Snapshot{Model: "m", Adapter: history[len(history)-1:], Logits: []float32{1}}
		if all := f.len() + n; len(history) < all {
			s.Pending, s.Logits = tokens[n-(all-len(history)):], nil
		}
		s.Sampler.Draws = 7
	}
	f.turns, f.tokens, f.snapshots = append(f.turns, t), append(f.tokens, tokens), append(f.snapshots, s)
}

func (f *fixture) len() (n int) {
	for _, t := range f.tokens {
		n += len(t)
	}
	return n
}

func read(adapters string) (h turn.History) {
	for _, a := range adapters {
		h.Model = "m"
		h = h.Then(turn.Run{Tokens: 1, Adapter: string(a)})
	}
	return h
}

// plan plans for an answer that goes on, or for a new one; wanted is how much of
// the line is read as it was, by the place of the turn.
func (f *fixture) plan(answer bool, wanted int, named func([]infer.Prefix) (*infer.Snapshot, int)) (*replay.Line, replay.Plan) {
	l := replay.NewLine(turn.History{Model: "m"}, f.turns, f.tokens, answer)
	if named == nil {
		named = func([]infer.Prefix) (*infer.Snapshot, int) { return nil, 0 }
	}
	return l, l.Plan(l.History(wanted), turn.Run{Adapter: "n"}, replay.Snapshots{
		Kept: func(i int) *infer.Snapshot { return f.snapshots[i] }, Named: named,
		Origin: func(adapter string) infer.Prefix { return infer.Prefix{1}.Then(int32(adapter[0])) },
	})
}

// words says what a plan does.
func words(p replay.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", p.Turn)
	if p.Own {
		b.WriteString(" own")
	}
	for _, r := range p.Reads {
		fmt.Fprintf(&b, " %s%v%v of %d-%d", r.Adapter, r.Prompt, r.Replay, r.First, r.Last)
	}
	fmt.Fprintf(&b, " then %v%v", p.Tokens, p.Replay)
	return b.String()
}

const (
	user   = turn.RoleUser
	answer = turn.RoleAssistant
)

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		line   func(f *fixture)
		goesOn bool
		wanted int
		want   string
	}{
		{"nothing was read", func(f *fixture) { f.add(user, 2, "", false) }, false, 0, "-1 then [0 1][]"},
		{"the turn above", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 3, "aaab", true)
			f.add(user, 1, "", false)
		}, false, 2, "1 then [102 200][]"},
		{"its state is gone", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 3, "aaab", false)
			f.add(user, 1, "", false)
		}, false, 2, "0 a[100][] of 1-1 b[101][] of 1-1 then [102 200][]"},
		{"all are gone", func(f *fixture) {
			f.add(user, 2, "aa", false)
			f.add(answer, 3, "aaab", false)
			f.add(user, 1, "", false)
		}, false, 2, "-1 a[0 1 100][] of 0-1 b[101][] of 1-1 then [102 200][]"},
		{"a state that was read otherwise", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 2, "bbb", false)
			f.add(user, 1, "", false)
		}, false, 2, "-1 b[0 1 100][] of 0-1 then [101 200][]"},
		{"a retry", func(f *fixture) { f.add(user, 2, "aa", true) }, false, 0, "0 then [][]"},
		{"a prompt that is read anew", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 2, "aaa", true)
			f.add(user, 1, "aaabb", true)
		}, false, 1, "1 then [101 200][]"},
		{"all is read anew", func(f *fixture) { f.add(user, 2, "aa", true) }, false, -1, "-1 then [0 1][]"},
		{"an answer goes on", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 3, "aaab", true)
		}, true, 1, "1 own then [][]"},
		{"its own state is gone", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 3, "aaab", false)
		}, true, 1, "0 a[][100] of 1-1 b[][101] of 1-1 then [][102]"},
		{"the prompt's as well", func(f *fixture) {
			f.add(user, 2, "ab", false)
			f.add(answer, 3, "abbb", false)
		}, true, 1, "-1 a[0][] of 0-0 b[1][] of 0-1 b[][100 101] of 0-1 then [][102]"},
		{"edited behind what was read", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 3, "a", false)
		}, true, 1, "-1 a[0][] of 0-0 then [1][100 101 102]"},
		{"imported without a history", func(f *fixture) {
			f.add(user, 1, "", false)
			f.add(answer, 1, "", false)
			f.add(user, 1, "", false)
		}, false, 2, "-1 ?[0 100][] of 0-1 then [200][]"},
		{"of another model", func(f *fixture) {
			f.add(user, 1, "a", true)
			f.turns[0].History.Model = "other"
		}, false, 0, "-1 then [0][]"},
		{"a snapshot that is not the turn's", func(f *fixture) {
			f.add(user, 2, "aa", true)
			f.add(answer, 3, "aaab", true)
			f.snapshots[1].Pending = []int32{9}
			f.add(user, 1, "", false)
		}, false, 2, "0 a[100][] of 1-1 b[101][] of 1-1 then [102 200][]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f fixture
			c.line(&f)
			l, p := f.plan(c.goesOn, c.wanted, nil)
			if got := words(p); got != c.want {
				t.Errorf("the plan is %s\nwant        %s", got, c.want)
			}
			checkPlan(t, l, p)
		})
	}
}

// checkPlan says that a plan reads every token of the line once, in order.
func checkPlan(t *testing.T, l *replay.Line, p replay.Plan) {
	t.Helper()
	if p.Own {
		return
	}
	read := slices.Clone(l.Tokens()[:p.History.Len()])
	for _, r := range p.Reads {
		if len(r.Prompt)+len(r.Replay) != r.Tokens || len(r.Prompt) > 0 && len(r.Replay) > 0 {
			t.Errorf("%+v", r)
		}
		read = slices.Concat(read, r.Prompt, r.Replay)
	}
	if read = slices.Concat(read, p.Tokens, p.Replay); !slices.Equal(read, l.Tokens()) {
		t.Errorf("%v is read of %v", read, l.Tokens())
	}
	if p.From != nil && (p.From.Sampler.Draws != 0 || len(p.From.Pending) > 0) {
		t.Errorf("it begins from %+v", p.From)
	}
}

// What is read in place of an answer with a thought is not what its state has
// read: those below go on from the turn above it.
func TestPlanBehindRecall(t *testing.T) {
	var f fixture
	f.add(user, 2, "aa", true)
	f.add(answer, 9, "aaabbbbbbb", true)
	f.add(user, 1, "", false)
	f.turns[1].Recall, f.tokens[1] = []int32{50}, []int32{50}
	l, p := f.plan(false, 2, nil)
	if got := words(p); got != "0 then [50 200][]" {
		t.Errorf("the plan is %s", got)
	}
	checkPlan(t, l, p)
	// What went on from there says itself who has read the rest.
	f.turns[2].History = read("aacc")
	_, p = f.plan(false, 2, nil)
	if got := words(p); got != "0 c[50 200][] of 1-2 then [][]" {
		t.Errorf("then the plan is %s", got)
	}
}

// A line without states of its own begins with another's that has read the same
// with one adapter.
func TestPlanFromNamedStates(t *testing.T) {
	for _, c := range []struct {
		history string
		has     int // tokens of the named state
		want    string
	}{
		{"", 2, "-1 then [2][]"},
		{"", 3, "-1 then [][]"},
		{"nn", 3, "-1 then [][]"},
		{"nn", 1, "-1 n[1][] of 0-0 then [2][]"},
		{"ann", 1, "-1 n[1 2][] of 0-0 then [][]"},
	} {
		var f fixture
		f.add(user, 3, c.history, false)
		l, p := f.plan(false, 0, func(names []infer.Prefix) (*infer.Snapshot, int) {
			return &infer.Snapshot{Model: "m", Logits: []float32{1}, Prefix: names[len(names)-c.has]}, len(names) - c.has
		})
		if got := words(p); got != c.want || p.From == nil || p.History.Len() != c.has {
			t.Errorf("%q: the plan is %s, from %+v", c.history, got, p.History)
		}
		checkPlan(t, l, p)
	}
}
