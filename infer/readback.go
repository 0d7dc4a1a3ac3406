package infer

import "slices"

// A readback copies a state from its slot to a snapshot. The slot stays in use
// until the readback has ended.
type readback struct {
	slot    Slot
	into    *Snapshot // receives State
	err     error
	done    chan struct{} // closed when into or err is complete
	publish func()        // called after that, if there is no error, by the goroutine that read
	settle  func()        // called by the engine goroutine after done; it releases the slot
}

// readbacks are the readbacks under way. If the backend is a SideReader, a
// goroutine of their own does them: a state can have 34 MB, and no step should
// wait for it. Otherwise the engine goroutine does them.
type readbacks struct {
	device  device
	side    SideReader // nil: the engine goroutine reads
	monitor *monitor
	values  int            // of a state
	jobs    chan *readback // room for every slot
	gone    chan struct{}
	wakeUp  func() // wakes the engine
	pending []*readback
}

func newReadbacks(e *Engine, b Backend) *readbacks {
	r := &readbacks{device: e.device, monitor: &e.monitor, values: e.model.Shape.StateLen(), wakeUp: e.wakeUp}
	if r.side, _ = b.(SideReader); r.side != nil {
		r.jobs, r.gone = make(chan *readback, max(e.slots, 1)), make(chan struct{})
		go r.loop()
	}
	return r
}

// start begins a readback.
func (r *readbacks) start(out *readback) {
	out.done = make(chan struct{})
	r.pending = append(r.pending, out)
	if r.side != nil {
		r.jobs <- out
		return
	}
	r.read(out, r.device.ReadSlot)
}

// loop reads one slot after the other.
func (r *readbacks) loop() {
	defer close(r.gone)
	for out := range r.jobs {
		r.read(out, r.readBeside)
		r.wakeUp()
	}
}

func (r *readbacks) readBeside(s Slot, dst []float32) (err error) {
	defer caught(&err, "saving a state")
	return r.side.ReadSlotBeside(s, dst)
}

func (r *readbacks) read(out *readback, read func(Slot, []float32) error) {
	state := r.monitor.newState(r.values)
	if out.err = read(out.slot, state); out.err == nil {
		out.into.State = state
	}
	close(out.done)
	if out.err == nil {
		out.publish()
	}
}

// settle releases the slots that have been read.
func (r *readbacks) settle() {
	for len(r.pending) > 0 {
		select {
		case <-r.pending[0].done:
			r.finish(0)
		default:
			return
		}
	}
}

// await waits for one readback.
func (r *readbacks) await(out *readback) {
	<-out.done
	if i := slices.Index(r.pending, out); i >= 0 {
		r.finish(i)
	}
}

// awaitAll waits for all of them.
func (r *readbacks) awaitAll() {
	for len(r.pending) > 0 {
		r.await(r.pending[0])
	}
}

// finish removes a readback from the pending ones and settles it, which may
// start others.
func (r *readbacks) finish(i int) {
	out := r.pending[i]
	r.pending = slices.Delete(r.pending, i, i+1)
	out.settle()
}

// close ends the goroutine; nothing may be pending.
func (r *readbacks) close() {
	if r.side != nil {
		close(r.jobs)
		<-r.gone
	}
}
