package transcript

import (
	"slices"

	"rookery/chat/turn"
)

// ScrollBy moves the text by lines, down if positive.
func (t *Transcript) ScrollBy(lines int) { t.scrollTo(t.top() + lines) }

// scrollTo puts a line at the top of the screen. The end sticks: text that
// arrives there keeps it in view.
func (t *Transcript) scrollTo(line int) {
	last := max(0, t.total()-t.height)
	if line >= last {
		t.ScrollToEnd()
		return
	}
	t.follow = false
	t.at = t.locate(max(0, line))
	t.draft()
}

// ScrollToEnd shows the end of the text and sticks to it.
func (t *Transcript) ScrollToEnd() {
	t.follow, t.atHead, t.below = true, false, false
	t.draft()
}

// ScrollToHead scrolls to where the conversation goes on: with what is ahead of the
// head in view below it, or the end.
func (t *Transcript) ScrollToHead() {
	t.ScrollToEnd()
	t.atHead = true
	t.draft()
}

// reveal scrolls as little as needed to have a line on the screen.
func (t *Transcript) reveal(line int) {
	switch top := t.top(); {
	case line < top:
		t.scrollTo(line)
	case line >= top+t.height:
		t.scrollTo(line - t.height + 1)
	}
}

// Position is how much of the text lies above the end of the screen, in percent.
// away says that the screen does not follow the end.
func (t *Transcript) Position() (percent int, away bool) {
	total := t.total()
	if total <= t.height {
		return 100, false
	}
	return 100 * min(t.top()+t.height, total) / total, !t.follow
}

// NewBelow says that text has arrived below the screen.
func (t *Transcript) NewBelow() bool { return t.below }

// selectBy moves the selection by blocks; the first move selects the last
// block that is on the screen.
func (t *Transcript) selectBy(by int) {
	if len(t.blocks) == 0 {
		return
	}
	if t.selected < 0 {
		t.selected = t.locate(min(t.top()+t.height, t.total()) - 1).block
	} else {
		t.selected = min(max(t.selected+by, 0), len(t.blocks)-1)
	}
	first, last := t.starts[t.selected], t.starts[t.selected+1]-1
	t.reveal(last)
	t.reveal(first)
	if t.selected == len(t.blocks)-1 && by > 0 {
		t.reveal(last)
	}
}

// SelectShown selects the last block that is on the screen, unless one is
// selected.
func (t *Transcript) SelectShown() {
	if t.selected < 0 {
		t.selectBy(0)
	}
}

// Deselect selects no block. It reports whether one was selected.
func (t *Transcript) Deselect() bool {
	was := t.selected >= 0
	t.selected = -1
	return was
}

// Selected is the turn of the selected block: 0 if the block is none. ok is false
// if no block is selected.
func (t *Transcript) Selected() (id turn.ID, ok bool) {
	if t.selected < 0 || t.selected >= len(t.blocks) {
		return 0, false
	}
	return t.blocks[t.selected].turn.ID, true
}

// Target is the turn that an action on one message is about: the selected one,
// or the last answer. 0: there is none.
func (t *Transcript) Target() turn.ID {
	if b := t.target(); b != nil {
		return b.turn.ID
	}
	return 0
}

// SelectedAnswer is the selected turn if it is an answer, or the last answer if no
// turn is selected.
func (t *Transcript) SelectedAnswer() (turn.Turn, bool) {
	if b := t.target(); b != nil && b.answers() {
		return b.turn, true
	}
	return turn.Turn{}, false
}

// ShowTurn selects a turn, scrolls to it and marks a text in it. It reports
// whether the turn is there.
func (t *Transcript) ShowTurn(id turn.ID, text string) bool {
	i := slices.IndexFunc(t.blocks, func(b *block) bool { return b.turn.ID == id && b.failure == "" })
	if i < 0 {
		return false
	}
	if b := t.blocks[i]; b.longPrompt() && b.folded {
		b.folded, b.gen, b.exact = false, 0, false
		t.decorate(b)
	}
	t.selected, t.follow, t.at = i, false, anchor{i, 0}
	t.draft()
	t.scrollTo(t.starts[i])
	t.find = newFinder(text)
	t.find.refresh(t)
	t.find.goal = id
	t.find.aim(t)
	return true
}

// target is the block that an action on one message is about: the selected
// one, or the last answer.
func (t *Transcript) target() *block {
	if t.selected >= 0 && t.selected < len(t.blocks) {
		return t.blocks[t.selected]
	}
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if t.blocks[i].answers() {
			return t.blocks[i]
		}
	}
	return nil
}

// fold shows or hides the selected block's thought, or all of them.
func (t *Transcript) fold() bool {
	var some []*block
	if t.selected >= 0 && t.selected < len(t.blocks) {
		some = t.blocks[t.selected : t.selected+1]
	} else {
		some = t.blocks
	}
	changed, folded := false, false
	for i := len(some) - 1; i >= 0; i-- {
		b := some[i]
		if !b.folds() {
			continue
		}
		if !changed {
			folded = !b.folded
		}
		changed = true
		b.folded = folded
		if b.longPrompt() {
			b.gen, b.exact = 0, false
		}
		t.decorate(b)
	}
	t.draft()
	return changed
}
