package turn

import (
	"rookery/infer"
)

// A Tree is a conversation with all its turns, parents before children, as
// it is exported and imported. Its states are read one at a time.
type Tree struct {
	Conversation Conversation
	Turns        []Turn
	States       []TreeState
	// Bases are the states of the library that the conversation begins from and
	// that its mixes have, as far as they are there.
	Bases []TreeBase
}

// A TreeState is the snapshot of a turn. Read reads it anew
// every time.
type TreeState struct {
	Turn ID
	Read func() (*infer.Snapshot, error)
}

// A TreeBase is a state of the library that a conversation begins from or
// mixes. Read reads it anew every time.
type TreeBase struct {
	ID   ID
	Read func() (State, error)
}
