package chat

import (
	"fmt"
	"iter"
	"slices"

	"rookery/chat/save"
	"rookery/chat/turn"
	"rookery/infer"
)

// A node is a turn in its tree.
type node struct {
	turn     turn.Turn
	children []turn.ID // oldest first
}

// A tree is the turns of one conversation. Any turn can be the head.
type tree struct {
	nodes  map[turn.ID]*node
	roots  []turn.ID // oldest first
	memory *save.MemoryTier
}

func newTree(w *save.MemoryTier) tree { return tree{nodes: map[turn.ID]*node{}, memory: w} }

// add puts a turn below its parent, or replaces the turn of that ID.
func (t *tree) add(tn turn.Turn) error {
	if n := t.nodes[tn.ID]; n != nil {
		if n.turn.Parent != tn.Parent {
			return fmt.Errorf("turn %d has two parents, %d and %d: the conversation is damaged", tn.ID, n.turn.Parent, tn.Parent)
		}
		n.turn = tn
		return nil
	}
	siblings := &t.roots
	if tn.Parent != 0 {
		parent := t.nodes[tn.Parent]
		if parent == nil {
			return fmt.Errorf("turn %d answers turn %d, which is missing: the conversation is damaged", tn.ID, tn.Parent)
		}
		siblings = &parent.children
	}
	turn.Met(tn.ID)
	at, _ := slices.BinarySearch(*siblings, tn.ID)
	*siblings = slices.Insert(*siblings, at, tn.ID)
	t.nodes[tn.ID] = &node{turn: tn}
	return nil
}

// siblings are the turns with the same parent, the turn itself included.
func (t *tree) siblings(tn turn.Turn) []turn.ID {
	if tn.Parent == 0 {
		return t.roots
	}
	return t.nodes[tn.Parent].children
}

// line is the turns from the first to head.
func (t *tree) line(head turn.ID) []*node {
	var line []*node
	for n := t.nodes[head]; n != nil; n = t.nodes[n.turn.Parent] {
		line = append(line, n)
	}
	slices.Reverse(line)
	return line
}

// below is a turn and all those below it, parents before children.
func (t *tree) below(n *node) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for wait := []*node{n}; len(wait) > 0; wait = wait[1:] {
			if !yield(wait[0]) {
				return
			}
			for _, id := range wait[0].children {
				wait = append(wait, t.nodes[id])
			}
		}
	}
}

// newest follows the newest turns below a turn to the last one.
func (t *tree) newest(id turn.ID) turn.ID {
	for {
		below := t.nodes[id].children
		if len(below) == 0 {
			return id
		}
		id = below[len(below)-1]
	}
}

// prompt is the nearest user turn at or above a turn; nil if there is none.
func (t *tree) prompt(id turn.ID) *node {
	n := t.nodes[id]
	for n != nil && n.turn.Role != turn.RoleUser {
		n = t.nodes[n.turn.Parent]
	}
	return n
}

// hold keeps a turn's snapshot in memory; nil forgets it.
func (t *tree) hold(id turn.ID, s *infer.Snapshot) { t.memory.Hold(id, s) }

// held is a turn's snapshot in memory; nil says nothing about the store.
func (t *tree) held(id turn.ID) *infer.Snapshot { return t.memory.Get(id) }

// Line is the visible line of stored turns: from the first to head. Turns may
// be in any order.
func Line(turns []turn.Turn, head turn.ID) []turn.Turn {
	at := make(map[turn.ID]int, len(turns))
	for i, t := range turns {
		at[t.ID] = i
	}
	var line []turn.Turn
	for i, ok := at[head]; ok && len(line) < len(turns); i, ok = at[turns[i].Parent] {
		line = append(line, turns[i])
	}
	slices.Reverse(line)
	return line
}
