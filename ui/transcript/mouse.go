package transcript

import "rookery/ui/kit"

// Press is the button going down on a cell of the pane: it folds or unfolds a
// thought, or begins to mark text and marks nothing yet.
func (t *Transcript) Press(x, y int) {
	if line := t.top() + y; line < t.total() && t.toggleAt(t.locate(line)) {
		return
	}
	p := t.pointAt(x, y)
	t.marked = selection{dragging: true, from: p, to: p}
}

// toggleAt folds or unfolds if the line is the one that stands for a thought.
func (t *Transcript) toggleAt(place anchor) bool {
	b := t.blocks[place.block]
	if len(b.thinking) == 0 || place.line != len(b.head) {
		return false
	}
	b.folded = !b.folded
	t.decorate(b)
	t.index()
	return true
}

// Drag extends what is marked; at the edges of the pane the text scrolls.
func (t *Transcript) Drag(x, y int) {
	if !t.marked.dragging {
		return
	}
	switch {
	case y < 0:
		t.ScrollBy(-1)
	case y >= t.height:
		t.ScrollBy(1)
	}
	t.marked.to = t.pointAt(x, min(max(y, 0), t.height-1))
	if t.marked.to != t.marked.from {
		t.marked.active = true
	}
}

// Dragging says that the button went down on the text and is still down.
func (t *Transcript) Dragging() bool { return t.marked.dragging }

// Release is the button going up: what was marked is copied. It is nil if
// nothing was.
func (t *Transcript) Release() kit.Action {
	if !t.marked.dragging {
		return nil
	}
	t.marked.dragging = false
	return t.CopyMarked()
}

// pointAt is the place in the text under a cell of the pane.
func (t *Transcript) pointAt(x, y int) point {
	return point{line: min(t.top()+y, max(0, t.total()-1)), cell: max(0, x-gutterWidth)}
}

// ClearMarks marks nothing any more. It reports whether something was marked.
func (t *Transcript) ClearMarks() bool {
	was := t.marked.active
	if was {
		t.marked = selection{}
	}
	return was
}
