package chat

import (
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
)

// A Dialogue is one open conversation.
type Dialogue struct{}

// A View is a dialogue at one moment. It shares memory with the dialogue and
// must not be changed. Taking one is cheap at any length.
type View struct {
	Version      uint64 // grows with every change of anything in the view
	Conversation Conversation
	Turns        []Turn     // the visible line, first to last, without a running answer
	Siblings     []Siblings // for each turn of Turns
	Live         *Live      // the answer being generated, or nil
	Err          error      // the last failure, until the next action
	Loading      bool       // still being read from the store
	Saved        bool       // everything is on disk
}

// Siblings says which of how many alternatives a turn is, from 1.
type Siblings struct{ N, Of int }

// Live is a running answer.
type Live struct {
	Turn     Turn   // as begun; ID is final
	Text     string // so far; grows by appending only
	Progress infer.Progress
	Started  time.Time
}

// ID is the conversation's.
func (d *Dialogue) ID() ID { return 0 }

// View returns the dialogue as it is now.
func (d *Dialogue) View() View { return View{} }

// Send adds a user turn below the head and starts the answer.
func (d *Dialogue) Send(text string) error { return nil }

// Stop ends the running answer; what was generated stays, open to be continued.
func (d *Dialogue) Stop() {}

// Continue goes on with the answer at the head: inside the sentence if it is
// open, otherwise past the stop.
func (d *Dialogue) Continue() error { return nil }

// Retry generates another answer to the last user turn, with the next seed;
// the old one stays as a sibling.
func (d *Dialogue) Retry() error { return nil }

// EditLast replaces the last user turn by a sibling with the new text and answers it.
func (d *Dialogue) EditLast(text string) error { return nil }

// SwitchSibling makes the by-th next (or, negative, previous) sibling of a turn the visible one, with its newest line below.
func (d *Dialogue) SwitchSibling(turn ID, by int) error { return nil }

// SetSystem changes the system prompt. A conversation that has turns is read
// again from its tokens with the new prompt before the next answer.
func (d *Dialogue) SetSystem(text string) error { return nil }

// SetSampling takes effect at the next token, also of a running answer.
func (d *Dialogue) SetSampling(p sampler.Params, preset string) error { return nil }

// SetThink takes effect at the next turn.
func (d *Dialogue) SetThink(m ThinkMode) error { return nil }

// SetTitle names the conversation.
func (d *Dialogue) SetTitle(title string) error { return nil }
