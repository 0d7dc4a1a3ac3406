package transcript

import (
	"rookery/chat"

	"rookery/chat/turn"
	"rookery/ui/kit"
)

// What is ahead of the head is drawn dim, below a line that says so.

// siblingsOf is the mark of the i-th turn of the line.
func siblingsOf(v chat.View, i int) chat.Siblings {
	if i < len(v.Siblings) {
		return v.Siblings[i]
	}
	return chat.Siblings{}
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

// setAhead dims a block or lights it again.
func (b *block) setAhead(ahead bool) {
	if b.ahead != ahead {
		b.ahead = ahead
		b.version++
	}
}
