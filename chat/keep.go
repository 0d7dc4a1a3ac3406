package chat

import (
	"context"
	"reflect"
	"slices"

	"rookery/chat/turn"
)

// ChooseAlternatives ends the choice from several answers: the conversation goes on from the
// first of keep, and all of keep stay, or go on running. The others are
// stopped; with drop they are removed, otherwise what they have stays beside
// the rest. Without any to keep, and with drop, everything is as it was before.
//
// Of compared variants, the conversation takes over the adapter, mix and
// sampling of the one that it goes on from. It goes on from that one's base,
// too, with its state; only other answers to earlier prompts begin from the
// conversation's own. Of an answer of another model nothing is taken over: it
// is read when the conversation goes on. Workspace.ForkRows makes conversations of
// all variants.
func (d *Dialogue) ChooseAlternatives(keep []turn.ID, drop bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.choice
	if c == nil || c.chosen {
		return errNoChoice
	}
	for _, id := range keep {
		if !slices.Contains(c.rows, id) {
			return missing(id)
		}
	}
	c.chosen = true
	if len(keep) > 0 {
		c.lead = keep[0]
		d.adopt(c)
	}
	gone := c.stopOthers(keep, drop)
	switch {
	case len(keep) > 0 && d.tree.nodes[c.lead] != nil:
		d.goOnFrom(c.lead)
	case drop && slices.Contains(c.rows, d.conv.Head):
		d.goOnFrom(c.prompt) // until the chosen one ends
		if before := c.before; len(keep) == 0 && d.tree.nodes[before.Head] != nil {
			d.conv.Head, d.conv.Tip = before.Head, before.Tip
		}
	}
	d.drop(gone)
	if len(keep) == 0 {
		c.stop()
	}
	if i := slices.IndexFunc(c.running, func(a *answer) bool { return a.turn.ID == c.lead }); i >= 0 {
		d.run = c.running[i]
	}
	if len(c.running) == 0 {
		d.endChoice()
	}
	d.saveHead()
	d.reline()
	return nil
}

// adopt makes the way of the variant that was chosen the conversation's. The
// caller holds mu.
func (d *Dialogue) adopt(c *choice) {
	if !c.compared {
		return
	}
	v, seed := c.answers[c.lead].variant, d.conv.Sampling.Seed
	if v.Model != nil {
		return // nothing of it is the conversation's model's
	}
	d.conv.Adapter, d.adapter, d.conv.Mix = v.Adapter.Fingerprint, v.Adapter.Name, v.Mix
	if v.Sampling.Seed = seed; !reflect.DeepEqual(v.Sampling, d.conv.Sampling) {
		d.conv.Sampling, d.conv.Preset = v.Sampling, ""
	}
}

// stopOthers stops the rows that are not kept, and returns those that have
// ended and are to be dropped.
func (c *choice) stopOthers(keep []turn.ID, drop bool) (gone []turn.ID) {
	for _, id := range c.rows {
		if slices.Contains(keep, id) {
			continue
		}
		i := slices.IndexFunc(c.running, func(a *answer) bool { return a.turn.ID == id })
		switch {
		case i >= 0:
			c.running[i].dropped = drop
			c.running[i].stop()
		case drop:
			gone = append(gone, id)
		}
	}
	return gone
}

// drop removes answers that have nothing below them. The caller holds mu and
// has moved the head away from them.
func (d *Dialogue) drop(turns []turn.ID) {
	if len(turns) == 0 {
		return
	}
	for _, id := range turns {
		d.tree.remove(id)
		d.saver.DropJournal(id)
		d.choice.forget(id)
	}
	c := d.conv
	d.saver.Queue("removing answers", nil, func(ctx context.Context, s turn.Store) error {
		return s.DropTurns(ctx, c, turns)
	})
}

// remove takes a turn without turns below it out of the tree.
func (t *tree) remove(id turn.ID) {
	n := t.nodes[id]
	if n == nil || len(n.children) > 0 {
		return
	}
	t.hold(id, nil)
	gone := func(other turn.ID) bool { return other == id }
	if parent := t.nodes[n.turn.Parent]; parent != nil {
		parent.children = slices.DeleteFunc(parent.children, gone)
	} else {
		t.roots = slices.DeleteFunc(t.roots, gone)
	}
	delete(t.nodes, id)
}
