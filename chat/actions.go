package chat

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer/sampler"
)

// Send adds a user turn below the head and starts the answer. While an answer
// runs it is refused with ErrBusy, so that the caller keeps the text; after
// Stop it is accepted, and done as soon as the answer has ended.
func (d *Dialogue) Send(text string) error {
	return d.act(text, func() error {
		d.ask(d.conv.Head, text)
		return nil
	})
}

// Retry generates another answer to the last user turn, with the next seed;
// the old one stays as a sibling.
func (d *Dialogue) Retry() error { return d.RetryTurn(0) }

// RetryTurn is Retry of an answer, or of the one to a prompt, anywhere in the
// tree; 0 is the head.
func (d *Dialogue) RetryTurn(id turn.ID) error {
	return d.act("retry", func() error {
		last := d.tree.prompt(cmp.Or(id, d.conv.Head))
		if last == nil {
			return ErrNothing
		}
		d.answer(last, d.nextSeed(last))
		return nil
	})
}

// Continue goes on with the answer at the head: inside the sentence if it is
// open, otherwise past the stop, which may not be drawn again at once. The
// answer grows in place, as the same turn; one that has turns below it stays
// as it is, and a sibling that begins with all of it goes on. A user turn at
// the head is answered.
func (d *Dialogue) Continue() error { return d.ContinueTurn(0) }

// ContinueTurn is Continue with a turn in the place of the head; 0 is the head.
func (d *Dialogue) ContinueTurn(id turn.ID) error {
	return d.act("continue", func() error {
		head := d.tree.nodes[cmp.Or(id, d.conv.Head)]
		switch {
		case head == nil:
			return ErrNothing
		case id != 0 && head.turn.Role == turn.RoleUser && len(head.children) > 0:
			return errors.New("that prompt has an answer: select the answer to continue it, or retry")
		case head.turn.Role == turn.RoleUser:
			d.answer(head, d.nextSeed(head))
		default:
			d.goOn(head)
		}
		return nil
	})
}

// Stop ends the running answer; what was generated stays, open to be continued.
func (d *Dialogue) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
}

func (d *Dialogue) stop() {
	if d.choice != nil {
		d.choice.stop()
	}
	for _, a := range d.running() {
		a.stop()
	}
}

// following are the running answers that take over what is set for the
// conversation: variants stay what they are. The caller holds mu.
func (d *Dialogue) following() []*answer {
	running := d.running()
	if c := d.choice; c != nil && c.compared {
		running = slices.DeleteFunc(slices.Clone(running), func(a *answer) bool { return a.turn.ID != c.lead })
	}
	return running
}

// running are the answers that run: none, one, or several to one prompt. The caller holds mu.
func (d *Dialogue) running() []*answer {
	switch {
	case d.choice != nil:
		return d.choice.running
	case d.run != nil:
		return []*answer{d.run}
	}
	return nil
}

