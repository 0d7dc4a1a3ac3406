package chat

import (
	"errors"
	"fmt"
	"slices"

	"rookery/chat/turn"
)

// What undo and redo are refused with when there is nothing left of either.
var (
	ErrNothingToUndo = errors.New("there is nothing to undo: the conversation is at its beginning")
	ErrNothingToRedo = errors.New("there is nothing to redo: the conversation is at the end of its line")
)

// Undo takes the last exchange back: the conversation goes on from before its
// last prompt. The exchange stays ahead of the head, to be redone. It is about
// the visible line and not about what was done last: siblings that a retry or
// an edit has left are where they were. Nothing is read.
func (d *Dialogue) Undo() error {
	return d.act("undo", func() error {
		last := d.tree.prompt(d.conv.Head)
		if last == nil {
			return ErrNothingToUndo
		}
		d.moveHead(last.turn.Parent)
		return nil
	})
}

// Redo goes on to the end of the next exchange ahead of the head.
func (d *Dialogue) Redo() error {
	return d.act("redo", func() error {
		ahead := d.tree.ahead(d.conv.Head, d.conv.Tip)
		if len(ahead) == 0 {
			return ErrNothingToRedo
		}
		to := ahead[0]
		for _, n := range ahead[1:] {
			if n.turn.Role == turn.RoleUser {
				break
			}
			to = n
		}
		d.moveHead(to.turn.ID)
		return nil
	})
}

// SetHead makes a turn the head, 0 the beginning. On the visible line the tip
// stays where it is, so that going back is as lossless as Undo; elsewhere in
// the tree the newest line below the turn becomes the visible one.
func (d *Dialogue) SetHead(id turn.ID) error {
	return d.act("go", func() error {
		if id != 0 && d.tree.nodes[id] == nil {
			return missing(id)
		}
		if id != 0 && !d.tree.above(id, d.conv.Tip) {
			d.conv.Tip = d.tree.newest(id)
		}
		d.moveHead(id)
		return nil
	})
}

// moveHead moves the head along the visible line. The caller holds mu.
func (d *Dialogue) moveHead(to turn.ID) {
	d.conv.Head, d.stepped = to, 0
	d.saveHead()
	d.reline()
}

// goOnFrom makes a turn the head and the end of the visible line. The caller holds mu.
func (d *Dialogue) goOnFrom(id turn.ID) { d.conv.Head, d.conv.Tip, d.stepped = id, id, 0 }

// ahead is the turns below head on the line to tip; none if head is not on it.
func (t *tree) ahead(head, tip turn.ID) []*node {
	line := t.line(tip)
	if head == 0 {
		return line
	}
	at := slices.IndexFunc(line, func(n *node) bool { return n.turn.ID == head })
	if at < 0 {
		return nil
	}
	return line[at+1:]
}

// above reports whether a turn is on the line to tip.
func (t *tree) above(id, tip turn.ID) bool {
	for n := t.nodes[tip]; n != nil; n = t.nodes[n.turn.Parent] {
		if n.turn.ID == id {
			return true
		}
	}
	return false
}

// ShowTurn makes a turn visible, as one that a search has found. On the visible
// line nothing changes; elsewhere in the tree the newest line below the turn
// becomes the visible one, and the conversation goes on from its end.
func (d *Dialogue) ShowTurn(id turn.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree.nodes[id] == nil && !d.loading {
		return fmt.Errorf("turn %d is not in this conversation any more", id)
	}
	for _, end := range []turn.ID{d.conv.Tip, d.conv.Head} {
		for n := d.tree.nodes[end]; n != nil; n = d.tree.nodes[n.turn.Parent] {
			if n.turn.ID == id {
				return nil
			}
		}
	}
	if err := d.ready(); err != nil {
		return err
	}
	end := d.tree.newest(id)
	d.conv.Head, d.conv.Tip = end, end
	d.saver.SaveHead(d.conv)
	d.reline()
	return nil
}
