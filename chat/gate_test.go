package chat_test

import (
	"sync"

	"rookery/infer"
)

// A gate lets the engine's steps pass, all of them or one at a time.
type gate struct {
	mu    sync.Mutex
	steps chan struct{} // nil: open
	fail  error
	calls int // of before
}

func newGate() *gate { return &gate{} }

func (g *gate) before([]infer.Row) error {
	g.mu.Lock()
	steps, fail := g.steps, g.fail
	g.calls++
	g.mu.Unlock()
	if steps != nil {
		<-steps
	}
	return fail
}

// came is how many steps have come to the gate.
func (g *gate) came() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls
}

// shut lets no step pass but those allowed.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steps = make(chan struct{}, 100000)
}

func (g *gate) allow(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range n {
		g.steps <- struct{}{}
	}
}

// trickle allows one step, unless one that was allowed has not begun: however
// often it is called while a step takes its time, few follow what was seen.
func (g *gate) trickle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.steps != nil && len(g.steps) == 0 {
		g.steps <- struct{}{}
	}
}

// waits says that all steps that were allowed have begun.
func (g *gate) waits() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.steps) == 0
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.steps != nil {
		close(g.steps)
		g.steps = nil
	}
}

func (g *gate) failing(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail = err
}
