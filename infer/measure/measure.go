package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
)

// warmUp is how many steps run before each series without being counted.
const warmUp = 3

// A Series is the result of repeated runs of one kind of step.
type Series struct {
	Rows   int       // sequences in each step
	Tokens int       // tokens of each row in each step
	Rates  []float64 // tokens a second of all rows, one for each run, sorted
	// Of single steps over all runs.
	P50, P95, P99 time.Duration
	// Bytes is how many bytes of weights a step read on average, if the
	// backend counts them; otherwise 0.
	Bytes float64
}

// A counter is a backend that reports how many bytes its last step read.
type counter interface{ StepBytes() int64 }

// Median is the median of the rates.
func (s Series) Median() float64 { return s.Rates[len(s.Rates)/2] }

// A Plan says how many runs to measure and how long they are.
type Plan struct {
	Runs int // series of steps
	// Steps in each run; 0 chooses as many as take about Time.
	Steps int
	// Time is how long a run should take; 0 is a second.
	Time time.Duration
	// Adapter is the adapter of all rows.
	Adapter infer.AdapterID
}

// steps is how many steps a run has if one step takes that long.
func (p Plan) steps(one time.Duration) int {
	if p.Steps > 0 {
		return p.Steps
	}
	whole := p.Time
	if whole <= 0 {
		whole = time.Second
	}
	return max(1, int(whole/max(one, time.Microsecond)))
}

// Decode measures steps in which every row reads the token that it drew last.
func Decode(ctx context.Context, b infer.Backend, vocab, rows int, p Plan) (Series, error) {
	batch, err := newBatch(b, vocab, rows, 1, p.Adapter)
	if err != nil {
		return Series{}, err
	}
	return batch.series(ctx, p)
}

// Prefill measures reading a prompt of n tokens in one row, in as many steps as the
// backend needs, and drawing a token after the last.
func Prefill(ctx context.Context, b infer.Backend, vocab, n int, p Plan) (Series, error) {
	batch, err := newBatch(b, vocab, 1, n, p.Adapter)
	if err != nil {
		return Series{}, err
	}
	if p.Steps == 0 {
		p.Steps = 1
	}
	return batch.series(ctx, p)
}

// A batch is the rows of a series of steps.
type batch struct {
	b      infer.Backend
	rows   []infer.Row
	drawn  []infer.Drawn
	tokens int
	prompt []int32
	read   int64 // bytes, since the warm-up
	steps  int   // likewise
}

func newBatch(b infer.Backend, vocab, rows, tokens int, adapter infer.AdapterID) (*batch, error) {
	if rows < 1 || rows > b.Slots() || rows > b.MaxTokens() {
		return nil, fmt.Errorf("%d rows: this backend takes 1 to %d", rows, min(b.Slots(), b.MaxTokens()))
	}
	if tokens < 1 {
		return nil, fmt.Errorf("a prompt of %d tokens: at least 1 is needed", tokens)
	}
	x := &batch{b: b, tokens: tokens, rows: make([]infer.Row, rows), drawn: make([]infer.Drawn, rows), prompt: make([]int32, tokens)}
	for i := range x.prompt {
		x.prompt[i] = int32((i*7919 + 1) % vocab)
	}
	for i := range x.rows {
		slot := infer.Slot(i)
		if err := b.ZeroSlot(slot); err != nil {
			return nil, err
		}
		x.rows[i] = infer.Row{Slot: slot, Adapter: adapter, Sampler: sampler.New(vocab, sampler.Params{
			Temperature: 1, TopP: 0.5, Presence: 0.4, Frequency: 0.4, Decay: 0.996, Seed: uint64(i),
		})}
		x.drawn[i].Token = int32((i + 1) % vocab)
	}
	return x, nil
}

func (x *batch) series(ctx context.Context, p Plan) (Series, error) {
	first, err := x.step(ctx, warmUp)
	if err != nil {
		return Series{}, err
	}
	p.Steps = p.steps(first[len(first)-1])
	x.read, x.steps = 0, 0
	s := Series{Rows: len(x.rows), Tokens: x.tokens}
	var all []time.Duration
	for range max(1, p.Runs) {
		start := time.Now()
		times, err := x.step(ctx, p.Steps)
		if err != nil {
			return Series{}, err
		}
		s.Rates = append(s.Rates, float64(p.Steps*len(x.rows)*x.tokens)/time.Since(start).Seconds())
		all = append(all, times...)
	}
	slices.Sort(s.Rates)
	slices.Sort(all)
	s.Bytes = float64(x.read) / float64(x.steps)
	s.P50, s.P95, s.P99 = all[len(all)/2], all[len(all)*95/100], all[len(all)*99/100]
	return s, nil
}

// step runs n steps and returns how long each took.
func (x *batch) step(ctx context.Context, n int) ([]time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := x.once(); err != nil {
			return nil, err
		}
		times[i] = time.Since(start)
	}
	return times, nil
}

func (x *batch) once() error {
	if x.tokens == 1 {
		for i := range x.rows {
			r := &x.rows[i]
			r.Tokens = append(r.Tokens[:0], x.drawn[i].Token)
		}
		return x.run(x.rows)
	}
	s := x.rows[0].Sampler
	for rest := x.prompt; len(rest) > 0; {
		n := min(len(rest), x.b.MaxTokens())
		row := infer.Row{Slot: x.rows[0].Slot, Adapter: x.rows[0].Adapter, Tokens: rest[:n]}
		if rest = rest[n:]; len(rest) == 0 {
			row.Sampler = s
		}
		if err := x.run([]infer.Row{row}); err != nil {
			return err
		}
	}
	return nil
}

func (x *batch) run(rows []infer.Row) error {
	if err := x.b.Step(rows, x.drawn[:len(rows)]); err != nil {
		return err
	}
	x.steps++
	if c, ok := x.b.(counter); ok {
		x.read += c.StepBytes()
	}
	for i, r := range rows {
		if r.Sampler != nil {
			r.Sampler.Observe(x.drawn[i].Token)
		}
	}
	return nil
}
