package chat

import (
	"context"
	"errors"
	"fmt"

	"rookery/chat/library"
	"rookery/chat/replay"
	"rookery/chat/turn"
)

// A MissingError says that turns cannot be read again as they were at first:
// what read them is not there any more. Dialogue.Reread goes on without.
type MissingError struct {
	First, Last   int // the turns, counted from 1
	Adapter, Name string
	What          string // about the turns
	WayOut        string // how they can be read again
	Now           string // what would read them otherwise
	Err           error
	base          bool // it is the state that they begin from
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s %s: %s, or let /reread go on %s", turnsNumbered(e.First, e.Last), e.What, e.WayOut, e.Now)
}

func (e *MissingError) Unwrap() error { return e.Err }

func turnsNumbered(first, last int) string {
	if first == last {
		return fmt.Sprintf("turn %d", first)
	}
	return fmt.Sprintf("turns %d to %d", first, last)
}

// adapterNamed is an adapter in a sentence: its name and the beginning of its
// fingerprint.
func adapterNamed(name, fingerprint string) string {
	const shown = 12
	mark := fingerprint[:min(len(fingerprint), shown)]
	switch {
	case fingerprint == "":
		return "no adapter"
	case name == "":
		return "the adapter " + mark
	}
	return fmt.Sprintf("the adapter %s (%s)", name, mark)
}

// sayAdapterInUse is the one of now in a sentence.
func (a *answer) sayAdapterInUse() string {
	use := a.adapterInUse()
	return adapterNamed(use.Name, use.Adapter) + ", which is in use now"
}

// goOnWithout says whether an answer goes on without what is missing, as a person
// wants it to: what is to be read again is read with the adapter in use then,
// and from the conversation's base where another one is gone.
func (a *answer) goOnWithout(err error) bool {
	missing, ok := errors.AsType[*MissingError](err)
	if !ok {
		return false
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if !a.d.replaces || a.forced {
		return false
	}
	a.forced, a.replaced = true, missing.Name
	switch {
	case missing.base:
		a.anew, a.replaced = len(a.path)+1, "the state that the line begins from"
	case a.replaced == "":
		a.replaced = adapterNamed("", missing.Adapter)
	}
	a.d.publish()
	return true
}

// needAdapter loads the adapter of what is to be read again.
func (a *answer) needAdapter(ctx context.Context, r replay.Read) error {
	err := a.host().adapters.Need(ctx, r.Adapter)
	if err == nil || ctx.Err() != nil {
		return err
	}
	lost, ok := errors.AsType[*library.LostAdapterError](err)
	if !ok {
		return fmt.Errorf("reading %s again with %s: %w", turnsNumbered(r.First+1, r.Last+1), adapterNamed(r.Name, r.Adapter), err)
	}
	return &MissingError{
		First: r.First + 1, Last: r.Last + 1, Adapter: r.Adapter, Name: r.Name,
		What: "were read with " + adapterNamed(r.Name, r.Adapter) + ", " + lost.How, WayOut: lost.WayOut,
		Now: "with " + a.sayAdapterInUse(), Err: err,
	}
}

// Reread lets the conversation go on where turns cannot be read again as they
// were at first: from now on, until it is closed, they are read with the
// adapter in use, and views say so. A prompt at the head is answered, and an
// answer that is open goes on.
func (d *Dialogue) Reread() error {
	return d.act("reread", func() error {
		d.replaces = true
		head := d.tree.nodes[d.conv.Head]
		switch {
		case head == nil:
			return ErrNothing
		case head.turn.Role == turn.RoleUser:
			d.answer(head, d.nextSeed(head))
		case head.turn.Open:
			d.goOn(head)
		default:
			d.reline()
		}
		return nil
	})
}
