package config

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be left alone before it is read: editors
// write in several steps.
const settle = 100 * time.Millisecond

// A Reload is the outcome of reading a changed file: a new configuration, or
// why the old one stays.
type Reload struct {
	Config Config
	Err    error
}

// Watch reads path (DefaultPath if empty) again whenever it changes, until ctx
// ends. The directory is watched rather than the file, because editors replace
// files. The channel is closed at the end.
func Watch(ctx context.Context, path string) (<-chan Reload, error) {
	named := path
	if path == "" {
		path = DefaultPath()
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("watching the configuration: %w", err)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching the configuration: %w", err)
	}
	if err := w.Add(filepath.Dir(path)); err != nil {
		return nil, errJoinClose(w, fmt.Errorf("watching %s: %w", filepath.Dir(path), err))
	}
	out := make(chan Reload)
	go func() {
		defer close(out)
		defer func() { _ = w.Close() }() // the watch has ended either way
		follow(ctx, w, path, named, out)
	}()
	return out, nil
}

func errJoinClose(w *fsnotify.Watcher, err error) error {
	if cerr := w.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing the watch: %w)", err, cerr)
	}
	return err
}

func follow(ctx context.Context, w *fsnotify.Watcher, path, named string, out chan<- Reload) {
	timer := time.NewTimer(settle)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-w.Events:
			if !ok {
				return
			}
			if ev.Name == path {
				timer.Reset(settle)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			if !send(ctx, out, Reload{Err: fmt.Errorf("watching the configuration: %w", err)}) {
				return
			}
		case <-timer.C:
			c, err := Load(named)
			if !send(ctx, out, Reload{c, err}) {
				return
			}
		}
	}
}

func send(ctx context.Context, out chan<- Reload, r Reload) bool {
	select {
	case out <- r:
		return true
	case <-ctx.Done():
		return false
	}
}
