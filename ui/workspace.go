package ui

import (
	"context"
	"errors"

	"rookery/chat"
	"rookery/infer"
)

// modelOf is what the workspace's engine runs, or nil.
func modelOf(w *chat.Workspace) *infer.Model {
	if e := w.Engine(); e != nil {
		return e.Model()
	}
	return nil
}

// errOpening is the answer of a tab whose conversation is not there yet.
var errOpening = errors.New("the conversations are still being opened; try again in a moment")

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
