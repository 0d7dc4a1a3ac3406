package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"rookery/infer"
	"rookery/infer/adapter"
)

// An Adapter is one that conversations can use: where it is, and what a person
// said about it that its file does not.
type Adapter struct {
	Fingerprint string // of the file and of Options
	Name        string
	Path        string // "" for one that comes with the program, by its name
	Options     adapter.Options
	Used        time.Time
}

// A Racked adapter is one of the rack.
type Racked struct {
	Adapter
	Loaded *infer.LoadedAdapter // nil: it is loaded when it is needed
}

// An adapterEngine is an Engine whose requests can use adapters.
type adapterEngine interface {
	LoadAdapter(ctx context.Context, a *adapter.Adapter, merged bool) error
	DropAdapter(ctx context.Context, fingerprint string) error
	Adapters(ctx context.Context) ([]infer.LoadedAdapter, error)
}

// A Rack is the adapters that are known. Its methods block and are safe for
// concurrent use.
type Rack struct {
	store   Store
	engine  Engine
	open    AdapterOpener
	builtIn []string

	mu    sync.Mutex // held while one is loaded
	known map[string]Adapter
}

// An AdapterOpener reads an adapter for the model in use: of a file, or, with
// an empty path, one that comes with the program, by its name.
type AdapterOpener func(ctx context.Context, path, name string, o adapter.Options) (*adapter.Adapter, error)

// Rack is the adapters that conversations can use.
func (k *Desk) Rack() *Rack { return k.rack }

// UseAdapters says how adapters are read, and which come with the program. It
// is called before anything is opened.
func (k *Desk) UseAdapters(open AdapterOpener, builtIn []string) {
	k.rack.open, k.rack.builtIn = open, builtIn
}

func newRack(e Engine, s Store) *Rack {
	return &Rack{
		store: s, engine: e, known: map[string]Adapter{},
		open: func(_ context.Context, path, _ string, _ adapter.Options) (*adapter.Adapter, error) {
			return nil, fmt.Errorf("%s: %w", path, infer.ErrNoAdapters)
		},
	}
}

