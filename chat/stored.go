package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rookery/chat/transfer"
	"rookery/chat/turn"
)

// foundAtMost is how many places a search gives.
const foundAtMost = 200

// Search finds turns that hold a text. It blocks.
func (k *Workspace) Search(ctx context.Context, query string) ([]turn.SearchHit, error) {
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	found, err := k.store.Search(ctx, query, foundAtMost)
	if err != nil {
		return nil, fmt.Errorf("searching for %q: %w", query, err)
	}
	return found, nil
}

// A coster is a Store that knows what conversations take on disk.
type coster interface {
	Cost(ctx context.Context, id turn.ID) (turn.Cost, error)
	Costs(ctx context.Context) (map[turn.ID]turn.Cost, error)
}

// ErrNoCost is the answer of a store that takes no disk.
var ErrNoCost = errors.New("conversations are kept in memory and take no disk")

// Cost is what a stored conversation takes on disk. It blocks.
func (k *Workspace) Cost(ctx context.Context, id turn.ID) (turn.Cost, error) {
	s, ok := k.store.(coster)
	if !ok {
		return turn.Cost{}, ErrNoCost
	}
	c, err := s.Cost(ctx, id)
	if err != nil {
		return turn.Cost{}, fmt.Errorf("the cost of conversation %d: %w", id, err)
	}
	return c, nil
}

// Costs is Cost of all stored conversations. It blocks.
func (k *Workspace) Costs(ctx context.Context) (map[turn.ID]turn.Cost, error) {
	s, ok := k.store.(coster)
	if !ok {
		return nil, ErrNoCost
	}
	costs, err := s.Costs(ctx)
	if err != nil {
		return nil, fmt.Errorf("the costs of conversations: %w", err)
	}
	return costs, nil
}

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
	like := k.settings().Conversation(k.engine.Model())
	p := transfer.Import{Like: &like}
	if err := p.Read(r, size); err != nil {
		return nil, err
	}
	return p.Commit(ctx, k.store)
}
