package ui

// scrollBy moves the text by lines, down if positive.
func (t *transcript) scrollBy(lines int) { t.scrollTo(t.top() + lines) }

// scrollTo puts a line at the top of the screen. The end sticks: text that
// arrives there keeps it in view.
func (t *transcript) scrollTo(line int) {
	last := max(0, t.total()-t.height)
	if line >= last {
		t.toEnd()
		return
	}
	t.follow = false
	t.at = t.locate(max(0, line))
	t.draft()
}

func (t *transcript) toEnd() {
	t.follow, t.atHead, t.below = true, false, false
	t.draft()
}

// toHead scrolls to where the conversation goes on: with what is ahead of the
// head in view below it, or the end.
func (t *transcript) toHead() {
	t.toEnd()
	t.atHead = true
	t.draft()
}

// reveal scrolls as little as needed to have a line on the screen.
func (t *transcript) reveal(line int) {
	switch top := t.top(); {
	case line < top:
		t.scrollTo(line)
	case line >= top+t.height:
		t.scrollTo(line - t.height + 1)
	}
}

// position is how much of the text lies above the end of the screen, in
// percent, and whether there is more than one screen of it.
func (t *transcript) position() (percent int, scrolls bool) {
	total := t.total()
	if total <= t.height {
		return 100, false
	}
	return 100 * min(t.top()+t.height, total) / total, true
}

// selectBy moves the selection by blocks; the first move selects the last
// block that is on the screen.
func (t *transcript) selectBy(by int) {
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

// target is the block that an action on one message is about: the selected
// one, or the last answer.
func (t *transcript) target() *block {
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
func (t *transcript) fold() bool {
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
