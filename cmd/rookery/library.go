package main

import (
	"context"
	"errors"
	"io/fs"

	"rookery/chat/library"
	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/config"
	"rookery/infer/demo"
	"rookery/sessions"
)

// readStore opens the store for reading; a chat may be running. If nothing is stored
// yet, it returns an empty store.
func readStore(ctx context.Context, c config.Config) (turn.Store, error) {
	s, err := sessions.OpenReadOnly(ctx, c.Storage.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return memstore.New(), nil
	case err != nil:
		return nil, exitWith(exitStore, err)
	}
	return s, nil
}

// readLibrary opens the library of states for reading. If nothing is stored yet, it
// has the states that come with the program.
func readLibrary(ctx context.Context, c config.Config, use func(*library.Library) error) error {
	store, err := readStore(ctx, c)
	if err != nil {
		return err
	}
	return exitWith(exitStore, errors.Join(use(library.New(store, demo.States)), store.Close()))
}

// writeLibrary opens the library of states for writing.
func writeLibrary(ctx context.Context, c config.Config, use func(*library.Library) error) error {
	s, err := sessions.Open(ctx, c.Storage.DataDir)
	if err != nil {
		return exitWith(exitStore, err)
	}
	return errors.Join(use(library.New(s, demo.States)), s.Close())
}

// findState reads a state of the library by its name.
func findState(ctx context.Context, c config.Config, name string) (*turn.State, error) {
	var s turn.State
	err := readLibrary(ctx, c, func(l *library.Library) error {
		found, err := l.Find(ctx, name)
		if err == nil {
			s, err = l.Get(ctx, found.ID)
			s.Key = int64(s.ID)
		}
		return err
	})
	return &s, err
}
