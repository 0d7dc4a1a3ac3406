package infer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options tune an Engine. The zero value is right.
type Options struct {
	Chunk int // prompt tokens of all rows together in one step; 0 chooses
	// Resident is how many bytes slots may take with states that no request
	// uses now, where a backend takes memory for a slot when it is first used;
	// 0 is 256 MiB. Where the whole pool has its memory anyway, all of it may
	// be used. Less than 0 is none.
	Resident int64
}

// An Engine batches all running requests on one Backend.
type Engine struct {
	model   *Model
	name    string // of the backend
	slots   int
	tokens  int // the backend's MaxTokens
	wake    chan struct{}
	done    chan struct{} // closed when the goroutine has ended
	monitor monitor

	mu       sync.Mutex
	mail     []*sequence // submitted, not yet seen by the goroutine
	calls    []func()    // to be done by the goroutine between two steps
	closed   bool
	closeErr error
	// adapterNames are those of all adapters that were ever loaded, by fingerprint.
	adapterNames map[string]string

	// What follows belongs to the engine goroutine.
	device   device
	adapters map[string]*fitted // by fingerprint
	saver    LogitsKeeper       // the same backend if it keeps logits, or nil
	line     []*sequence        // waiting for a slot, first come first served
	// maxMembers is how many further states a mix may have for the backend to
	// draw; 0 if it is no Mixer.
	maxMembers int
	running    []*sequence // with a slot
	pool       pool
	pace       pace
	plan       plan
	outs       *readouts
}

// NewEngine starts the engine goroutine. The engine owns b from here on and closes it.
func NewEngine(m *Model, b Backend, o Options) *Engine {
	e := &Engine{
		model:    m,
		name:     b.Name(),
		slots:    b.Slots(),
		tokens:   b.MaxTokens(),
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		device:   device{b},
		adapters: map[string]*fitted{}, adapterNames: map[string]string{},
		pool: newPool(b.Slots(), residentLimit(m, b, o.Resident)),
		pace: pace{fixed: max(o.Chunk, 0)},
	}
	e.saver, _ = b.(LogitsKeeper)
	if m, ok := b.(Mixer); ok {
		e.maxMembers = m.MaxMembers()
	}
	e.monitor.snapshots = new(atomic.Int64)
	e.monitor.observeMemory(b.Memory())
	e.monitor.observeSlots(e.pool.kinds())
	e.outs = newReadouts(e, b)
	go e.run()
	return e
}

// defaultResident is the memory of resident states on a backend that takes
// memory for a slot when it is first used.
const defaultResident = 256 << 20

// residentLimit is how many slots may be resident.
func residentLimit(m *Model, b Backend, bytes int64) int {
	one := int64(4 * m.Shape.StateLen())
	switch {
	case bytes < 0 || one == 0:
		return 0
	case b.Memory().States > 0:
		return b.Slots()
	case bytes == 0:
		bytes = defaultResident
	}
	return int(min(bytes/one, int64(b.Slots())))
}

// Model is what the engine runs.
func (e *Engine) Model() *Model { return e.model }

// Submit queues a request. It fails at once for a snapshot of another model
// (a *MismatchError, naming both), unusable parameters, tokens out of range,
// nothing to read or continue from, or a closed engine. More requests than
// slots wait in line.
func (e *Engine) Submit(r Request) (*Stream, error) {
	if err := r.check(e.model); err != nil {
		return nil, err
	}
	if err := e.checkAdapter(&r); err != nil {
		return nil, err
	}
	if e.slots < 1 || e.tokens < 1 {
		return nil, fmt.Errorf("%s has no room for a single request: it needs a slot and a token a step", e.name)
	}
	q := newSequence(e.model, r, e.rouse)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	e.mail = append(e.mail, q)
	e.mu.Unlock()
	e.rouse()
	return q.stream, nil
}

// Logits reads tokens from the zero state and returns the logits after the last one.
func (e *Engine) Logits(ctx context.Context, tokens []int32) ([]float32, error) {
	s, err := e.Submit(Request{Tokens: tokens, Logits: true, Label: "logits"})
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		s.Cancel()
		return nil, ctx.Err()
	case <-s.Done():
	}
	end := s.Ending()
	switch {
	case end.Err != nil:
		return nil, end.Err
	case end.Reason == ReasonCancelled:
		return nil, ErrClosed
	}
	return slices.Clone(end.Snapshot.Logits), nil
}

