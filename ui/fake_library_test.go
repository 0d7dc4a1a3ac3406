package ui

import (
	"context"

	"rookery/chat/turn"
)

// fakeLibrary is a library in memory.
type fakeLibrary struct{ states []turn.State }

func (l *fakeLibrary) States(context.Context) ([]turn.State, error) { return l.states, nil }
