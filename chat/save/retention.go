package save

import (
	"math/bits"

	"rookery/chat/turn"
)

// A Kept is what the rules of retention must know of a turn.
type Kept struct {
	ID, Parent turn.ID
	Bytes      int64 // of its snapshot; 0: it has none
	Marked     bool  // a person named or pinned it
}

// A Thinning says how much of a conversation's snapshots is spared, from
// nothing but what powers of two leave out to everything but marked turns.
// Each keeps a subset of what the one before it keeps.
type Thinning int

// The steps of thinning.
const (
	ThinLightly Thinning = 0 // the last turns of every line, forks, and ever fewer before them
	ThinToForks Thinning = 5 // forks and the end of the visible line
	ThinToEnd   Thinning = 6 // the end of the visible line
	ThinToMarks Thinning = 7 // marked turns alone, which are always kept
)

// denseTurns is how many turns before the end of a line all keep theirs when
// it is thinned lightly. Each step up to ThinToForks halves it.
const denseTurns = 16

// Thin says which turns' snapshots a conversation can do without. Turns come
// parents first. Behind the dense turns a snapshot stays at every second turn,
// then, twice as far from the end, at every fourth, and so on: a line of n
// turns keeps some log n, and to go on from any turn costs a fraction of its
// distance from the end to read. What is spared once is spared for good: a line
// that grows never asks for one that went before.
func Thin(turns []Kept, head, tip turn.ID, by Thinning) []turn.ID {
	t := newThinner(turns)
	var spared []turn.ID
	for i, k := range turns {
		if k.Bytes > 0 && !k.Marked && !t.keeps(i, k.ID == head || k.ID == tip, by) {
			spared = append(spared, k.ID)
		}
	}
	return spared
}

// A thinner knows where every turn stands in its tree.
type thinner struct {
	depth    []int // turns above
	below    []int // turns down to the nearest end of a line
	children []int
}

func newThinner(turns []Kept) thinner {
	n := len(turns)
	t := thinner{make([]int, n), make([]int, n), make([]int, n)}
	at := make(map[turn.ID]int, n)
	for i, k := range turns {
		at[k.ID] = i
		if p, ok := at[k.Parent]; ok {
			t.depth[i] = t.depth[p] + 1
			t.children[p]++
		}
	}
	for i := n - 1; i >= 0; i-- {
		p, ok := at[turns[i].Parent]
		if !ok || p >= i {
			continue
		}
		if d := t.below[i] + 1; t.below[p] == 0 || d < t.below[p] {
			t.below[p] = d
		}
	}
	return t
}

func (t thinner) keeps(i int, end bool, by Thinning) bool {
	switch {
	case by >= ThinToMarks:
		return false
	case end || by == ThinToEnd:
		return end
	case t.children[i] > 1 || by == ThinToForks:
		return t.children[i] > 1
	}
	dense := max(denseTurns>>by, 1)
	every := 1 << bits.Len(uint(t.below[i]/dense))
	return t.depth[i]%every == 0
}
