package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"rookery/chat/library"
	"rookery/infer"
)

// A host is what answers are made with: an engine, and the adapters on it.
type host struct {
	engine   Engine
	adapters *library.AdapterRegistry
}

// A SecondModel is another model, with an engine of its own, that answers beside the
// conversations' in comparisons. It is given back when nobody holds it any
// more: who got it from Workspace.LoadSecondModel does, and so does every comparison that it
// takes part in, until one of the answers is chosen or the conversation goes
// on otherwise. Conversations never go on with a second model: they read what it said.
type SecondModel struct {
	host
	path  string
	close func() error
	of    *secondModels

	holders int // under of.mu
}

// Name is what people call the model.
func (g *SecondModel) Name() string { return g.engine.Model().Name }

// Model is the model.
func (g *SecondModel) Model() *infer.Model { return g.engine.Model() }

// Path is the model's file; empty is the embedded one.
func (g *SecondModel) Path() string { return g.path }

// Adapters is the adapters that can be used on the second model.
func (g *SecondModel) Adapters() *library.AdapterRegistry { return g.adapters }

// A ModelOpener loads the model of a file, "" for the embedded one, and starts
// an engine for it. progress may be called from another goroutine.
type ModelOpener func(ctx context.Context, path string, progress func(done, total int64)) (Opened, error)

// An Opened model is what a second model is made of.
type Opened struct {
	Engine   Engine
	Close    func() error          // gives back all that it took
	Adapters library.AdapterOpener // reads adapters for it; nil: it has none
	BuiltIn  []string              // adapters that come with it
}

// secondModels are the other models that are there.
type secondModels struct {
	loading chan struct{} // 1 slot, taken while one is loaded
	open    ModelOpener

	mu      sync.Mutex
	here    map[string]*SecondModel // by path
	leaving chan struct{}           // closed when all that were let go are gone; nil: none was
	closed  bool
	err     error // of one that was given back
}

// ErrNoSecondModels says that a workspace cannot load other models.
var ErrNoSecondModels = errors.New("other models cannot be loaded here: compare them with `rookery compare`")

// errGuestLeft says that a second model was let go.
var errGuestLeft = errors.New("its model is no longer loaded: compare again")

// UseModels says how other models are loaded for comparisons. It is called
// before anything is opened.
func (k *Workspace) UseModels(open ModelOpener) { k.secondModels.open = open }

// LoadSecondModel loads another model, or gives the one that is loaded already; the
// caller releases it. It blocks. One is loaded at a time, and not before those
// that were let go have given back what they had. Close ends it.
func (k *Workspace) LoadSecondModel(ctx context.Context, path string, progress func(done, total int64)) (*SecondModel, error) {
	s := &k.secondModels
	if s.open == nil {
		return nil, ErrNoSecondModels
	}
	if g, _, err := s.find(path); g != nil || err != nil {
		return g, err // without waiting for another one that is being loaded
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(k.closing, cancel)()
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g, leaving, err := s.find(path)
	if g != nil || err != nil {
		return g, err
	}
	if leaving != nil {
		select {
		case <-leaving:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	o, err := s.open(ctx, path, progress)
	if err != nil {
		return nil, err
	}
	adapters := library.NewAdapterRegistry(o.Engine, k.store, o.Adapters, o.BuiltIn)
	g = &SecondModel{host: host{o.Engine, adapters}, path: path, close: o.Close, of: s, holders: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here == nil {
		s.here = map[string]*SecondModel{}
	}
	s.here[path] = g
	return g, nil
}

// find is the second model that is there already, with one holder more; if there is
// none, what closes when all that were let go are gone.
func (s *secondModels) find(path string) (g *SecondModel, leaving chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, infer.ErrClosed
	}
	if g = s.here[path]; g != nil {
		g.holders++
	}
	return g, s.leaving, nil
}

// SecondModelBytes is the memory that the other models take, adapters among it.
func (k *Workspace) SecondModelBytes(ctx context.Context) (int64, error) {
	s := &k.secondModels
	s.mu.Lock()
	here := slices.Collect(maps.Values(s.here))
	s.mu.Unlock()
	var sum int64
	for _, g := range here {
		m := g.engine.Stats().Memory
		adapters, err := g.adapters.Bytes(ctx)
		if err != nil && !errors.Is(err, infer.ErrClosed) { // it is just leaving
			return sum, err
		}
		sum += m.Weights + m.States + m.Scratch + adapters
	}
	return sum, nil
}

// Retain is one holder more; it is false for a second model that was let go.
func (g *SecondModel) Retain() bool {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if g.holders == 0 {
		return false
	}
	g.holders++
	return true
}

// Release is one holder less. It returns at once; the last one lets the second model
// go.
func (g *SecondModel) Release() {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if g.holders == 0 {
		return // the workspace was closed
	}
	if g.holders--; g.holders == 0 {
		g.of.letGo(g)
	}
}

// letGo gives back what a second model has, after those before it. The caller holds mu.
func (s *secondModels) letGo(g *SecondModel) {
	g.holders = 0
	delete(s.here, g.path)
	before, gone := s.leaving, make(chan struct{})
	s.leaving = gone
	go func() {
		defer close(gone)
		if before != nil {
			<-before
		}
		if err := g.close(); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.err = errors.Join(s.err, fmt.Errorf("closing %s: %w", g.Name(), err))
		}
	}()
}

// shut lets all go and waits for them, and for what is being loaded to be given
// up. None is loaded after it.
func (s *secondModels) shut() error {
	s.loading <- struct{}{}
	s.mu.Lock()
	s.closed = true
	for _, g := range s.here {
		s.letGo(g)
	}
	leaving := s.leaving
	s.mu.Unlock()
	if leaving != nil {
		<-leaving
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// hostOf is what answers are made with, of a second model or, without one, the
// conversations' own.
func (k *Workspace) hostOf(g *SecondModel) host {
	if g != nil {
		return g.host
	}
	return k.host
}

// host is what the answer is made with.
func (a *answer) host() host { return a.d.workspace.hostOf(a.settings.second) }

// model is the one that answers.
func (a *answer) model() *infer.Model { return a.host().engine.Model() }

// invite holds the second models among variants, or none of them.
func invite(variants []Variant) ([]*SecondModel, error) {
	var held []*SecondModel
	for i := range variants {
		g := variants[i].Model
		if g == nil {
			continue
		}
		if !g.Retain() {
			dismiss(held)
			return nil, fmt.Errorf("variant %q: %w", variants[i].Name, errGuestLeft)
		}
		held = append(held, g)
	}
	return held, nil
}

// dismiss releases second models.
func dismiss(held []*SecondModel) {
	for _, g := range held {
		g.Release()
	}
}
