package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/statefile"
)

// An adapterEngine is an Engine whose requests can use adapters.
type adapterEngine interface {
	LoadAdapter(ctx context.Context, a *adapter.Adapter, merged bool) error
	DropAdapter(ctx context.Context, fingerprint string) error
	Adapters(ctx context.Context) ([]infer.LoadedAdapter, error)
}

// An AdapterRegistry knows the adapters that conversations can use. Its methods
// block and are safe for concurrent use.
type AdapterRegistry struct {
	store   turn.Store
	engine  Engine
	open    AdapterOpener
	builtIn []string

	loading sync.Mutex // held while one is read and loaded
	mu      sync.Mutex
	known   map[string]turn.Adapter // by fingerprint
}

// An AdapterOpener reads an adapter for the model in use: of a file, or, with
// an empty path, one that comes with the program, by its name.
type AdapterOpener func(ctx context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error)

// NewAdapterRegistry is the adapters of a store; engine may be nil where none
// is loaded, and open where none can be read.
func NewAdapterRegistry(e Engine, s turn.Store, open AdapterOpener, builtIn []string) *AdapterRegistry {
	r := &AdapterRegistry{store: s, engine: e, known: map[string]turn.Adapter{}}
	r.Use(open, builtIn)
	return r
}

// Use says how adapters are read, and which come with the program. It is
// called before any is looked for.
func (r *AdapterRegistry) Use(open AdapterOpener, builtIn []string) {
	if open == nil {
		open = func(_ context.Context, path, _ string, _ adapter.Options) (*adapter.Adapter, error) {
			return nil, fmt.Errorf("%s: %w", path, infer.ErrNoAdapters)
		}
	}
	r.open, r.builtIn = open, builtIn
}

// List is all adapters that are known, by name and strength: loaded ones,
// those of the store, and those that come with the program.
func (r *AdapterRegistry) List(ctx context.Context) ([]turn.RegisteredAdapter, error) {
	all, err := r.knownAdapters(ctx)
	if err != nil {
		return nil, err
	}
	loaded, err := r.loadedAdapters(ctx)
	if err != nil {
		return nil, err
	}
	var list []turn.RegisteredAdapter
	for fingerprint, a := range all {
		l := turn.RegisteredAdapter{Adapter: a}
		if i := slices.IndexFunc(loaded, func(l infer.LoadedAdapter) bool { return l.Fingerprint == fingerprint }); i >= 0 {
			l.Loaded = &loaded[i]
		}
		list = append(list, l)
	}
	for _, name := range r.builtIn {
		own := turn.Adapter{Name: name}
		if !slices.ContainsFunc(list, func(l turn.RegisteredAdapter) bool { return l.SameFile(own) && l.Strength() == 1 }) {
			list = append(list, turn.RegisteredAdapter{Adapter: own})
		}
	}
	slices.SortFunc(list, compareRegistered)
	return list, nil
}

