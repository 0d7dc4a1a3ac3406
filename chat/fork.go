package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"rookery/chat/library"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
)

// MaxForks is how many conversations one Fork makes at most.
const MaxForks = 32

// Fork opens n new conversations whose tree is the line of a dialogue up to a
// turn: the same turns under new IDs, with their states, which the store shares.
// Nothing is read, and what becomes of one changes no other.
func (k *Workspace) Fork(from *Dialogue, id turn.ID, n int) ([]*Dialogue, error) {
	if n < 1 || n > MaxForks {
		return nil, fmt.Errorf("a fork makes 1 to %d conversations, not %d", MaxForks, n)
	}
	line, err := from.lineTo(id)
	if err != nil {
		return nil, err
	}
	forks := make([]*Dialogue, n)
	for i := range forks {
		forks[i] = k.fork(line, i)
	}
	k.signal()
	return forks, nil
}

// A forking is what a fork takes of a dialogue.
type forking struct {
	conversation turn.Conversation
	base         library.Base
	adapter      string
	rendering    prompt.Rendering // of its first turn
	turns        []turn.Turn
	of           []turn.ID         // of each turn, the stored one that it is or will be a copy of
	held         []*infer.Snapshot // of each turn, what is in memory
	unsaved      []bool            // of each turn, whether its snapshot is not in the store yet
}

// lineTo is the line to a turn, every prompt with its tokens: one that was sent
// a moment ago may have none yet.
func (d *Dialogue) lineTo(id turn.ID) (forking, error) {
	f, err := d.lineAsIs(id)
	t := d.template()
	for i := range f.turns {
		f.turns[i] = t.FillTokens(f.turns[i], f.rendering, f.conversation.Think)
	}
	return f, err
}

func (d *Dialogue) lineAsIs(id turn.ID) (forking, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.broken != nil:
		return forking{}, d.broken
	case d.loading:
		return forking{}, ErrLoading
	case id == 0:
		return forking{}, errors.New("there is nothing to fork yet")
	case d.tree.nodes[id] == nil:
		return forking{}, missing(id)
	}
	f := forking{conversation: d.conv, base: d.base, adapter: d.adapter, rendering: d.rendering()}
	path := d.path(id)
	for i, n := range d.tree.line(id) {
		held := d.tree.held(n.turn.ID)
		s, waits := d.saver.Pending(n.turn.ID)
		if held == nil {
			held = s
		}
		f.of = append(f.of, d.saver.Origin(n.turn.ID))
		f.turns, f.held, f.unsaved = append(f.turns, path[i]), append(f.held, held), append(f.unsaved, waits)
	}
	return f, nil
}

// fork opens the i-th copy.
func (k *Workspace) fork(f forking, i int) *Dialogue {
	c := f.conversation
	now := time.Now()
	c.CopyOf = cmp.Or(c.CopyOf, c.ID)
	c.ID, c.Created, c.Updated = turn.NewID(), now, now
	c.Title = numbered(c.Title, i)
	c.Pinned, c.Archived, c.Deleted = false, false, time.Time{}
	turns, of, origin := make([]turn.Turn, len(f.turns)), f.of, map[turn.ID]turn.ID{}
	parent := turn.ID(0)
	for j, t := range f.turns {
		t.ID, t.Parent, t.Pinned = turn.NewID(), parent, false
		turns[j], parent, origin[t.ID] = t, t.ID, of[j]
	}
	c.Head, c.Tip = parent, parent

	d := newDialogue(k, c, false)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base, d.adapter = f.base, f.adapter
	d.saver.Queue("copying the conversation", origin, func(ctx context.Context, s turn.Store) error {
		return s.CopyTurns(ctx, c, turns, of)
	})
	for j, t := range turns {
		if err := d.tree.add(t); err != nil { // its parent has just been added
			panic("chat: " + err.Error())
		}
		if f.unsaved[j] {
			d.saver.Commit(c, t, f.held[j])
		}
		if f.held[j] != nil {
			d.tree.hold(t.ID, f.held[j])
		}
	}
	d.reline()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[c.ID] = d
	return d
}

var numberAtEnd = regexp.MustCompile(` \((\d{1,4})\)$`)

// numbered is the title of the i-th fork: "A story (2)".
func numbered(title string, i int) string {
	n := 2
	if at := numberAtEnd.FindStringSubmatchIndex(title); at != nil {
		n, _ = strconv.Atoi(title[at[2]:at[3]])
		title = title[:at[0]]
		n++
	}
	return fmt.Sprintf("%s (%d)", title, n+i)
}
