package kernel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A Pool is the threads that share the work of one model. A region is a number
// of chunks that any thread may claim; it ends when all chunks are done, not
// when all threads have come by, so that a helper which another program keeps
// off its core costs nothing unless it is stopped inside a chunk. Where that
// happens again and again, regions are run by the caller alone for a while.
//
// A pool's methods are called by one goroutine at a time. That goroutine works
// too: a pool of n threads has n-1 helpers. Between regions helpers spin for
// some microseconds, then yield to the operating system, then park; a parked
// pool uses no processor time, and waking it costs the caller nothing, for the
// caller starts on the chunks at once. Each running helper occupies one of the
// GOMAXPROCS processors, so a program that must answer meanwhile wants one
// more of these than the pool has threads. Helpers are not tied to threads of
// the operating system: they never block in it except to yield.
type Pool struct {
	path          Path
	threads       int
	scratch       [][]float32             // for each worker: one block of widened weights
	jobs          []job                   // Multiply's
	each          func(i int)             // Run's
	multiply, run func(worker, chunk int) // bodies of the two kinds of region
	born          time.Time               // where the clock of the crowd begins
	crowd         crowd

	body   func(worker, chunk int)
	_      [cacheLine]byte
	state  atomic.Uint64 // generation, number of chunks, next chunk
	_      [cacheLine]byte
	done   atomic.Int64
	_      [cacheLine]byte
	parked atomic.Int32
	failed atomic.Pointer[chunkPanic]

	wake    chan struct{}
	closed  atomic.Bool
	helpers sync.WaitGroup
}

// NewPool starts a pool; threads below 1 means one for each processor that Go
// may use. Close it to end its helpers.
func NewPool(path Path, threads int) *Pool {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = min(threads, maxThreads)
	p := &Pool{path: path, threads: threads, wake: make(chan struct{}, threads), born: time.Now()}
	p.multiply = p.multiplyChunk
	p.run = func(_, i int) { p.each(i) }
	p.scratch = make([][]float32, threads)
	for i := range p.scratch {
		p.scratch[i] = make([]float32, blockCols*PanelRows)
	}
	for i := 1; i < threads; i++ {
		p.helpers.Add(1)
		go p.help(i)
	}
	return p
}

// Path is the kernels the pool runs.
func (p *Pool) Path() Path { return p.path }

// Threads is the number of threads, the caller's included.
func (p *Pool) Threads() int { return p.threads }

// Run calls f(0) to f(n-1), shared between the threads, and returns when all
// are done. If a call panics, Run panics in the caller's goroutine after the
// other chunks are done. f should be made once and reused: a new closure for
// every call is garbage.
func (p *Pool) Run(n int, f func(i int)) {
	p.each = f
	p.parallel(n, p.run)
	p.each = nil
}

// Close ends the helpers. The pool must be idle.
func (p *Pool) Close() {
	if p.closed.Swap(true) {
		return
	}
	close(p.wake)
	p.helpers.Wait()
}

// The state word: 24 bits of generation, 20 of the number of chunks, 20 of the
// next chunk.
const (
	chunkBits  = 20
	chunkMask  = 1<<chunkBits - 1
	maxThreads = 1024
	maxChunks  = chunkMask - maxThreads // claims beyond the last must not carry
)

// left says whether a state has chunks to claim.
func left(state uint64) bool { return state&chunkMask < state>>chunkBits&chunkMask }

func (p *Pool) parallel(n int, body func(worker, chunk int)) {
	if n > maxChunks {
		panic(fmt.Sprintf("kernel: a region of %d chunks", n))
	}
	start := time.Since(p.born)
	if p.threads == 1 || n <= 1 || p.crowd.alone(start) {
		for i := range n {
			body(0, i)
		}
		return
	}
	p.body = body
	p.done.Store(0)
	generation := p.state.Load()>>(2*chunkBits) + 1
	p.state.Store(generation<<(2*chunkBits) | uint64(n)<<chunkBits)
	for range p.parked.Load() {
		select {
		case p.wake <- struct{}{}:
		default: // as many wakes are pending as there are helpers
		}
	}
	for p.claim(0) {
	}
	p.await(int64(n), start)
	if f := p.failed.Swap(nil); f != nil {
		panic(f.String())
	}
}

