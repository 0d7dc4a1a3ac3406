package turn

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"rookery/infer/statefile"
)

// A State is one of the library: a state that conversations begin from.
type State struct {
	ID ID
	statefile.State
	Read  int   // tokens that it has read, also where Tokens were not asked for
	Bytes int64 // as stored
}

// NewState is a state under its number in a library.
func NewState(id ID, s statefile.State) State {
	out := State{ID: id, State: s, Read: len(s.Tokens)}
	if s.Snapshot != nil {
		out.Bytes = 4 * int64(len(s.Snapshot.State)+len(s.Tokens)) // more or less as in the store
	}
	return out
}

// BuiltIn says that a state comes with the program: it is in no store, and
// can be neither renamed nor deleted.
func (s *State) BuiltIn() bool { return s.ID > 0 && s.ID <= LastBuiltIn }

// LastBuiltIn is the greatest ID of a state that comes with the program.
// NewID makes none that is as small.
const LastBuiltIn = 1 << 10

// ErrNameTaken says that another state of the library has the name.
var ErrNameTaken = errors.New("another state has this name: choose another one, or rename or delete that state first")

// An InUseError says that conversations begin from a state, which would
// lose their beginning with it, or that mixes have it.
type InUseError struct {
	Name          string
	Conversations int // that are stored, those in the bin among them
	Open          int // that are open and perhaps not stored yet
	Mixing        int // conversations, stored or open, whose mix has it
	Saved         int // mixes that were saved under a name
}

func (e *InUseError) Error() string {
	if e.Conversations+e.Open == 0 {
		return e.mixed()
	}
	n, where := e.Conversations, "stored"
	if n == 0 {
		n, where = e.Open, "open"
	}
	what := "conversations begin"
	if n == 1 {
		what = "conversation begins"
	}
	return fmt.Sprintf("%d %s %s from %q and would lose its beginning: delete or close it first, or keep the state", n, where, what, e.Name)
}

// mixed is the text where a state is in use by mixes alone.
func (e *InUseError) mixed() string {
	switch {
	case e.Mixing == 1:
		return fmt.Sprintf("the mix of a conversation has %q: take it out of the mix first, or keep the state", e.Name)
	case e.Mixing > 1:
		return fmt.Sprintf("the mixes of %d conversations have %q: take it out of them first, or keep the state", e.Mixing, e.Name)
	}
	return fmt.Sprintf("a saved mix has %q: delete the mix first, or keep the state", e.Name)
}

// A NoStateError says that the library has no such state. It is fs.ErrNotExist.
type NoStateError struct {
	Name string
}

func (e *NoStateError) Error() string {
	return fmt.Sprintf("there is no state %q in the library: `rookery states ls` lists them", e.Name)
}

// Is makes it fs.ErrNotExist.
func (e *NoStateError) Is(target error) bool { return target == fs.ErrNotExist }

// ListNames lists names in a sentence: "is a", "are a, b and c", "are a, b and 12 more".
func ListNames(names []string) string {
	const most = 8
	if len(names) == 1 {
		return "is " + names[0]
	}
	last := names[len(names)-1]
	names = names[:len(names)-1]
	if len(names) >= most {
		last = fmt.Sprintf("%d more", len(names)+1-most)
		names = names[:most]
	}
	return "are " + strings.Join(names, ", ") + " and " + last
}
