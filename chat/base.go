package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
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
	d.conv.Base, d.base = s.ID, library.BaseOf(&s)
	if s.Adapter != "" {
		d.conv.Adapter, d.adapter = s.Adapter, s.AdapterName
	}
	if s.Kind != statefile.Tuned {
		d.conv.System = ""
	}
}

// Library is the states that conversations can begin from.
func (k *Workspace) Library() *library.Library { return k.library }

// UseStates gives the library the states that come with the program. It is
// called before anything is opened.
func (k *Workspace) UseStates(builtIn func() ([]*statefile.State, error)) {
	k.library = library.New(k.store, builtIn)
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

// SaveState keeps the state after an answer in the library, as the
// conversation would go on from it. It blocks.
func (d *Dialogue) SaveState(ctx context.Context, id turn.ID, name string) (turn.State, error) {
	a, title, err := d.reader(id)
	if err != nil {
		return turn.State{}, err
	}
	l, e := d.workspace.library, d.workspace.engine
	if name, err = l.CheckName(ctx, name); err != nil {
		return turn.State{}, err
	}
	s, err := a.findStart(ctx)
	if err != nil {
		return turn.State{}, err
	}
	snap := s.from
	if snap == nil || len(s.tokens) > 0 {
		adapter := a.settings.adapter
		if snap, err = library.ReadState(ctx, e, infer.Request{From: s.requestFrom(adapter), Tokens: s.tokens, Adapter: adapter, AnyAdapter: true, Label: "keeping " + name}, nil); err != nil {
			return turn.State{}, fmt.Errorf("keeping the state %q: %w", name, err)
		}
	}
	return l.Add(ctx, statefile.State{
		Name: name, Kind: statefile.Saved, Source: title, Model: snap.Model, ModelName: a.template.ModelName,
		Adapter: snap.Adapter, AdapterName: d.workspace.adapters.FindTitle(ctx, snap.Adapter),
		Shape: statefile.ShapeOf(e.Model()), Tokens: a.line.Tokens(), Created: time.Now(), Snapshot: library.BareSnapshot(snap),
	})
}

// reader is what finds the state after an answer, and the conversation's title.
func (d *Dialogue) reader(id turn.ID) (*answer, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.tree.nodes[id]
	switch {
	case d.loading:
		return nil, "", ErrLoading
	case d.run != nil && d.run.turn.ID == id:
		return nil, "", ErrBusy
	case n == nil:
		return nil, "", ErrNothing
	case n.turn.Role != turn.RoleAssistant:
		return nil, "", errors.New("the state after a prompt waits for its answer: choose the answer")
	}
	return d.lookFrom(id), d.conv.Title, nil
}
