package ui

import (
	"context"
	"errors"
	"io"

	"rookery/chat"
	"rookery/chat/transfer"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/sampler"
)

// A workspace is what the interface needs of chat.Workspace. Everything that takes a
// context blocks and is called in commands only.
type workspace interface {
	Changes() <-chan struct{}
	Engine() chat.Engine
	Restore(ctx context.Context) (open []dialogue, active int, err error)
	New() dialogue
	Open(id turn.ID) dialogue
	Fork(d dialogue, turnID turn.ID, n int) ([]dialogue, error)
	CloseDialogue(d dialogue)
	SaveLayout(open []dialogue, active int)
	List(ctx context.Context) ([]turn.Conversation, error)
	Search(ctx context.Context, query string) ([]turn.SearchHit, error)
	SetTitle(ctx context.Context, id turn.ID, title string) error
	SetPinned(ctx context.Context, id turn.ID, pinned bool) error
	SetArchived(ctx context.Context, id turn.ID, archived bool) error
	MoveToBin(ctx context.Context, id turn.ID) error
	RestoreFromBin(ctx context.Context, id turn.ID) error
	EmptyBin(ctx context.Context) (removed int, err error)
	ExportTree(ctx context.Context, w io.Writer, id turn.ID, f transfer.Format, states bool) error
	Import(ctx context.Context, r io.ReaderAt, size int64) ([]transfer.Result, error)
	Delete(ctx context.Context, id turn.ID) error
	AddHistory(prompt string)
	States(ctx context.Context) ([]turn.State, error)
	ParseMix(ctx context.Context, text string) (turn.Mix, error)
	adapterWorkspace
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
	Best(n int) error
	SendBest(text string, n int) error
	ChooseAlternatives(keep []turn.ID, drop bool) error
	SetSystem(text string) error
	SetSampling(p sampler.Params, preset string) error
	SetThink(m turn.ThinkMode) error
	SetMix(m turn.Mix) error
	SetAdapter(a turn.Adapter) error
	RecentDistribution() *chat.Distribution
	NextDistribution(ctx context.Context) (*chat.Distribution, error)
	SetTitle(title string) error
}

// An adapterWorkspace knows the adapters.
type adapterWorkspace interface {
	Adapters(ctx context.Context) ([]turn.RegisteredAdapter, error)
	TakeAdapter(ctx context.Context, name string, o adapter.Options) (turn.Adapter, error)
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

func (k chatWorkspace) Fork(d dialogue, id turn.ID, n int) ([]dialogue, error) {
	c, ok := d.(*chat.Dialogue)
	if !ok {
		return nil, errOpening
	}
	forks, err := k.Workspace.Fork(c, id, n)
	all := make([]dialogue, len(forks))
	for i, f := range forks {
		all[i] = f
	}
	return all, err
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

func (k chatWorkspace) States(ctx context.Context) ([]turn.State, error) {
	return k.Library().List(ctx)
}

func (k chatWorkspace) Adapters(ctx context.Context) ([]turn.RegisteredAdapter, error) {
	return k.Workspace.Adapters().List(ctx)
}

func (k chatWorkspace) TakeAdapter(ctx context.Context, name string, o adapter.Options) (turn.Adapter, error) {
	return k.Workspace.Adapters().Find(ctx, name, o)
}

// model is what the workspace's engine runs, or nil.
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

func (opening) ID() turn.ID                              { return 0 }
func (opening) View() chat.View                          { return chat.View{Loading: true} }
func (opening) Send(string) error                        { return errOpening }
func (opening) Stop()                                    {}
func (opening) EditLast(string) error                    { return errOpening }
func (opening) ShowTurn(turn.ID) error                   { return errOpening }
func (opening) SetSystem(string) error                   { return errOpening }
func (opening) SetSampling(sampler.Params, string) error { return errOpening }
func (opening) SetThink(turn.ThinkMode) error            { return errOpening }
func (opening) SetTitle(string) error                    { return errOpening }
func (opening) SetMix(turn.Mix) error                    { return errOpening }
func (opening) SetAdapter(turn.Adapter) error            { return errOpening }
func (opening) RecentDistribution() *chat.Distribution   { return nil }
func (opening) NextDistribution(context.Context) (*chat.Distribution, error) {
	return nil, errOpening
}
func (opening) EditTurn(turn.ID, string) error           { return errOpening }
func (opening) EditAnswer(turn.ID, string, bool) error   { return errOpening }
func (opening) Best(int) error                           { return errOpening }
func (opening) SendBest(string, int) error               { return errOpening }
func (opening) ChooseAlternatives([]turn.ID, bool) error { return errOpening }
