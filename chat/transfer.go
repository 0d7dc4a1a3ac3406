package chat

import (
	"context"
	"fmt"
	"io"

	"rookery/chat/transfer"
	"rookery/chat/turn"
)

// ExportTree writes a conversation with all its versions: as a bundle, with
// the states that are kept if they are wanted, or as JSON. What an open
// conversation has not saved yet is saved first. It blocks.
func (k *Workspace) ExportTree(ctx context.Context, w io.Writer, id turn.ID, f transfer.Format, states bool) error {
	k.mu.Lock()
	d := k.open[id]
	k.mu.Unlock()
	if d != nil {
		if d.View().Live != nil {
			return ErrBusy
		}
		if err := d.saver.Flush(ctx); err != nil {
			return fmt.Errorf("saving the conversation before it is exported: %w", err)
		}
	}
	t, err := transfer.LoadTree(ctx, k.store, id, states)
	if err != nil {
		return err
	}
	if f != transfer.Bundle {
		return transfer.Export(w, f, t.Conversation, t.Turns)
	}
	b := transfer.NewBundleWriter(w)
	if err := b.Add(t); err != nil {
		return err
	}
	return b.Close()
}

// Import stores what a file holds and is not stored yet. It blocks.
func (k *Workspace) Import(ctx context.Context, r io.ReaderAt, size int64) ([]transfer.Result, error) {
	var p transfer.Import
	if err := p.Read(r, size); err != nil {
		return nil, err
	}
	return p.Commit(ctx, k.store)
}
