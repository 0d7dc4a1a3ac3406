package chat

import (
	"fmt"

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

// turnsRead says who read turns.
func turnsRead(first, last int, name, fingerprint string) string {
	return fmt.Sprintf("reading %s again with %s", turnsNumbered(first, last), adapterNamed(name, fingerprint))
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

// adapterInUse is the one of now in a sentence.
func (a *answer) adapterInUse() string {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	return adapterNamed(a.way.adapterName, a.way.adapter) + ", which is in use now"
}

// force lets an answer go on without what is missing, if a person wants that.
func (a *answer) force(missing *MissingError) bool {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if !a.d.replaces || a.forced {
		return false
	}
	a.forced, a.replaced = true, missing.Name
	if a.replaced == "" {
		a.replaced = adapterNamed("", missing.Adapter)
	}
	a.d.publish()
	return true
}

// readAnew remembers that the turns right above the answer, or above its new
// prompt, are read with the adapter in use, whatever they say.
func (a *answer) readAnew(turns int) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	prompt := &a.path[len(a.path)-1]
	_, read := prompt.ReadingBy(a.template.Model)
	if a.resumed == nil && !read && a.strange == 0 {
		a.promptAnew = a.anewOf(turns - 1)
		return
	}
	a.prompted = true // what is kept of the prompt is not this line's
	if made := a.anewOf(turns); made != nil {
		a.anew = made
	}
}

// anewOf is turns right above one that the answer's way reads anew; nil for
// none. The caller holds mu.
func (a *answer) anewOf(turns int) *turn.Anew {
	if turns <= 0 {
		return nil
	}
	return &turn.Anew{Turns: turns, Adapter: a.way.adapter, Name: a.way.adapterName, Base: a.way.base}
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
