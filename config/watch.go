package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settleTime is how long a file must not change before it is read, because editors
// write in several steps.
const settleTime = 100 * time.Millisecond

// A Reload is the result of reading a changed file: a new configuration, or the error
// that keeps the old one.
type Reload struct {
	Config Config
	Err    error
}

// Watch reads path (DefaultPath if "") again whenever it changes, until ctx ends; then
// it closes the channel. It watches the directory and not the file, because editors
// replace files. If the directory does not exist yet, it watches the nearest one above.
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
	if err := watchNearest(w, filepath.Dir(path)); err != nil {
		return nil, joinClose(w, err)
	}
	out := make(chan Reload)
	go func() {
		defer close(out)
		defer func() { _ = w.Close() }() // the watch has ended either way
		followFile(ctx, w, path, named, out)
	}()
	return out, nil
}

// watchNearest watches a directory or, while it does not exist, the nearest one above
// it, in which it or a parent of it will be made.
func watchNearest(w *fsnotify.Watcher, dir string) error {
	missing := ""
	for at := dir; ; {
		err := w.Add(at)
		up := filepath.Dir(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && up != at:
			missing, at = at, up
		case err != nil:
			return fmt.Errorf("watching %s: %w", at, err)
		case at == dir || !fileExists(missing):
			return nil
		default: // made between the two checks, so there was no event
			at = dir
		}
	}
}

func joinClose(w *fsnotify.Watcher, err error) error {
	if cerr := w.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing the watch: %w)", err, cerr)
	}
	return err
}

func followFile(ctx context.Context, w *fsnotify.Watcher, path, named string, out chan<- Reload) {
	timer := time.NewTimer(settleTime)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-w.Events:
			if !ok {
				return
			}
			switch {
			case ev.Name == path:
				timer.Reset(settleTime)
			case ev.Has(fsnotify.Create) && strings.HasPrefix(path, ev.Name+string(filepath.Separator)):
				// A directory on the path to the file; it may hold the file already.
				if err := watchNearest(w, filepath.Dir(path)); err == nil && fileExists(path) {
					timer.Reset(settleTime)
				}
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			if !sendReload(ctx, out, Reload{Err: fmt.Errorf("watching the configuration: %w", err)}) {
				return
			}
		case <-timer.C:
			c, err := Load(named)
			if !sendReload(ctx, out, Reload{c, err}) {
				return
			}
		}
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sendReload(ctx context.Context, out chan<- Reload, r Reload) bool {
	select {
	case out <- r:
		return true
	case <-ctx.Done():
		return false
	}
}
