package panel

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/kit"
)

// The candidates of the sampling panel: what the token after the head would be
// chosen from or, while an answer runs, what its latest token was chosen from.

// An nextToken is what the candidates are of.
type nextToken struct {
	of     string    // place in the conversation, see placeOf; "" is none
	asked  bool      // a command is at work
	looked time.Time // when a running answer last was
}

// lookEvery is how often the latest token of a running answer is looked at.
const lookEvery = 200 * time.Millisecond

// Look takes over the parameters of the conversation, and keeps the candidates
// up to date.
func (s *Sampling) Look(h kit.Host) tea.Cmd {
	v := h.Tab().View()
	s.presets = h.Presets()
	if m := h.Model(); m != nil && m.Tokenizer != nil {
		s.tokenName = func(id int32) string { return string(m.Tokenizer.Bytes(id)) }
	}
	s.Set(v.Conversation.Sampling, v.Conversation.Preset)
	if last, ok := kit.LastAnswer(v.Turns); ok {
		s.lastSeed = last.Sampling.Seed
	}
	d := h.Tab().Dialogue()
	switch {
	case d == nil:
		return nil
	case v.Live != nil:
		s.lookAtRunning(d, v.Live.Turn.ID, h.Now())
		return nil
	}
	return s.lookAhead(h, d, placeOf(v))
}

// placeOf names what the next token of a conversation depends on, but for the
// parameters.
func placeOf(v chat.View) string {
	c := v.Conversation
	if v.Loading || c.Head == 0 {
		return ""
	}
	tokens := 0
	if n := len(v.Turns); n > 0 {
		tokens = len(v.Turns[n-1].Tokens)
	}
	return fmt.Sprint(c.ID, c.Head, tokens, c.Base, c.Adapter, c.Mix)
}

// lookAhead asks what comes next at a place, unless that is known.
func (s *Sampling) lookAhead(h kit.Host, d *chat.Dialogue, place string) tea.Cmd {
	if s.next.asked || s.next.of == place {
		return nil
	}
	if s.next.of = place; place == "" {
		s.SetProspect(nil, false)
		return nil
	}
	s.next.asked = true
	ctx := h.Context()
	return kit.Await(func() (*chat.Distribution, error) { return d.NextDistribution(ctx) }, func(_ kit.Host, next *chat.Distribution, err error) tea.Cmd {
		s.next.asked = false
		switch {
		case s.next.of != place: // the conversation has gone on
		case err != nil || next == nil:
			s.SetProspect(nil, false)
		default:
			s.SetProspect(next, false)
		}
		return nil
	})
}

// lookAtRunning takes the latest token of a running answer, a few times a second.
func (s *Sampling) lookAtRunning(d *chat.Dialogue, answer turn.ID, now time.Time) {
	if place := fmt.Sprint("running ", answer); s.next.of != place { // what was shown is passed
		s.next.of = place
		s.SetProspect(nil, false)
	} else if now.Sub(s.next.looked) < lookEvery {
		return
	}
	s.next.looked = now
	if recent := d.RecentDistribution(); recent != nil {
		s.SetProspect(recent, true)
	}
}
