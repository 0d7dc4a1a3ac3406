package infer

import "time"

// Stats describe the engine now and over the last seconds.
type Stats struct {
	Backend          string
	Rows, Waiting    int // requests with a slot; requests in line
	Slots            int
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
