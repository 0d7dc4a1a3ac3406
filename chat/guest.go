package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"rookery/infer"
)

// A host is what answers are made with: an engine, and the adapters on it.
type host struct {
	engine Engine
	rack   *Rack
}

// A Guest is another model, with an engine of its own, that answers beside the
// conversations' in comparisons. It is given back when nobody holds it any
// more: who got it from Desk.Guest does, and so does every comparison that it
// takes part in, until one of the answers is chosen or the conversation goes
// on otherwise. Conversations never go on with a guest: they read what it said.
type Guest struct {
	host
	path  string
	close func() error
	of    *guests

	holders int // under of.mu
}

// Name is what people call the model.
func (g *Guest) Name() string { return g.engine.Model().Name }

// Model is the model.
func (g *Guest) Model() *infer.Model { return g.engine.Model() }

// Path is the model's file; empty is the embedded one.
func (g *Guest) Path() string { return g.path }

// Rack is the adapters that can be used on the guest.
func (g *Guest) Rack() *Rack { return g.rack }

// A GuestOpener loads the model of a file, "" for the embedded one, and starts
// an engine for it. progress may be called from another goroutine.
type GuestOpener func(ctx context.Context, path string, progress func(done, total int64)) (Opened, error)

// An Opened model is what a guest is made of.
type Opened struct {
	Engine   Engine
	Close    func() error  // gives back all that it took
	Adapters AdapterOpener // reads adapters for it; nil: it has none
	BuiltIn  []string      // adapters that come with it
}

// guests are the other models that are there.
type guests struct {
	loading chan struct{} // 1 slot, taken while one is loaded
	open    GuestOpener

	mu      sync.Mutex
	here    map[string]*Guest // by path
	leaving chan struct{}     // closed when all that were let go are gone; nil: none was
	closed  bool
	err     error // of one that was given back
}

// ErrNoGuests says that a desk cannot load other models.
var ErrNoGuests = errors.New("other models cannot be loaded here: compare them with `rookery compare`")

// errGuestLeft says that a guest was let go.
var errGuestLeft = errors.New("its model is no longer loaded: compare again")

// UseModels says how other models are loaded for comparisons. It is called
// before anything is opened.
func (k *Workspace) UseModels(open GuestOpener) { k.guests.open = open }

// Guest loads another model, or gives the one that is loaded already; the
// caller releases it. It blocks. One is loaded at a time, and not before those
// that were let go have given back what they had. Close ends it.
func (k *Workspace) Guest(ctx context.Context, path string, progress func(done, total int64)) (*Guest, error) {
	s := &k.guests
	if s.open == nil {
		return nil, ErrNoGuests
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
	rack := newRack(o.Engine, k.store)
	if o.Adapters != nil {
		rack = NewRack(o.Engine, k.store, o.Adapters, o.BuiltIn)
	}
	g = &Guest{host: host{o.Engine, rack}, path: path, close: o.Close, of: s, holders: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here == nil {
		s.here = map[string]*Guest{}
	}
	s.here[path] = g
	return g, nil
}

// find is the guest that is there already, with one holder more; if there is
// none, what closes when all that were let go are gone.
func (s *guests) find(path string) (g *Guest, leaving chan struct{}, err error) {
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

// GuestBytes is the memory that the other models take, adapters among it.
func (k *Workspace) GuestBytes(ctx context.Context) (int64, error) {
	s := &k.guests
	s.mu.Lock()
	here := slices.Collect(maps.Values(s.here))
	s.mu.Unlock()
	var sum int64
	for _, g := range here {
		m := g.engine.Stats().Memory
		adapters, err := g.rack.Bytes(ctx)
		if err != nil && !errors.Is(err, infer.ErrClosed) { // it is just leaving
			return sum, err
		}
		sum += m.Weights + m.States + m.Scratch + adapters
	}
	return sum, nil
}

// Hold is one holder more; it is false for a guest that was let go.
func (g *Guest) Hold() bool {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if g.holders == 0 {
		return false
	}
	g.holders++
	return true
}

// Release is one holder less. It returns at once; the last one lets the guest
// go.
func (g *Guest) Release() {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if g.holders == 0 {
		return // the desk was closed
	}
	if g.holders--; g.holders == 0 {
		g.of.letGo(g)
	}
}

// letGo gives back what a guest has, after those before it. The caller holds mu.
func (s *guests) letGo(g *Guest) {
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
func (s *guests) shut() error {
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

// hostOf is what answers are made with, of a guest or, without one, the
// conversations' own.
func (k *Workspace) hostOf(g *Guest) host {
	if g != nil {
		return g.host
	}
	return k.host
}

// host is what the answer is made with.
func (a *answer) host() host { return a.d.workspace.hostOf(a.way.guest) }

// model is the one that answers.
func (a *answer) model() *infer.Model { return a.host().engine.Model() }

// invite holds the guests among variants, or none of them.
func invite(variants []Variant) ([]*Guest, error) {
	var held []*Guest
	for i := range variants {
		g := variants[i].Model
		if g == nil {
			continue
		}
		if !g.Hold() {
			dismiss(held)
			return nil, fmt.Errorf("variant %q: %w", variants[i].Name, errGuestLeft)
		}
		held = append(held, g)
	}
	return held, nil
}

// dismiss releases guests.
func dismiss(held []*Guest) {
	for _, g := range held {
		g.Release()
	}
}
