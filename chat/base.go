package chat

import (
	"context"
	"errors"

	"rookery/chat/turn"
	"rookery/infer/statefile"
)

// ErrBegun says that a conversation that has turns cannot begin from another state.
var ErrBegun = errors.New("the conversation has begun: open a new one from the state")

// SetBase makes an empty conversation begin from a state of the library. A
// state of another model or shape is a *statefile.MismatchError. One that was
// made with an adapter brings it along; if the conversation has another one it
// is a *statefile.AdapterError.
func (d *Dialogue) SetBase(s turn.State) error {
	if err := s.Check(d.workspace.engine.Model()); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ready(); err != nil {
		return err
	}
	if len(d.tree.nodes) > 0 {
		return ErrBegun
	}
	if d.conv.Adapter != "" {
		if err := s.CheckAdapter(d.conv.Adapter, d.adapter); err != nil {
			return err
		}
	}
	d.setBase(s)
	d.publish()
	return nil
}

// setBase begins from a state. One that has read a text was told there what
// it is to be: the system prompt of new conversations is not for it.
func (d *Dialogue) setBase(s turn.State) {
	d.conv.Base, d.base = s.ID, baseOf(&s)
	if s.Adapter != "" {
		d.conv.Adapter, d.adapter = s.Adapter, s.AdapterName
	}
	if s.Kind != statefile.Tuned {
		d.conv.System = ""
	}
}

// base is what is known of a state that a conversation begins from. One that
// cannot be found is missed when it is needed.
func (l *Library) base(ctx context.Context, id turn.ID) base {
	if id == 0 {
		return base{}
	}
	list, err := l.List(ctx)
	if err != nil {
		return base{}
	}
	for _, s := range list {
		if s.ID == id {
			return baseOf(&s)
		}
	}
	return base{}
}

// Library is the states that conversations can begin from.
func (k *Workspace) Library() *Library { return k.library }

// UseStates gives the library the states that come with the program. It is
// called before anything is opened.
func (k *Workspace) UseStates(builtIn func() ([]*statefile.State, error)) {
	k.library = NewLibrary(k.store, builtIn)
}

// DeleteState removes a state from the library for good. One that a
// conversation begins from or mixes, stored or open, or that a saved mix has,
// stays and is an *InUseError. It blocks.
func (k *Workspace) DeleteState(ctx context.Context, s turn.State) error {
	k.mu.Lock()
	var open []*Dialogue
	for _, d := range k.open {
		open = append(open, d)
	}
	var leaving []chan struct{}
	for _, saved := range k.leaving {
		leaving = append(leaving, saved)
	}
	k.mu.Unlock()
	used := &turn.InUseError{Name: s.Name}
	for _, d := range open {
		c := d.View().Conversation
		if c.Base == s.ID {
			used.Open++
		}
		if c.Mix.Has(s.ID) {
			used.Mixing++
		}
	}
	if used.Open+used.Mixing > 0 {
		return used
	}
	for _, saved := range leaving {
		select {
		case <-saved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return k.library.Delete(ctx, s.ID)
}
