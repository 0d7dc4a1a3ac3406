package chat

import (
	"context"
	"errors"
	"fmt"

	"rookery/chat/turn"
	"rookery/infer/rwkv"
)

// A Drift is how far the state after a turn is from where it is measured from.
type Drift struct {
	Turn     turn.ID
	Distance rwkv.Distance
}

// ErrNoStates says that a line has too few states to compare.
var ErrNoStates = errors.New("there are no two states to compare yet: send a prompt first")

// Drift compares the states that are kept along the visible line with the
// state that the conversation begins from, or with the first of them where it
// begins from the zero state. from says with what. It blocks.
func (d *Dialogue) Drift(ctx context.Context) (line []Drift, from string, err error) {
	d.mu.Lock()
	a := d.lookFrom(d.conv.Head)
	from = d.base.Name
	d.mu.Unlock()
	var reference []float32
	if a.settings.base != 0 {
		s, _, err := a.loadBeginning(ctx, a.settings.base)
		if err != nil {
			return nil, "", fmt.Errorf("comparing with %q: %w", from, err)
		}
		if s != nil {
			reference = s.State
		}
	}
	shape := d.workspace.engine.Model().Shape
	for i, t := range a.path {
		s := a.findSnapshot(ctx, t.ID)
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		switch {
		case s == nil || s.State == nil:
			continue
		case reference == nil:
			reference, from = s.State, fmt.Sprintf("turn %d", i+1)
		}
		_, all := shape.Distances(reference, s.State)
		line = append(line, Drift{t.ID, all})
	}
	if len(line) == 0 {
		return nil, "", ErrNoStates
	}
	return line, from, nil
}
