package turn

import (
	"fmt"
	"time"
)

// A Cost is what a conversation takes in the store.
type Cost struct {
	Turns         int
	TextBytes     int64 // text and tokens
	Snapshots     int   // turns that have one
	SnapshotBytes int64
}

// Bytes is all of it.
func (c Cost) Bytes() int64 { return c.TextBytes + c.SnapshotBytes }

// A SearchHit is a turn of a stored conversation that holds a text.
type SearchHit struct {
	Conversation ID
	Turn         ID
	Role         Role
	Snippet      string   // a few words around the first match, on one line
	Marks        [][2]int // byte ranges of Snippet that match, in order
	When         time.Time
}

// A TakenError says that an id of an imported conversation is in use.
type TakenError struct{ Conversation ID }

func (e *TakenError) Error() string {
	return fmt.Sprintf("conversation %d, or a turn of it, is stored already", e.Conversation)
}
