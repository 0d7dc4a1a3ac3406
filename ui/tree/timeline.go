package tree

import (
	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A timeline is a strip over the whole visible line, one stop for each turn
// and one for the beginning. The transcript shows what it would be to go on
// from the stop.
type timeline struct {
	kit.Window
	turns    []turn.Turn
	siblings []chat.Siblings
	at       int // turns before the stop
}

// openTimeline shows the timeline at the head.
func openTimeline(h kit.Host, _ string) tea.Cmd {
	t := h.Tab()
	v := t.View()
	switch {
	case v.Live != nil:
		return h.Fail(chat.ErrBusy)
	case t.Empty():
		return h.Fail(ErrNoTurns)
	}
	s := &timeline{turns: lineOf(v), siblings: v.Siblings, at: len(v.Turns)}
	h.OpenDialog(s)
	t.Preview(s.at)
	return nil
}

// takeHead goes on from the stop.
func (s *timeline) takeHead(h kit.Host) tea.Cmd {
	to := turn.ID(0)
	if s.at > 0 {
		to = s.turns[s.at-1].ID
	}
	h.CloseDialog()
	err := h.Tab().Dialogue().SetHead(to)
	cmd := tea.Batch(kit.Report(h, "", err), h.Refresh())
	h.Tab().Preview(-1)
	return cmd
}

// leave leaves all as it was.
func (s *timeline) leave(h kit.Host) tea.Cmd {
	h.CloseDialog()
	h.Tab().Preview(-1)
	return nil
}

// Press takes a key.
func (s *timeline) Press(id keys.ID, _ string) kit.Action {
	switch id {
	case keys.ListCancel:
		return s.leave
	case keys.ListAccept:
		return s.takeHead
	case keys.CharLeft:
		return s.move(-1)
	case keys.CharRight:
		return s.move(1)
	case keys.ListUp, keys.WordLeft:
		return s.move(-s.exchange(-1))
	case keys.ListDown, keys.WordRight:
		return s.move(s.exchange(1))
	case keys.ListPageUp:
		return s.move(-10)
	case keys.ListPageDown:
		return s.move(10)
	case keys.LineStart:
		return s.move(-len(s.turns))
	case keys.LineEnd:
		return s.move(len(s.turns))
	}
	return nil
}

func (s *timeline) move(by int) kit.Action {
	s.at = min(max(s.at+by, 0), len(s.turns))
	at := s.at
	return func(h kit.Host) tea.Cmd {
		h.Tab().Preview(at)
		return nil
	}
}

// exchange is how many stops it is to the next end of an exchange.
func (s *timeline) exchange(by int) int {
	n := 1
	for at := s.at + by; at > 0 && at < len(s.turns) && s.turns[at].Role != turn.RoleUser; at += by {
		n++
	}
	return n
}

// Wheel goes to another stop.
func (s *timeline) Wheel(by, _, _ int) kit.Action { return s.move(by) }

// Click goes to the stop under a cell of the strip.
func (s *timeline) Click(x, y int) kit.Action {
	if y != 1 {
		return nil
	}
	first, _ := s.window(s.inner())
	return s.move(first + (x-2)/stopWidth - s.at)
}

func (s *timeline) inner() int { return max(8, s.Width-4) }

// stopWidth is the cells of a stop: its mark and the line to the next.
const stopWidth = 2

// window is the stops that a strip of some cells shows: first and how many.
func (s *timeline) window(width int) (first, n int) {
	n = min(len(s.turns)+1, max(1, (width+1)/stopWidth))
	first = min(max(0, s.at-n/2), len(s.turns)+1-n)
	return first, n
}
