package chat

import (
	"fmt"

	"rookery/chat/turn"
)

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
