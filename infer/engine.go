package infer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rookery/infer/grammar"
)

// Options tune an Engine. The zero value is right.
type Options struct {
	Chunk int // prompt tokens of all rows together in one step; 0 chooses
	// Resident bounds the memory of resident states, in bytes, on a backend that
	// takes memory for a slot when it is first used; 0 is 256 MiB. A backend that
	// allocates the whole pool has no bound. Less than 0 is no resident state.
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
	// vocabulary is the model's as grammars need it, made when the first one does.
	vocabulary func() *grammar.Vocabulary

	mu        sync.Mutex
	submitted []*sequence // not yet seen by the engine goroutine
	calls     []func()    // for the engine goroutine to do between two steps
	closed    bool
	closeErr  error
	// adapterNames are the names of all adapters that were ever loaded, by fingerprint.
	adapterNames map[string]string

	// The fields below belong to the engine goroutine.
	device       device
	adapters     map[string]*backendAdapter // by fingerprint
	logitsKeeper LogitsKeeper               // the backend if it is one, or nil
	waiting      []*sequence                // for a slot, in the order of submission
	// maxMembers is the most members of a mix that the backend draws for; 0 if it
	// is no Mixer.
	maxMembers int
	running    []*sequence // with a slot
	pool       pool
	pace       pace
	plan       plan
	readbacks  *readbacks
}

// NewEngine starts the engine goroutine. The engine owns b from now on and closes
// it.
func NewEngine(m *Model, b Backend, o Options) *Engine {
	e := &Engine{
		model:    m,
		name:     b.Name(),
		slots:    b.Slots(),
		tokens:   b.MaxTokens(),
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		device:   device{b},
		adapters: map[string]*backendAdapter{}, adapterNames: map[string]string{},
		pool: newPool(b.Slots(), residentLimit(m, b, o.Resident)),
		pace: pace{fixed: max(o.Chunk, 0)},
	}
	e.vocabulary = sync.OnceValue(func() *grammar.Vocabulary { return grammar.NewVocabulary(m.Tokenizer) })
	e.logitsKeeper, _ = b.(LogitsKeeper)
	if m, ok := b.(Mixer); ok {
		e.maxMembers = m.MaxMembers()
	}
	e.monitor.snapshots = new(atomic.Int64)
	e.monitor.observeMemory(b.Memory())
	e.monitor.observeSlots(e.pool.kinds())
	e.readbacks = newReadbacks(e, b)
	go e.stepUntilClosed()
	return e
}

// defaultResident is the default of Options.Resident.
const defaultResident = 256 << 20

// residentLimit is how many slots may be resident; bytes is Options.Resident.
func residentLimit(m *Model, b Backend, bytes int64) int {
	one := m.Shape.StateBytes()
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

// Submit queues a request. It fails at once for a snapshot of another model (a
// *MismatchError), invalid parameters, tokens out of range, nothing to read or
// continue from, and a closed engine (ErrClosed). Requests beyond the number of
// slots wait.
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
	q := newSequence(e.model, r, e.wakeUp)
	if err := q.beginGrammar(&r, e.vocabulary); err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	e.submitted = append(e.submitted, q)
	e.mu.Unlock()
	e.wakeUp()
	return q.stream, nil
}

// Logits reads tokens from the zero state and returns the logits after the last
// one, one for each row of the vocabulary.
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

// Close cancels all requests, waits for their endings and closes the backend.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.wakeUp()
	<-e.done
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closeErr
}