// await waits until n chunks are done. The caller has worked since start.
func (p *Pool) await(n int64, start time.Duration) {
	for range spins {
		if p.done.Load() == n {
			return
		}
	}
	wait := time.Since(p.born)
	for p.done.Load() != n {
		relinquish()
	}
	now := time.Since(p.born)
	if late := now - wait; late > max(longWait, wait-start) {
		p.crowd.stalled(now, late)
	}
}

const (
	spins  = 2000             // some microseconds: longer than most gaps between regions
	linger = time.Millisecond // that a helper yields before it parks

	// longWait is more than chunks of unequal size explain: a helper has been
	// stopped inside one.
	longWait = time.Millisecond
)

// claim does one chunk, if one is left.
func (p *Pool) claim(worker int) bool {
	if !left(p.state.Load()) {
		return false
	}
	v := p.state.Add(1)
	chunk := int(v&chunkMask) - 1
	if chunk >= int(v>>chunkBits&chunkMask) {
		return false
	}
	p.do(worker, chunk)
	return true
}

func (p *Pool) do(worker, chunk int) {
	defer p.finish()
	p.body(worker, chunk)
}

// finish counts a chunk, done or panicked.
func (p *Pool) finish() {
	if r := recover(); r != nil {
		p.failed.CompareAndSwap(nil, &chunkPanic{r, debug.Stack()})
	}
	p.done.Add(1)
}

// help is a helper's life.
func (p *Pool) help(worker int) {
	defer p.helpers.Done()
	idle, since := 0, time.Time{}
	for !p.closed.Load() {
		idle++
		switch {
		case p.claim(worker):
			idle = 0
		case idle == spins:
			since = time.Now()
		case idle > spins && time.Since(since) > linger:
			p.park()
			idle = 0
		case idle > spins:
			relinquish()
		}
	}
}

// relinquish lets another thread have the core. Each call of it is a point
// where the runtime can stop the goroutine, which is why it is not inlined: a
// thread that is seldom anywhere but in the system call could not be stopped
// there, and would hold up whoever stops the world, and with it all others,
// one of which may have the chunk that is waited for. runtime.Gosched would do
// it too, but where processors of Go's are idle it wakes a thread for one of
// them, which then takes this goroutine over: at every yield.
//
//go:noinline
func relinquish() { osYield() }

// park sleeps until there is work. It announces itself first and looks again,
// so that no region is missed.
func (p *Pool) park() {
	p.parked.Add(1)
	defer p.parked.Add(-1)
	if left(p.state.Load()) {
		return
	}
	<-p.wake
}

// A crowd decides when other programs want the cores so much that waiting for
// helpers costs more than they bring. After a stall the caller works alone for
// some times as long as it has waited, so that stalls cost a bounded share of
// the time. Pauses grow where stalls come one soon after the other, and a
// single stall is soon forgotten.
type crowd struct {
	pause, until time.Duration // the last pause, and its end on the pool's clock
}

const (
	pauseShare  = 4                      // a first pause is so many times the wait
	pauseGrowth = 2                      // of pauses, while stalls come sooner than the pause was long
	mostPause   = 250 * time.Millisecond // then helpers are tried again
)

// alone says that helpers are left out at a moment.
func (c *crowd) alone(now time.Duration) bool {
	return now < c.until
}

// stalled counts a wait that ended at a moment.
func (c *crowd) stalled(now, late time.Duration) {
	pause := pauseShare * late
	if c.pause > 0 && now-c.until < c.pause {
		pause = max(pause, pauseGrowth*c.pause)
	}
	c.pause = min(pause, mostPause)
	c.until = now + c.pause
}

// A chunkPanic is what a chunk panicked with, and where.
type chunkPanic struct {
	value any
	stack []byte
}

func (c *chunkPanic) String() string { return fmt.Sprintf("%v\n\nin a worker:\n%s", c.value, c.stack) }
