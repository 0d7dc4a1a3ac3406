package library

import (
	"cmp"
	"fmt"

	"rookery/chat/turn"
)

// A folded list has one row for a conversation and those forks of it that are
// still no more than copies.
type folded struct {
	copies   map[turn.ID]int  // of a row's conversation: those that it stands for beside itself
	unfolded map[turn.ID]bool // which copies are listed, by what they are copies of
}

// original names what a conversation is a copy of, or itself.
func original(c turn.Conversation) turn.ID { return cmp.Or(c.CopyOf, c.ID) }

// fold leaves out copies of those that are here, which are places in all. What
// they are copies of stands for them, or the first of them where that is not
// listed. Pinned ones are listed for themselves.
func (f *folded) fold(all []turn.Conversation, here []int) []int {
	f.copies = map[turn.ID]int{}
	stands := map[turn.ID]turn.ID{}
	for _, i := range here {
		if c := &all[i]; c.CopyOf == 0 {
			stands[c.ID] = c.ID
		}
	}
	var shown []int
	for _, i := range here {
		c := &all[i]
		if c.CopyOf != 0 && !c.Pinned && stands[c.CopyOf] == 0 {
			stands[c.CopyOf] = c.ID
		}
		if by := stands[c.CopyOf]; c.CopyOf == 0 || c.Pinned || by == c.ID {
			shown = append(shown, i)
		} else if f.copies[by]++; f.unfolded[c.CopyOf] {
			shown = append(shown, i)
		}
	}
	return shown
}

// turnOver folds the copies of a conversation, or lists them.
func (f *folded) turnOver(c turn.Conversation) {
	if f.unfolded == nil {
		f.unfolded = map[turn.ID]bool{}
	}
	f.unfolded[original(c)] = !f.unfolded[original(c)]
}

// note says for how many copies a conversation stands.
func (f *folded) note(c turn.Conversation) string {
	switch n := f.copies[c.ID]; n {
	case 0:
		return ""
	case 1:
		return " · 1 copy"
	default:
		return fmt.Sprintf(" · %d copies", n)
	}
}
