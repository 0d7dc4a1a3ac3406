package infer

import "slices"

// A readout is a state on its way from a slot to a snapshot. The slot is in
// use until the readout has ended.
type readout struct {
	slot    Slot
	into    *Snapshot // gets its State
	err     error
	done    chan struct{} // closed when into or err is complete
	publish func()        // called right after that, if there is no error, by whoever reads
	then    func()        // called by the engine goroutine after done; puts the slot right
}

// Readouts are those under way. Where the backend lets them, they are done on
// a goroutine of their own: a state may be 34 MB, and no step shall wait for
// it. Otherwise the engine's goroutine does them.
type readouts struct {
	device  device
	side    SideReader // nil: the engine's goroutine reads
	monitor *monitor
	values  int           // of a state
	jobs    chan *readout // room for every slot
	gone    chan struct{}
	rouse   func() // wakes the engine
	pending []*readout
}

func newReadouts(e *Engine, b Backend) *readouts {
	r := &readouts{device: e.device, monitor: &e.monitor, values: e.model.Shape.StateLen(), rouse: e.rouse}
	if r.side, _ = b.(SideReader); r.side != nil {
		r.jobs, r.gone = make(chan *readout, max(e.slots, 1)), make(chan struct{})
		go r.loop()
	}
	return r
}

// start begins a readout.
func (r *readouts) start(out *readout) {
	out.done = make(chan struct{})
	r.pending = append(r.pending, out)
	if r.side != nil {
		r.jobs <- out
		return
	}
	r.read(out, r.device.ReadSlot)
}

// loop reads, one slot after the other.
func (r *readouts) loop() {
	defer close(r.gone)
	for out := range r.jobs {
		r.read(out, r.readBeside)
		r.rouse()
	}
}

func (r *readouts) readBeside(s Slot, dst []float32) (err error) {
	defer caught(&err, "saving a state")
	return r.side.ReadSlotBeside(s, dst)
}

func (r *readouts) read(out *readout, read func(Slot, []float32) error) {
	state := r.monitor.newState(r.values)
	if out.err = read(out.slot, state); out.err == nil {
		out.into.State = state
	}
	close(out.done)
	if out.err == nil {
		out.publish()
	}
}

// settle puts the slots right that have been read.
func (r *readouts) settle() {
	for len(r.pending) > 0 {
		select {
		case <-r.pending[0].done:
			r.finish(0)
		default:
			return
		}
	}
}

// await waits for one readout.
func (r *readouts) await(out *readout) {
	<-out.done
	if i := slices.Index(r.pending, out); i >= 0 {
		r.finish(i)
	}
}

// awaitAll waits for all of them.
func (r *readouts) awaitAll() {
	for len(r.pending) > 0 {
		r.await(r.pending[0])
	}
}

// finish takes a readout out of the pending ones and hands it over, which may
// start others.
func (r *readouts) finish(i int) {
	out := r.pending[i]
	r.pending = slices.Delete(r.pending, i, i+1)
	out.then()
}

// close ends the goroutine; nothing may be pending.
func (r *readouts) close() {
	if r.side != nil {
		close(r.jobs)
		<-r.gone
	}
}