// knownAdapters are those of the store and those loaded since, by fingerprint.
func (r *AdapterRegistry) knownAdapters(ctx context.Context) (map[string]turn.Adapter, error) {
	stored, err := r.store.Adapters(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the adapters: %w", err)
	}
	all := map[string]turn.Adapter{}
	for _, a := range stored {
		if a.Path != "" || slices.Contains(r.builtIn, a.Name) {
			all[a.Fingerprint] = a
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(all, r.known)
	return all, nil
}

func (r *AdapterRegistry) loadedAdapters(ctx context.Context) ([]infer.LoadedAdapter, error) {
	e, ok := r.engine.(adapterEngine)
	if !ok {
		return nil, nil
	}
	return e.Adapters(ctx)
}

// Bytes is what the loaded adapters take beside the weights.
func (r *AdapterRegistry) Bytes(ctx context.Context) (int64, error) {
	loaded, err := r.loadedAdapters(ctx)
	var sum int64
	for _, l := range loaded {
		sum += l.Bytes
	}
	return sum, err
}

// isLoaded says whether the engine has an adapter.
func (r *AdapterRegistry) isLoaded(ctx context.Context, fingerprint string) (bool, error) {
	loaded, err := r.loadedAdapters(ctx)
	return slices.ContainsFunc(loaded, func(l infer.LoadedAdapter) bool { return l.Fingerprint == fingerprint }), err
}

// Load reads an adapter of a file, or with an empty path one that comes with
// the program, gives it to the engine and remembers it. What the file does not
// say is asked for by an *adapter.QuestionError.
func (r *AdapterRegistry) Load(ctx context.Context, path, name string, o adapter.Options, merged bool) (turn.Adapter, error) {
	return r.load(ctx, turn.Adapter{Name: name, Path: path, Options: o, Merged: merged})
}

// load is Load of a; if a has a fingerprint, what is read must have it too.
func (r *AdapterRegistry) load(ctx context.Context, a turn.Adapter) (turn.Adapter, error) {
	e, ok := r.engine.(adapterEngine)
	if !ok {
		return turn.Adapter{}, infer.ErrNoAdapters
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	read, err := r.read(ctx, &a)
	if err != nil {
		return turn.Adapter{}, err
	}
	if err := e.LoadAdapter(ctx, read, a.Merged); err != nil {
		return turn.Adapter{}, err
	}
	if read.HasState {
		if a.State, err = r.addState(ctx, a); err != nil {
			return turn.Adapter{}, err
		}
	}
	return a, r.remember(ctx, a)
}

// addState adds the tuned state in an adapter's file to the library, when the file is
// loaded for the first time, and returns its name. A state that has the name already
// stays.
func (r *AdapterRegistry) addState(ctx context.Context, a turn.Adapter) (string, error) {
	all, err := r.knownAdapters(ctx)
	if err != nil {
		return "", err
	}
	for _, known := range all {
		if known.Path == a.Path {
			return "", nil
		}
	}
	s, err := New(r.store, nil).Import(ctx, a.Path, "", statefile.Options{WithoutOffset: true}, r.engine.Model())
	if errors.Is(err, turn.ErrNameTaken) {
		return "", nil
	}
	return s.Name, err
}

// read opens the file of a and completes a by what is in it.
func (r *AdapterRegistry) read(ctx context.Context, a *turn.Adapter) (*adapter.Adapter, error) {
	if a.Path != "" {
		path, err := filepath.Abs(a.Path)
		if err != nil {
			return nil, fmt.Errorf("adapter %s: %w", a.Path, err)
		}
		a.Path = path
	}
	if a.Strength() == 1 {
		a.Options.Strength = 0 // the same by its other name
	}
	read, err := r.open(ctx, a.Path, a.Name, a.Options)
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.Fingerprint != "":
		return nil, &LostAdapterError{
			How: fmt.Sprintf("whose file %s is gone", a.Path), WayOut: "put it back",
			Err: fmt.Errorf("the file of adapter %s is gone (%w): put it back, or choose another adapter, or none", a.Title(), err),
		}
	case err != nil:
		return nil, err
	case a.Fingerprint != "" && a.Fingerprint != read.Fingerprint:
		return nil, &LostAdapterError{
			How: fmt.Sprintf("whose file %s has changed since", a.Path), WayOut: "put the old one back",
			Err: fmt.Errorf("%s has changed since it was used: choose the adapter again", a.Path),
		}
	}
	a.Fingerprint, a.Name, a.Used = read.Fingerprint, read.Name, time.Now()
	return read, nil
}

func (r *AdapterRegistry) remember(ctx context.Context, a turn.Adapter) error {
	a.State = ""
	r.mu.Lock()
	r.known[a.Fingerprint] = a
	r.mu.Unlock()
	if err := r.store.SaveAdapter(ctx, a); err != nil {
		return fmt.Errorf("remembering adapter %s: %w", a.Title(), err)
	}
	return nil
}

// Find looks an adapter up by name, with or without its strength, by
// fingerprint, or by its file, and loads it if it is not loaded. What o leaves
// open is as it was when the adapter was used last.
func (r *AdapterRegistry) Find(ctx context.Context, name string, o adapter.Options) (turn.Adapter, error) {
	a, unknown := r.findKnown(ctx, name)
	switch {
	case unknown == nil && o == (adapter.Options{}) && a.Fingerprint != "":
		return a, r.Need(ctx, a.Fingerprint)
	case unknown == nil:
		return r.load(ctx, a.WithOptions(o))
	case !errors.Is(unknown, fs.ErrNotExist):
		return turn.Adapter{}, unknown
	}
	a, err := r.Load(ctx, name, "", o, false)
	return a, explainMissing(name, err, unknown)
}

// FindAt is Find at a strength. At 0 an adapter that there is comes out as none.
func (r *AdapterRegistry) FindAt(ctx context.Context, name string, o adapter.Options, strength float32) (turn.Adapter, error) {
	switch strength {
	case 0:
		_, err := r.Read(ctx, name, o)
		return turn.Adapter{}, err
	case 1: // as Options has it
	default:
		o.Strength = strength
	}
	return r.Find(ctx, name, o)
}

// findKnown is the known adapter of a name.
func (r *AdapterRegistry) findKnown(ctx context.Context, name string) (turn.Adapter, error) {
	list, err := r.List(ctx)
	if err != nil {
		return turn.Adapter{}, err
	}
	return findAdapter(list, name)
}

// explainMissing says of an adapter that was looked for among the known ones and
// then as a file why it was not found, if neither is there.
func explainMissing(name string, err, unknown error) error {
	if unknown == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, there := os.Stat(name); there == nil {
		return err // another file is missing, such as that of --init
	}
	return fmt.Errorf("%w (nor is there such a file)", unknown)
}

// Need loads a known adapter, if it is not loaded.
func (r *AdapterRegistry) Need(ctx context.Context, fingerprint string) error {
	if fingerprint == "" {
		return nil
	}
	if loaded, err := r.isLoaded(ctx, fingerprint); loaded || err != nil {
		return err
	}
	all, err := r.knownAdapters(ctx)
	if err != nil {
		return err
	}
	a, ok := all[fingerprint]
	if !ok {
		return &LostAdapterError{
			How: "which is not known here", WayOut: "load its file",
			Err: errors.New("the adapter of this conversation is not known here: load it, choose another one, or none"),
		}
	}
	_, err = r.load(ctx, a)
	return err
}

// FindTitle is what people call an adapter; one that is not known is missed when
// it is needed.
func (r *AdapterRegistry) FindTitle(ctx context.Context, fingerprint string) string {
	if fingerprint == "" {
		return ""
	}
	all, err := r.knownAdapters(ctx)
	if a, ok := all[fingerprint]; ok && err == nil {
		return a.Title()
	}
	return "unknown adapter"
}
