package infer

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// stepsKept is the number of last steps that the percentiles of Stats cover.
const stepsKept = 256

// A monitor gathers Stats. The engine goroutine holds its lock for a few
// assignments between steps and never during one. The caller of Engine.Stats does
// the rest of the work.
type monitor struct {
	snapshots *atomic.Int64 // bytes of states handed out and still alive

	mu              sync.Mutex
	active          []*Stream // of the running requests; immutable, replaced as a whole
	waiting         int
	memory          Memory
	kinds           SlotKinds
	wakes           Wakes
	prefill, decode meter
	took            [stepsKept]time.Duration
	steps           uint64
	rows            int
	read, generated uint64
	last            time.Time // end of the last step
	began           time.Time // when requests began to run after there was none
}

func (m *monitor) observeMemory(mem Memory) {
	m.mu.Lock()
	m.memory = mem
	m.mu.Unlock()
}

func (m *monitor) observeSlots(k SlotKinds) {
	m.mu.Lock()
	m.kinds = k
	m.mu.Unlock()
}

// observeWake counts a snapshot that a request goes on from.
func (m *monitor) observeWake(resident bool) {
	m.mu.Lock()
	if resident {
		m.wakes.Device++
	} else {
		m.wakes.Host++
	}
	m.mu.Unlock()
}

func (m *monitor) observeStep(p *plan, at span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took[m.steps%stepsKept] = at.end.Sub(at.start)
	m.steps++
	m.rows = len(p.rows)
	m.last = at.end
	if p.prompt > 0 {
		m.prefill.add(at, p.prompt)
		m.read += uint64(p.prompt)
	}
	if p.draws > 0 {
		m.decode.add(at, p.draws)
		m.generated += uint64(p.draws)
	}
}

// observeQueue notes which requests run and how many wait, and says whether other
// ones run than before.
func (m *monitor) observeQueue(running []*sequence, waiting int) (changed bool) {
	same := func(s *Stream, q *sequence) bool { return s == q.stream }
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = waiting
	if slices.EqualFunc(m.active, running, same) {
		return false
	}
	if len(m.active) == 0 {
		m.began = time.Now()
	}
	m.active = make([]*Stream, len(running))
	for i, q := range running {
		m.active[i] = q.stream
	}
	return true
}

// newState allocates a state, which counts as host memory for as long as it is
// reachable.
func (m *monitor) newState(values int) []float32 {
	state := make([]float32, values)
	if values == 0 {
		return state
	}
	bytes, total := int64(4*values), m.snapshots
	total.Add(bytes)
	runtime.AddCleanup(&state[0], func(n int64) { total.Add(-n) }, bytes)
	return state
}

// stats are the monitor's part of Stats at the time now.
func (m *monitor) stats(now time.Time) Stats {
	m.mu.Lock()
	if len(m.active) > 0 { // during a step, whose tokens do not count yet
		if now = m.last; now.Before(m.began) { // the first step of these requests
			now = m.began
		}
	}
	s := Stats{
		Rows:          len(m.active),
		Waiting:       m.waiting,
		PrefillRate:   m.prefill.rate(now),
		DecodeRate:    m.decode.rate(now),
		RowsInStep:    m.rows,
		Steps:         m.steps,
		Read:          m.read,
		Generated:     m.generated,
		Memory:        m.memory,
		Kinds:         m.kinds,
		Wakes:         m.wakes,
		SnapshotBytes: m.snapshots.Load(),
	}
	took, active := m.took, m.active
	m.mu.Unlock()

	sorted := took[:min(s.Steps, stepsKept)]
	slices.Sort(sorted)
	s.StepP50, s.StepP95 = percentile(sorted, 50), percentile(sorted, 95)
	for _, stream := range active {
		s.Requests = append(s.Requests, RequestStats{Label: stream.label, Progress: stream.Progress()})
	}
	return s
}

// percentile is the smallest of the sorted values that p % of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
