package infer

import "time"

// Stats describe the engine now and over the last seconds.
type Stats struct {
	Backend          string
	Rows, Waiting    int // requests with a slot; requests in line
	Slots            int
	Kinds            SlotKinds // of Slots
	Wakes            Wakes
	PrefillRate      float64 // tokens a second over the last second
	DecodeRate       float64
	StepP50, StepP95 time.Duration // over the last 256 steps
	RowsInStep       int           // of the last step
	Steps            uint64
	Read, Generated  uint64 // tokens since start
	Memory           Memory
	SnapshotBytes    int64 // host memory of states in snapshots handed out and still alive
	Requests         []RequestStats
}

// SlotKinds count the slots by what they hold.
type SlotKinds struct {
	Running  int // states of requests, marks among them
	Resident int // states of snapshots, given up when a slot is needed
	Free     int
}

// Wakes count the snapshots that requests went on from, since the start.
type Wakes struct {
	Device uint64 // their state was still in a slot
	Host   uint64 // it was written to one
}

// RequestStats describe one running request.
type RequestStats struct {
	Label string
	Progress
}

// Stats are cheap and may be taken at any time.
func (e *Engine) Stats() Stats {
	s := e.monitor.stats(time.Now())
	s.Backend, s.Slots = e.name, e.slots
	return s
}
