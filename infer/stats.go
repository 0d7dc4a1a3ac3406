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
	SnapshotBytes    int64 // host memory of the states of snapshots that are still reachable
	Requests         []RequestStats
}

// SlotKinds count the slots by their use.
type SlotKinds struct {
	Running  int // in use by requests, their checkpoints and readbacks
	Resident int // with states of snapshots, evicted when a slot is needed
	Free     int
}

// Wakes count the snapshots that requests have gone on from since the start.
type Wakes struct {
	Device uint64 // the state was resident in a slot
	Host   uint64 // the state was written to a slot
}

// RequestStats describe one running request.
type RequestStats struct {
	Label string
	Progress
}

// Stats are cheap and wait for nothing.
func (e *Engine) Stats() Stats {
	s := e.monitor.stats(time.Now())
	s.Backend, s.Slots = e.name, e.slots
	return s
}