// wakeUp wakes the engine goroutine if it sleeps. It never blocks.
func (e *Engine) wakeUp() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// stepUntilClosed is the engine goroutine. It steps while any request has a slot
// and sleeps otherwise.
func (e *Engine) stepUntilClosed() {
	defer close(e.done)
	for {
		calls, closing := e.collectSubmitted()
		if closing {
			break
		}
		for _, do := range calls {
			do()
		}
		e.readbacks.settle()
		e.endCancelled()
		e.admitWaiting()
		e.running = slices.DeleteFunc(e.running, ended)
		e.reportQueue()
		switch {
		case len(e.running) > 0:
			e.step()
			e.running = slices.DeleteFunc(e.running, ended)
		default: // nothing to do, or requests that wait for a readback to free a slot
			<-e.wake
		}
	}
	for _, q := range append(e.waiting, e.running...) {
		e.cancelRequest(q)
	}
	e.waiting, e.running = nil, nil
	e.readbacks.awaitAll()
	e.readbacks.close()
	e.reportQueue()
	err := e.device.Close()
	e.mu.Lock()
	e.closeErr = err
	e.mu.Unlock()
}

func ended(q *sequence) bool { return q.phase >= phaseSaving }

// collectSubmitted moves submitted requests to the waiting ones. It returns the
// calls to make and whether to close.
func (e *Engine) collectSubmitted() (calls []func(), closing bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, e.submitted...)
	clear(e.submitted)
	e.submitted = e.submitted[:0]
	calls, e.calls = e.calls, nil
	return calls, e.closed
}

// endCancelled ends the requests that were cancelled.
func (e *Engine) endCancelled() {
	for _, qs := range [][]*sequence{e.waiting, e.running} {
		for _, q := range qs {
			if q.stream.cancelled.Load() {
				e.cancelRequest(q)
			}
		}
	}
	e.waiting = slices.DeleteFunc(e.waiting, ended)
	e.running = slices.DeleteFunc(e.running, ended)
}

// admitWaiting gives slots to waiting requests, the first one first.
func (e *Engine) admitWaiting() {
	for len(e.waiting) > 0 {
		q := e.waiting[0]
		ok, err := e.admitSequence(q)
		if !ok {
			return
		}
		e.waiting = slices.Delete(e.waiting, 0, 1)
		e.running = append(e.running, q)
		if err == nil {
			err = e.beginSequence(q)
		}
		if err != nil {
			e.failRequest(q, err)
		}
	}
}

// takeSlot takes a free or resident slot, or else that of a checkpoint.
func (e *Engine) takeSlot() (Slot, bool) {
	if s, ok := e.pool.take(); ok {
		return s, true
	}
	for _, q := range e.running {
		if q.checkpoint.hasSlot {
			q.checkpoint.hasSlot = false
			return q.checkpoint.slot, true
		}
	}
	return 0, false
}

// reportWithoutEnded is reportQueue without the sequences that have ended and are
// still among the running ones.
func (e *Engine) reportWithoutEnded() {
	e.monitor.observeQueue(slices.DeleteFunc(slices.Clone(e.running), ended), len(e.waiting))
}

// reportQueue tells the monitor which requests run and how many wait.
func (e *Engine) reportQueue() {
	e.monitor.observeSlots(e.pool.kinds())
	if e.monitor.observeQueue(e.running, len(e.waiting)) {
		e.monitor.observeMemory(e.device.Memory())
	}
}

// step runs one step and hands its results to the requests.
func (e *Engine) step() {
	for _, q := range e.running {
		q.takeSampling()
		e.takeAdapter(q)
		q.loseLogits()
	}
	p := &e.plan
	p.planStep(e.running, e.tokens, &e.pace)
	start := time.Now()
	err := e.device.Step(p.rows, p.drawn[:len(p.rows)])
	at := span{start, time.Now()}
	if err == nil {
		e.pace.observe(p.prompt, p.decoding, at.end.Sub(start))
		e.monitor.observeStep(p, at)
	} else {
		e.pool.evictAll() // what a failed step left in the slots is not known
	}
	for i, q := range p.owners {
		if q == nil {
			continue
		}
		problem := err
		if problem == nil {
			q.noteLogits(i, p.rows[i])
			problem = e.advanceSequence(q, len(p.rows[i].Tokens), p.drawn[i], at)
		}
		if problem != nil {
			e.failRequest(q, problem)
		}
	}
	p.clear()
}
