package chat

import (
	"context"
	"errors"
	"slices"
)

// Keep ends the choice from several answers: the conversation goes on from the
// first of keep, and all of keep stay, or go on running. The others are
// stopped; with drop they are removed, otherwise what they have stays beside
// the rest. Without any to keep, and with drop, everything is as it was before.
func (d *Dialogue) Keep(keep []ID, drop bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.best
	if b == nil || b.chosen {
		return errors.New("there are no answers to choose from")
	}
	for _, id := range keep {
		if !slices.Contains(b.rows, id) {
			return missing(id)
		}
	}
	b.chosen = true
	if len(keep) > 0 {
		b.lead = keep[0]
	}
	gone := b.stopOthers(keep, drop)
	switch {
	case len(keep) > 0 && d.tree.nodes[b.lead] != nil:
		d.goOnFrom(b.lead)
	case drop && slices.Contains(b.rows, d.conv.Head):
		d.goOnFrom(b.prompt) // until the chosen one ends
		if before := b.before; len(keep) == 0 && d.tree.nodes[before.Head] != nil {
			d.conv.Head, d.conv.Tip = before.Head, before.Tip
		}
	}
	d.drop(gone)
	if len(keep) == 0 {
		b.stop()
	}
	if i := slices.IndexFunc(b.running, func(a *answer) bool { return a.turn.ID == b.lead }); i >= 0 {
		d.run = b.running[i]
	}
	if len(b.running) == 0 {
		d.best = nil
	}
	d.saveHead()
	d.reline()
	return nil
}

// stopOthers stops the rows that are not kept, and returns those that have
// ended and are to be dropped.
func (b *best) stopOthers(keep []ID, drop bool) (gone []ID) {
	for _, id := range b.rows {
		if slices.Contains(keep, id) {
			continue
		}
		i := slices.IndexFunc(b.running, func(a *answer) bool { return a.turn.ID == id })
		switch {
		case i >= 0:
			b.running[i].dropped = drop
			b.running[i].stop()
		case drop:
			gone = append(gone, id)
		}
	}
	return gone
}

// drop removes answers that have nothing below them. The caller holds mu and
// has moved the head away from them.
func (d *Dialogue) drop(turns []ID) {
	if len(turns) == 0 {
		return
	}
	for _, id := range turns {
		d.tree.remove(id)
		d.keep.dropJournal(id)
		d.best.forget(id)
	}
	c := d.conv
	d.keep.order("removing answers", nil, func(ctx context.Context, s Store) error {
		return s.DropTurns(ctx, c, turns)
	})
}

// remove takes a turn without turns below it out of the tree.
func (t *tree) remove(id ID) {
	n := t.nodes[id]
	if n == nil || len(n.children) > 0 {
		return
	}
	t.hold(id, nil)
	gone := func(other ID) bool { return other == id }
	if parent := t.nodes[n.turn.Parent]; parent != nil {
		parent.children = slices.DeleteFunc(parent.children, gone)
	} else {
		t.roots = slices.DeleteFunc(t.roots, gone)
	}
	delete(t.nodes, id)
}
