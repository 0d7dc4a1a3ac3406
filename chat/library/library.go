package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/statefile"
)

// A Library is the states that conversations can begin from: those of a store
// and those that come with the program. Its methods block and are safe for
// concurrent use.
type Library struct {
	store   turn.Store
	builtIn func() ([]*statefile.State, error)
}

// New is that of a store. builtIn gives the states that come with the
// program, always in the same order; it may be nil.
func New(store turn.Store, builtIn func() ([]*statefile.State, error)) *Library {
	if builtIn == nil {
		builtIn = func() ([]*statefile.State, error) { return nil, nil }
	}
	return &Library{store: store, builtIn: builtIn}
}

// List is all states by name, those of the store first, without what they
// hold.
func (l *Library) List(ctx context.Context) ([]turn.State, error) {
	list, err := l.store.States(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the states: %w", err)
	}
	own, err := l.builtInStates()
	if err != nil {
		return nil, err
	}
	for _, s := range own {
		s.Snapshot, s.Tokens = nil, nil
		list = append(list, s)
	}
	return list, nil
}

// builtInStates are the states that come with the program.
func (l *Library) builtInStates() ([]turn.State, error) {
	states, err := l.builtIn()
	if err != nil {
		return nil, err
	}
	list := make([]turn.State, len(states))
	for i, s := range states {
		list[i] = turn.NewState(turn.ID(i+1), *s)
	}
	return list, nil
}

// Get is a state with all that belongs to it.
func (l *Library) Get(ctx context.Context, id turn.ID) (turn.State, error) {
	if id > turn.LastBuiltIn {
		return l.store.State(ctx, id)
	}
	own, err := l.builtInStates()
	if err != nil {
		return turn.State{}, err
	}
	for _, s := range own {
		if s.ID == id {
			return s, nil
		}
	}
	return turn.State{}, &turn.NoStateError{Name: id.String()}
}

// Find looks a state up by its name, as FindName does, or by its ID. What it holds
// is left out.
func (l *Library) Find(ctx context.Context, name string) (turn.State, error) {
	list, err := l.List(ctx)
	if err != nil {
		return turn.State{}, err
	}
	return FindState(list, name)
}

// FindState is Find in a list.
func FindState(list []turn.State, name string) (turn.State, error) {
	names := make([]string, len(list))
	for i, s := range list {
		if s.ID.String() == name {
			return s, nil
		}
		names[i] = s.Name
	}
	i, err := FindName("state", name, names)
	if err != nil {
		return turn.State{}, err
	}
	return list[i], nil
}

// Add keeps a state under its name.
func (l *Library) Add(ctx context.Context, s statefile.State) (turn.State, error) {
	name, err := l.CheckName(ctx, s.Name)
	if err != nil {
		return turn.State{}, err
	}
	s.Name = name
	if s.Created.IsZero() {
		s.Created = time.Now()
	}
	out := turn.NewState(l.chooseID(ctx, turn.ID(s.Key)), s)
	if err := l.store.SaveState(ctx, out); err != nil {
		return turn.State{}, fmt.Errorf("keeping the state %q: %w", name, err)
	}
	kept, err := l.store.States(ctx)
	if i := slices.IndexFunc(kept, func(s turn.State) bool { return s.ID == out.ID }); i >= 0 {
		out.Bytes = kept[i].Bytes // as it is stored
	}
	return out, err
}

// chooseID is the one that a state had in the library it was exported from, so that
// conversations that come from there find their beginning; a new one if that
// is taken.
func (l *Library) chooseID(ctx context.Context, had turn.ID) turn.ID {
	if had > turn.LastBuiltIn {
		if _, err := l.store.State(ctx, had); errors.Is(err, fs.ErrNotExist) {
			return had
		}
	}
	return turn.NewID()
}

// CheckName makes a name fit and refuses one that a state has.
func (l *Library) CheckName(ctx context.Context, name string) (string, error) {
	name, err := statefile.CleanName(name)
	if err != nil {
		return "", err
	}
	have, err := l.Find(ctx, name)
	switch {
	case err == nil && have.Name == name:
		return "", fmt.Errorf("%q: %w", name, turn.ErrNameTaken)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return name, nil
}

// Import reads a state from a file and keeps it, under the file's own name if
// name is empty. m is the model that it must fit and is kept for; nil leaves
// it open, and any model of its shape may begin from it.
func (l *Library) Import(ctx context.Context, path, name string, o statefile.Options, m *infer.Model) (turn.State, error) {
	s, err := statefile.Read(path, o)
	if err != nil {
		return turn.State{}, err
	}
	if name != "" {
		s.Name = name
	}
	if m != nil {
		if err := s.Check(m); err != nil {
			return turn.State{}, err
		}
		if s.Model == "" {
			s.Model, s.ModelName = m.Weights(), m.Name
		}
	}
	return l.Add(ctx, *s)
}

// Rename gives a state another name.
func (l *Library) Rename(ctx context.Context, id turn.ID, name string) error {
	if id <= turn.LastBuiltIn {
		return errBuiltIn("renamed")
	}
	have, err := l.store.State(ctx, id)
	if err != nil {
		return err
	}
	if name, err = statefile.CleanName(name); err != nil || name == have.Name {
		return err
	}
	if name, err = l.CheckName(ctx, name); err != nil {
		return err
	}
	return l.store.RenameState(ctx, id, name)
}

// Delete removes a state for good. One that stored conversations begin from
// is an *InUseError; see Workspace.DeleteState for those that are open.
func (l *Library) Delete(ctx context.Context, id turn.ID) error {
	if id <= turn.LastBuiltIn {
		return errBuiltIn("deleted")
	}
	return l.store.DeleteState(ctx, id)
}

func errBuiltIn(what string) error {
	return fmt.Errorf("a state that comes with the program cannot be %s", what)
}

// Fitting are the states of a list that conversations of a model can begin from.
func Fitting(list []turn.State, m *infer.Model) []turn.State {
	return slices.DeleteFunc(slices.Clone(list), func(s turn.State) bool { return s.Check(m) != nil })
}

// FindBase is what is known of a state that a conversation begins from. One that
// cannot be found is missed when it is needed.
func (l *Library) FindBase(ctx context.Context, id turn.ID) Base {
	if id == 0 {
		return Base{}
	}
	list, err := l.List(ctx)
	if err != nil {
		return Base{}
	}
	for _, s := range list {
		if s.ID == id {
			return BaseOf(&s)
		}
	}
	return Base{}
}
