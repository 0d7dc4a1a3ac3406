package ui

import (
	"context"
	"errors"
	"io/fs"

	"rookery/chat"
	"rookery/infer"
)

// fakeLibrary is a library in memory that records what it is asked.
type fakeLibrary struct {
	states []chat.State
	recipe chat.Recipe // the last one baked
	bake   func(ctx context.Context, progress func(infer.Progress)) error
	calls  []string
}

func (l *fakeLibrary) States(context.Context) ([]chat.State, error) { return l.states, nil }

func (l *fakeLibrary) State(_ context.Context, id chat.ID) (chat.State, error) {
	for _, s := range l.states {
		if s.ID == id {
			return s, nil
		}
	}
	return chat.State{}, fs.ErrNotExist
}

func (l *fakeLibrary) NewFrom(s chat.State) (dialogue, error) {
	if s.ModelName == "other" {
		return nil, errors.New("it is of other")
	}
	d := newFake(5000+s.ID, "")
	d.v.Base, d.v.Conversation.Base = s.Name, s.ID
	return d, nil
}

func (l *fakeLibrary) Bake(ctx context.Context, r chat.Recipe, progress func(infer.Progress)) (chat.State, error) {
	l.recipe = r
	if l.bake != nil {
		if err := l.bake(ctx, progress); err != nil {
			return chat.State{}, err
		}
	}
	s := chat.State{ID: 9000, Read: 1234}
	s.Name = r.Name
	return s, nil
}

func (l *fakeLibrary) ImportState(_ context.Context, path string) (chat.State, error) {
	l.calls = append(l.calls, "import "+path)
	s := chat.State{}
	s.Name = "imported"
	return s, nil
}

func (l *fakeLibrary) RenameState(_ context.Context, id chat.ID, name string) error {
	l.calls = append(l.calls, "rename "+id.String()+" "+name)
	return nil
}

func (l *fakeLibrary) DeleteState(_ context.Context, s chat.State) error {
	l.calls = append(l.calls, "delete "+s.Name)
	return nil
}

func (d *fakeDialogue) SaveState(_ context.Context, id chat.ID, name string) (chat.State, error) {
	err := d.did("keep %d %q", id, name)
	s := chat.State{}
	s.Name = name
	return s, err
}

func (d *fakeDialogue) Drift(context.Context) ([]chat.Drift, string, error) {
	return d.drift, d.v.Base, d.did("drift")
}
