package ui

import (
	"context"
	"errors"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

// A workspace is what the interface needs of chat.Workspace. Everything that takes a
// context blocks and is called in commands only.
type workspace interface {
	Changes() <-chan struct{}
	Engine() chat.Engine
	Restore(ctx context.Context) (open []dialogue, active int, err error)
	New() dialogue
	Open(id turn.ID) dialogue
	CloseDialogue(d dialogue)
	SaveLayout(open []dialogue, active int)
	AddHistory(prompt string)
}

// A dialogue is chat.Dialogue. Its methods return at once.
type dialogue interface {
	ID() turn.ID
	View() chat.View
	Send(text string) error
	Stop()
	EditLast(text string) error
	ShowTurn(id turn.ID) error
	EditTurn(id turn.ID, text string) error
	EditAnswer(id turn.ID, text string, goOn bool) error
	SetSystem(text string) error
}

// chatWorkspace gives chat.Workspace the shape of workspace.
type chatWorkspace struct {
	*chat.Workspace
	first *chat.Dialogue // shown first, beside what was open; may be nil
}

func (k chatWorkspace) Restore(ctx context.Context) ([]dialogue, int, error) {
	open, active, err := restoreTabs(ctx, k.Workspace, k.first)
	all := make([]dialogue, len(open))
	for i, d := range open {
		all[i] = d
	}
	return all, active, err
}

// restoreTabs opens what was open and shows first, which may be nil, beside it.
func restoreTabs(ctx context.Context, w *chat.Workspace, first *chat.Dialogue) (open []*chat.Dialogue, active int, err error) {
	open, active, err = w.Restore(ctx)
	if first != nil {
		if len(open) == 1 && len(open[0].View().Turns) == 0 && open[0].View().Err == nil {
			w.CloseDialogue(open[0]) // it was opened for want of another one
			open = nil
		}
		active = len(open)
		open = append(open, first)
	}
	return open, active, err
}

func (k chatWorkspace) New() dialogue            { return k.Workspace.New() }
func (k chatWorkspace) Open(id turn.ID) dialogue { return k.Workspace.Open(id) }

func (k chatWorkspace) CloseDialogue(d dialogue) {
	if c, ok := d.(*chat.Dialogue); ok {
		k.Workspace.CloseDialogue(c)
	}
}

func (k chatWorkspace) SaveLayout(open []dialogue, active int) {
	all := make([]*chat.Dialogue, 0, len(open))
	for _, d := range open {
		if c, ok := d.(*chat.Dialogue); ok {
			all = append(all, c)
		}
	}
	k.Workspace.SaveLayout(all, active)
}

// modelOf is what the workspace's engine runs, or nil.
func modelOf(k workspace) *infer.Model {
	if e := k.Engine(); e != nil {
		return e.Model()
	}
	return nil
}

// errOpening is the answer of a tab whose conversation is not there yet.
var errOpening = errors.New("the conversations are still being opened; try again in a moment")

// opening is the dialogue of the first tab until the workspace has been restored.
type opening struct{}

func (opening) ID() turn.ID                            { return 0 }
func (opening) View() chat.View                        { return chat.View{Loading: true} }
func (opening) Send(string) error                      { return errOpening }
func (opening) Stop()                                  {}
func (opening) EditLast(string) error                  { return errOpening }
func (opening) ShowTurn(turn.ID) error                 { return errOpening }
func (opening) EditTurn(turn.ID, string) error         { return errOpening }
func (opening) EditAnswer(turn.ID, string, bool) error { return errOpening }
func (opening) SetSystem(string) error                 { return errOpening }
