package chat

import (
	"context"
	"strings"

	"rookery/chat/turn"
)

// longestLabel is how many bytes of a label are kept.
const longestLabel = 200

// SetLabel gives a turn a name, or takes it away. Named turns keep their states.
func (d *Dialogue) SetLabel(id turn.ID, label string) error {
	label = strings.Join(strings.Fields(label), " ")
	if len(label) > longestLabel {
		label = strings.ToValidUTF8(label[:longestLabel], "")
	}
	return d.mark(id, func(t *turn.Turn) { t.Label = label })
}

// SetPinned keeps a turn's state whatever room snapshots may take, or no longer.
func (d *Dialogue) SetPinned(id turn.ID, pinned bool) error {
	return d.mark(id, func(t *turn.Turn) { t.Pinned = pinned })
}

// mark changes what a person has noted about a turn, also while an answer runs.
func (d *Dialogue) mark(id turn.ID, change func(*turn.Turn)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	n := d.tree.nodes[id]
	if n == nil {
		return missing(id)
	}
	change(&n.turn)
	t := n.turn
	d.saver.Queue("marking a turn", nil, func(ctx context.Context, s turn.Store) error {
		return s.MarkTurn(ctx, t.ID, t.Label, t.Pinned)
	})
	// A state in memory that the store has let go is worth having again now.
	if held := d.tree.held(id); held != nil && (t.Pinned || t.Label != "") && (d.run == nil || d.run.turn.ID != id) {
		d.saver.Commit(d.conv, t, held)
	} else {
		d.saveHead()
	}
	d.reline()
	return nil
}
