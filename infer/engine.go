package infer

import (
	"context"
	"time"
)

// Options tune an Engine. The zero value is right.
type Options struct {
	Chunk int // prompt tokens of all rows together in one step; 0 chooses
}

// An Engine batches all running requests on one Backend.
type Engine struct{}

// NewEngine starts the engine goroutine. The engine owns b from here on and closes it.
func NewEngine(m *Model, b Backend, o Options) *Engine { return &Engine{} }

// Model is what the engine runs.
func (e *Engine) Model() *Model { return nil }

// Submit queues a request. It fails at once for a snapshot of another model
// (naming both), unusable parameters, tokens out of range or a closed engine.
// More requests than slots wait in line.
func (e *Engine) Submit(r Request) (*Stream, error) { return nil, nil }

// Logits reads tokens from the zero state and returns the logits after the last one.
func (e *Engine) Logits(ctx context.Context, tokens []int32) ([]float32, error) { return nil, nil }

// Stats are cheap and may be taken at any time.
func (e *Engine) Stats() Stats { return Stats{} }

// Close cancels what runs, waits for it and closes the backend.
func (e *Engine) Close() error { return nil }

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
	SnapshotBytes    int64 // host memory of snapshots handed out and still alive; 0 if unknown
	Requests         []RequestStats
}

// RequestStats describe one running request.
type RequestStats struct {
	Label string
	Progress
}
