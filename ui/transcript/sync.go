package transcript

import (
	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// Sync takes over what has changed in a dialogue.
func (t *Transcript) Sync(v chat.View) {
	if t.synced && v.Version == t.version {
		return
	}
	t.synced, t.version = true, v.Version
	n := 0
	for i, tn := range v.Turns {
		t.place(n, tn, siblingsOf(v, i), false)
		n++
	}
	t.head = -1
	if len(v.Ahead) > 0 {
		t.head = n
		t.placeDivider(n, len(v.Ahead))
		n++
		for i, tn := range v.Ahead {
			t.place(n, tn, siblingsOf(v, len(v.Turns)+i), true)
			n++
		}
	}
	t.spare = nil
	if v.Live != nil {
		t.placeLive(n, v.Live)
		n++
	}
	if v.Err != nil {
		b := &block{failure: kit.OneLine(v.Err.Error()), body: fixedLines(nil), gen: t.generation, exact: true}
		t.decorate(b)
		t.blocks = append(t.blocks[:n], b)
		n++
	}
	t.blocks = t.blocks[:n]
	if t.selected >= n {
		t.selected = n - 1
	}
	t.draft()
}

// Preview shows a view whatever its version is, from its head on.
func (t *Transcript) Preview(v chat.View) {
	t.synced = false
	t.Sync(v)
	t.ScrollToHead()
}

// place puts a finished turn at index i.
func (t *Transcript) place(i int, tn turn.Turn, sibling chat.Siblings, ahead bool) {
	if i < len(t.blocks) {
		b := t.blocks[i]
		if b.shows(tn, sibling) {
			b.turn = tn
			b.setAhead(ahead)
			return
		}
		if b.live != nil && b.turn.ID == tn.ID {
			b.settle(tn, sibling)
			t.guard(b, b.read)
			t.decorate(b)
			return
		}
		t.cut(i)
	}
	b := t.spare[tn.ID]
	if b == nil || !b.shows(tn, sibling) {
		b = newBlock(tn, sibling)
		t.guard(b, b.read)
		t.decorate(b)
	}
	b.setAhead(ahead)
	t.blocks = append(t.blocks, b)
}

// placeLive puts the running answer at index i.
func (t *Transcript) placeLive(i int, live *chat.Live) {
	if i >= len(t.blocks) || t.blocks[i].turn.ID != live.Turn.ID || t.blocks[i].failure != "" {
		t.blocks = append(t.blocks[:i], newBlock(live.Turn, chat.Siblings{}))
	}
	b := t.blocks[i]
	bodyLen := func() (n int) {
		t.guard(b, func() { n = b.body.Len() })
		return n
	}
	before := bodyLen()
	b.live, b.turn = live, live.Turn
	if !b.plain {
		t.guard(b, func() { b.feed(live, t.th, t.textWidth()) })
	}
	b.gen = t.generation
	t.decorate(b)
	if !t.follow && bodyLen() > before {
		t.below = true
	}
}

// placeDivider puts the line before what is ahead of the head at index i.
func (t *Transcript) placeDivider(i, turns int) {
	text := kit.FormatCount(turns) + " turns ahead, undone"
	if turns == 1 {
		text = "1 turn ahead, undone"
	}
	if t.redoHint != "" {
		text += " · " + t.redoHint
	}
	if i < len(t.blocks) {
		if t.blocks[i].divider == text {
			return
		}
		t.cut(i)
	}
	b := &block{divider: text, body: fixedLines(nil), gen: t.generation, exact: true}
	t.decorate(b)
	t.blocks = append(t.blocks, b)
}

// cut takes the blocks from index i on away. Those of turns are at hand until
// the end of sync: moving the head moves them and changes nothing in them.
func (t *Transcript) cut(i int) {
	if t.spare == nil {
		t.spare = map[turn.ID]*block{}
	}
	for _, b := range t.blocks[i:] {
		if b.live == nil && b.turn.ID != 0 {
			t.spare[b.turn.ID] = b
		}
	}
	t.blocks = t.blocks[:i]
}

// siblingsOf is the mark of the i-th turn of the line.
func siblingsOf(v chat.View, i int) chat.Siblings {
	if i < len(v.Siblings) {
		return v.Siblings[i]
	}
	return chat.Siblings{}
}