// Close cancels what runs, waits for it and closes the backend.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.rouse()
	<-e.done
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closeErr
}

// rouse wakes the engine goroutine if it sleeps. It never blocks.
func (e *Engine) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run is the engine goroutine: it steps while there is anything to do, and
// sleeps otherwise.
func (e *Engine) run() {
	defer close(e.done)
	for {
		calls, closing := e.collect()
		if closing {
			break
		}
		for _, do := range calls {
			do()
		}
		e.outs.settle()
		e.reap()
		e.admit()
		e.running = slices.DeleteFunc(e.running, ended)
		e.report()
		switch {
		case len(e.running) > 0:
			e.step()
			e.running = slices.DeleteFunc(e.running, ended)
		default: // nothing, or what waits for a slot that is being read
			<-e.wake
		}
	}
	for _, q := range append(e.line, e.running...) {
		e.cancel(q)
	}
	e.line, e.running = nil, nil
	e.outs.awaitAll()
	e.outs.close()
	e.report()
	err := e.device.Close()
	e.mu.Lock()
	e.closeErr = err
	e.mu.Unlock()
}

func ended(q *sequence) bool { return q.phase >= phaseSaving }

// collect moves submitted requests into the line, and gives what was asked to
// be done and whether to close.
func (e *Engine) collect() (calls []func(), closing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line = append(e.line, e.mail...)
	clear(e.mail)
	e.mail = e.mail[:0]
	calls, e.calls = e.calls, nil
	return calls, e.closed
}

// reap ends what was cancelled.
func (e *Engine) reap() {
	for _, qs := range [][]*sequence{e.line, e.running} {
		for _, q := range qs {
			if q.stream.cancelled.Load() {
				e.cancel(q)
			}
		}
	}
	e.line = slices.DeleteFunc(e.line, ended)
	e.running = slices.DeleteFunc(e.running, ended)
}

// admit gives slots to the first in line.
func (e *Engine) admit() {
	for len(e.line) > 0 {
		q := e.line[0]
		ok, err := e.place(q)
		if !ok {
			return
		}
		e.line = slices.Delete(e.line, 0, 1)
		e.running = append(e.running, q)
		if err == nil {
			err = e.begin(q)
		}
		if err != nil {
			e.fail(q, err)
		}
	}
}

// takeSlot takes a free or resident slot, or else one that holds a mark.
func (e *Engine) takeSlot() (Slot, bool) {
	if s, ok := e.pool.take(); ok {
		return s, true
	}
	for _, q := range e.running {
		if q.mark.hasSlot {
			q.mark.hasSlot = false
			return q.mark.slot, true
		}
	}
	return 0, false
}

// reportWithoutEnded is report before who has ended is taken off.
func (e *Engine) reportWithoutEnded() {
	e.monitor.observeQueue(slices.DeleteFunc(slices.Clone(e.running), ended), len(e.line))
}

// report tells the monitor who runs and who waits.
func (e *Engine) report() {
	e.monitor.observeSlots(e.pool.kinds())
	if e.monitor.observeQueue(e.running, len(e.line)) {
		e.monitor.observeMemory(e.device.Memory())
	}
}

// step runs one step and lets every row's request take what came of it.
func (e *Engine) step() {
	for _, q := range e.running {
		q.takeSampling()
		e.takeAdapter(q)
		q.loseLogits()
	}
	p := &e.plan
	p.fill(e.running, e.tokens, &e.pace)
	start := time.Now()
	err := e.device.Step(p.rows, p.drawn[:len(p.rows)])
	at := span{start, time.Now()}
	if err == nil {
		e.pace.observe(p.prompt, p.decoding, at.end.Sub(start))
		e.monitor.observeStep(p, at)
	} else {
		e.pool.giveUpAll() // who knows what a failing device has left
	}
	for i, q := range p.owners {
		if q == nil {
			continue
		}
		problem := err
		if problem == nil {
			q.noteLogits(i, p.rows[i])
			problem = e.advance(q, len(p.rows[i].Tokens), p.drawn[i], at)
		}
		if problem != nil {
			e.fail(q, problem)
		}
	}
	p.clear()
}