// List is all adapters that are known by name: loaded ones, those of the
// store, and those that come with the program.
func (r *Rack) List(ctx context.Context) ([]Racked, error) {
	stored, err := r.store.Adapters(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the adapters: %w", err)
	}
	loaded, err := r.loaded(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	all := map[string]Adapter{}
	for _, a := range stored {
		all[a.Fingerprint] = a
	}
	for print, a := range r.known {
		all[print] = a
	}
	r.mu.Unlock()
	var list []Racked
	for print, a := range all {
		l := Racked{Adapter: a}
		if i := slices.IndexFunc(loaded, func(l infer.LoadedAdapter) bool { return l.Fingerprint == print }); i >= 0 {
			l.Loaded = &loaded[i]
		}
		list = append(list, l)
	}
	for _, name := range r.builtIn {
		if !slices.ContainsFunc(list, func(l Racked) bool { return l.Path == "" && l.Name == name }) {
			list = append(list, Racked{Adapter: Adapter{Name: name}})
		}
	}
	slices.SortFunc(list, func(a, b Racked) int {
		return strings.Compare(strings.ToLower(a.Name)+a.Fingerprint, strings.ToLower(b.Name)+b.Fingerprint)
	})
	return list, nil
}

func (r *Rack) loaded(ctx context.Context) ([]infer.LoadedAdapter, error) {
	e, ok := r.engine.(adapterEngine)
	if !ok {
		return nil, nil
	}
	return e.Adapters(ctx)
}

// Load reads an adapter of a file, or with an empty path one that comes with
// the program, gives it to the engine and remembers it. What the file does not
// say is asked for by an *adapter.QuestionError.
func (r *Rack) Load(ctx context.Context, path, name string, o adapter.Options, merged bool) (Adapter, error) {
	e, ok := r.engine.(adapterEngine)
	if !ok {
		return Adapter{}, infer.ErrNoAdapters
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	read, err := r.open(ctx, path, name, o)
	if err != nil {
		return Adapter{}, err
	}
	if err := e.LoadAdapter(ctx, read, merged); err != nil {
		return Adapter{}, err
	}
	a := Adapter{Fingerprint: read.Fingerprint, Name: read.Name, Path: path, Options: o, Used: time.Now()}
	if k := o.Strength; k != 0 && k != 1 {
		a.Name = fmt.Sprintf("%s × %.3g", read.Name, k)
	}
	r.known[a.Fingerprint] = a
	if err := r.store.SaveAdapter(ctx, a); err != nil {
		return a, fmt.Errorf("remembering adapter %s: %w", a.Name, err)
	}
	return a, nil
}

// Find looks an adapter up by name or fingerprint; what looks like a file is
// read as one. It is loaded if it is not.
func (r *Rack) Find(ctx context.Context, name string, o adapter.Options) (Adapter, error) {
	list, err := r.List(ctx)
	if err != nil {
		return Adapter{}, err
	}
	for _, l := range list {
		if l.Name != name && l.Fingerprint != name {
			continue
		}
		if l.Fingerprint == "" || o != (adapter.Options{}) {
			return r.Load(ctx, l.Path, strings.TrimSpace(strings.Split(l.Name, "×")[0]), o, false)
		}
		return l.Adapter, r.Need(ctx, l.Fingerprint)
	}
	a, err := r.Load(ctx, name, "", o, false)
	if errors.Is(err, fs.ErrNotExist) {
		return a, fmt.Errorf("there is no adapter %q, and no such file: `rookery adapters ls` lists them", name)
	}
	return a, err
}

// Need loads a known adapter, if it is not loaded.
func (r *Rack) Need(ctx context.Context, fingerprint string) error {
	if fingerprint == "" {
		return nil
	}
	loaded, err := r.loaded(ctx)
	if err != nil || slices.ContainsFunc(loaded, func(l infer.LoadedAdapter) bool { return l.Fingerprint == fingerprint }) {
		return err
	}
	a, err := r.named(ctx, fingerprint)
	if err != nil {
		return err
	}
	now, err := r.Load(ctx, a.Path, strings.TrimSpace(strings.Split(a.Name, "×")[0]), a.Options, false)
	if err == nil && now.Fingerprint != fingerprint {
		return fmt.Errorf("%s has changed since the conversation used it: choose the adapter again", a.Path)
	}
	return err
}

// named is what is known of a fingerprint.
func (r *Rack) named(ctx context.Context, fingerprint string) (Adapter, error) {
	r.mu.Lock()
	a, ok := r.known[fingerprint]
	r.mu.Unlock()
	if ok {
		return a, nil
	}
	stored, err := r.store.Adapters(ctx)
	if err != nil {
		return Adapter{}, fmt.Errorf("looking for an adapter: %w", err)
	}
	for _, a := range stored {
		if a.Fingerprint == fingerprint {
			return a, nil
		}
	}
	return Adapter{}, errors.New("the adapter of this conversation is not known any more: choose another one, or none")
}

// name is what people call an adapter; one that is not known is missed when
// it is needed.
func (r *Rack) name(ctx context.Context, fingerprint string) string {
	if fingerprint == "" {
		return ""
	}
	a, err := r.named(ctx, fingerprint)
	if err != nil {
		return "unknown adapter"
	}
	return a.Name
}

// Drop takes an adapter off the engine; it stays known. It is refused while
// answers use it.
func (r *Rack) Drop(ctx context.Context, fingerprint string) error {
	e, ok := r.engine.(adapterEngine)
	if !ok {
		return nil
	}
	return e.DropAdapter(ctx, fingerprint)
}

// Forget takes it off the engine and out of the list.
func (r *Rack) Forget(ctx context.Context, fingerprint string) error {
	if err := r.Drop(ctx, fingerprint); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.known, fingerprint)
	r.mu.Unlock()
	return r.store.ForgetAdapter(ctx, fingerprint)
}

// SetAdapter makes a loaded adapter, or with the zero Adapter none, the
// conversation's. It counts from the next token on, also of a running answer;
// what has been read stays as it was read.
func (d *Dialogue) SetAdapter(a Adapter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settable(); err != nil {
		return err
	}
	d.conv.Adapter, d.adapter = a.Fingerprint, a.Name
	for _, run := range d.following() {
		run.turn.Adapter, run.way.adapter = a.Name, a.Fingerprint
		if run.stream != nil {
			run.stream.SetAdapter(a.Fingerprint)
		}
	}
	d.saveHead()
	d.publish()
	return nil
}
