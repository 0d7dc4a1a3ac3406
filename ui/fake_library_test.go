package ui

import (
	"context"
	"errors"
	"io/fs"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
)

// fakeLibrary is a library in memory that records what it is asked.
type fakeLibrary struct {
	states []turn.State
	recipe library.Recipe // the last one baked
	bake   func(ctx context.Context, progress func(infer.Progress)) error
	calls  []string
}

func (l *fakeLibrary) States(context.Context) ([]turn.State, error) { return l.states, nil }

func (l *fakeLibrary) State(_ context.Context, id turn.ID) (turn.State, error) {
	for _, s := range l.states {
		if s.ID == id {
			return s, nil
		}
	}
	return turn.State{}, fs.ErrNotExist
}

func (l *fakeLibrary) NewFrom(s turn.State) (dialogue, error) {
	if s.ModelName == "other" {
		return nil, errors.New("it is of other")
	}
	d := newFake(5000+s.ID, "")
	d.v.Base, d.v.Conversation.Base = s.Name, s.ID
	return d, nil
}

func (l *fakeLibrary) Bake(ctx context.Context, r library.Recipe, progress func(infer.Progress)) (turn.State, error) {
	l.recipe = r
	if l.bake != nil {
		if err := l.bake(ctx, progress); err != nil {
			return turn.State{}, err
		}
	}
	s := turn.State{ID: 9000, Read: 1234}
	s.Name = r.Name
	return s, nil
}

func (l *fakeLibrary) ImportState(_ context.Context, path string) (turn.State, error) {
	l.calls = append(l.calls, "import "+path)
	s := turn.State{}
	s.Name = "imported"
	return s, nil
}

func (l *fakeLibrary) RenameState(_ context.Context, id turn.ID, name string) error {
	l.calls = append(l.calls, "rename "+id.String()+" "+name)
	return nil
}

func (l *fakeLibrary) DeleteState(_ context.Context, s turn.State) error {
	l.calls = append(l.calls, "delete "+s.Name)
	return nil
}

func (d *fakeDialogue) SaveState(_ context.Context, id turn.ID, name string) (turn.State, error) {
	err := d.did("keep %d %q", id, name)
	s := turn.State{}
	s.Name = name
	return s, err
}

func (d *fakeDialogue) Drift(context.Context) ([]chat.Drift, string, error) {
	return d.drift, d.v.Base, d.did("drift")
}