// act does something that starts an answer, now or after a stopping answer
// has ended. text is what a person gave for it.
func (d *Dialogue) act(text string, do func() error) error {
	if strings.TrimSpace(text) == "" {
		return ErrEmpty
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != nil && d.run.stopping && d.next == nil && !d.closed {
		d.next = func() {
			if err := do(); err != nil {
				d.err = err
				d.reline()
			}
		}
		return nil
	}
	if err := d.ready(); err != nil {
		return err
	}
	d.endChoice() // who goes on without a choice keeps all
	return do()
}

// ready says whether the tree may be changed now, and forgets the last failure.
func (d *Dialogue) ready() error {
	switch {
	case d.closed:
		return ErrClosed
	case d.broken != nil:
		return d.broken
	case d.loading:
		return ErrLoading
	case d.run != nil:
		return ErrBusy
	}
	d.err = nil
	return nil
}

// ask puts a new user turn below a turn (0: at the root) and starts its answer.
func (d *Dialogue) ask(parent turn.ID, text string) {
	d.answer(d.prompted(parent, text), d.seed())
}

// prompted puts a new user turn below a turn and makes it the head.
func (d *Dialogue) prompted(parent turn.ID, text string) *node {
	now := time.Now()
	t := turn.Turn{ID: turn.NewID(), Parent: parent, Role: turn.RoleUser, Text: text, Sampling: d.conv.Sampling, Base: d.base.Name, Created: now}
	if err := d.tree.add(t); err != nil { // the parent is a turn of the tree
		panic("chat: " + err.Error())
	}
	d.goOnFrom(t.ID)
	d.conv.Updated, d.conv.CopyOf = now, 0
	d.retitle(parent, text)
	d.saver.AddPrompt(text)
	return d.tree.nodes[t.ID]
}

// SwitchSibling makes the by-th next (or, negative, previous) sibling of a
// turn the visible one, with the line below it that was last visible or else is
// the newest. It ends at the first and the last. The head goes along unless the turn is ahead of it.
func (d *Dialogue) SwitchSibling(id turn.ID, by int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ready(); err != nil {
		return err
	}
	n := d.tree.nodes[id]
	if n == nil {
		return fmt.Errorf("turn %d is not in this conversation", id)
	}
	all := d.tree.siblings(n.turn)
	at := min(max(slices.Index(all, id)+by, 0), len(all)-1)
	if all[at] == id {
		return nil
	}
	d.visited[id] = visit{d.conv.Head, d.conv.Tip}
	to := d.visitOf(all[at])
	d.conv.Tip = to.tip
	if d.conv.Head != 0 && d.tree.above(id, d.conv.Head) {
		d.conv.Head = to.head
	}
	d.saveHead()
	d.stepped = all[at]
	d.reline()
	return nil
}

// A visit is where the line was when a turn was last on it.
type visit struct{ head, tip turn.ID }

// visitOf is where the line goes on from a version: where it was left, or at the
// newest end below it.
func (d *Dialogue) visitOf(id turn.ID) visit {
	v, ok := d.visited[id]
	if ok && d.tree.nodes[v.tip] != nil && d.tree.above(id, v.tip) && d.tree.above(id, v.head) && d.tree.above(v.head, v.tip) {
		return v
	}
	end := d.tree.newest(id)
	return visit{end, end}
}

// SetSampling takes effect at the next token, also of a running answer. A
// Seed of 0 draws a fresh one for every answer; any other is used for the
// first answer to a prompt, and the next ones for its retries.
func (d *Dialogue) SetSampling(p sampler.Params, preset string) error {
	if err := p.Validate(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	d.conv.Sampling, d.conv.Preset = p, preset
	for _, a := range d.following() {
		a.setSampling(p)
	}
	d.saveHead()
	d.publish()
	return nil
}

// SetThink takes effect at the next turn.
func (d *Dialogue) SetThink(m turn.ThinkMode) error {
	switch m {
	case turn.ThinkOff, turn.ThinkFast, turn.ThinkFree, turn.ThinkEnglish, turn.ThinkShort, turn.ThinkLong, turn.ThinkChinese:
	default:
		return fmt.Errorf("there is no thinking mode %q", m)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	d.conv.Think = m
	d.saveHead()
	d.publish()
	return nil
}

// SetTitle names the conversation. An empty title gives back the one made
// from the first prompt.
func (d *Dialogue) SetTitle(title string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	title = strings.Join(strings.Fields(title), " ")
	d.conv.Named = title != ""
	if d.conv.Title = title; title == "" && len(d.turns) > 0 {
		d.conv.Title = prompt.MakeTitle(d.turns[0].Text)
	}
	d.saveHead()
	d.publish()
	return nil
}

// settable says whether settings may be changed, also while an answer runs.
func (d *Dialogue) settable() error {
	if err := d.ready(); err != nil && !errors.Is(err, ErrBusy) {
		return err
	}
	return nil
}

// saveHead stores the conversation's data, once it has turns. A fork that a
// person has changed is no mere copy any more.
func (d *Dialogue) saveHead() {
	d.conv.Updated, d.conv.CopyOf = time.Now(), 0
	if len(d.tree.nodes) > 0 {
		d.saver.SaveHead(d.conv)
	}
}

// seed is that of the first answer to a prompt.
func (d *Dialogue) seed() uint64 {
	if s := d.conv.Sampling.Seed; s != 0 {
		return s
	}
	const bits = 52 // so that every reader of JSON keeps it exactly
	return rand.Uint64() >> (64 - bits)
}

// nextSeed is one that no answer to a prompt has used.
func (d *Dialogue) nextSeed(prompt *node) uint64 {
	if len(prompt.children) == 0 {
		return d.seed()
	}
	var last uint64
	for _, id := range prompt.children {
		last = max(last, d.tree.nodes[id].turn.Sampling.Seed)
	}
	return last + 1
}

// retitle gives a conversation that no person has named the title of its
// first prompt, or of the next one that says more than a word if the first
// was no more than a greeting.
func (d *Dialogue) retitle(parent turn.ID, text string) {
	if d.conv.Named {
		return
	}
	if parent != 0 {
		first := d.tree.line(parent)[0].turn.Text
		if !prompt.IsGreeting(first) || d.conv.Title != prompt.MakeTitle(first) || !prompt.SaysMore(text) {
			return
		}
	}
	d.conv.Title = prompt.MakeTitle(text)
}
