package chat

import "fmt"

// ShowTurn makes a turn visible, as one that a search has found. On the visible
// line nothing changes; elsewhere in the tree the newest line below the turn
// becomes the visible one, and the conversation goes on from its end.
func (d *Dialogue) ShowTurn(turn ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree.nodes[turn] == nil && !d.loading {
		return fmt.Errorf("turn %d is not in this conversation any more", turn)
	}
	for _, end := range []ID{d.conv.Tip, d.conv.Head} {
		for n := d.tree.nodes[end]; n != nil; n = d.tree.nodes[n.turn.Parent] {
			if n.turn.ID == turn {
				return nil
			}
		}
	}
	if err := d.ready(); err != nil {
		return err
	}
	end := d.tree.newest(turn)
	d.conv.Head, d.conv.Tip = end, end
	d.saver.saveHead(d.conv)
	d.reline()
	return nil
}
