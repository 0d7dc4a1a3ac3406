package main

import (
	"context"
	"errors"

	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/config"
)

// A borrowedStore is a store in memory that also has the states and adapters of
// another store. It never writes to the other store, which the caller must close.
type borrowedStore struct {
	*memstore.Store
	from turn.Store
}

// States implements turn.Store.
func (b borrowedStore) States(ctx context.Context) ([]turn.State, error) { return b.from.States(ctx) }

// State implements turn.Store.
func (b borrowedStore) State(ctx context.Context, id turn.ID) (turn.State, error) {
	return b.from.State(ctx, id)
}

// borrowStore opens the stored states and adapters for reading; a chat may be running.
func borrowStore(ctx context.Context, c config.Config) (borrowedStore, error) {
	b := borrowedStore{Store: memstore.New()}
	var err error
	if b.from, err = readStore(ctx, c); err != nil {
		return b, err
	}
	known, err := b.from.Adapters(ctx)
	for _, a := range known {
		err = errors.Join(err, b.SaveAdapter(ctx, a))
	}
	if err != nil {
		return b, exitWith(exitStore, errors.Join(err, b.from.Close()))
	}
	return b, nil
}

// adapterStore returns a store in memory with the adapters that the chat knows. The
// chat may be running.
func adapterStore(ctx context.Context, c config.Config) (turn.Store, error) {
	b, err := borrowStore(ctx, c)
	if err != nil {
		return nil, err
	}
	return b.Store, exitWith(exitStore, b.from.Close())
}
