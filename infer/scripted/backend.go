package scripted

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"rookery/infer"
)

// Options say how the fake behaves. The zero value has 8 slots, 256 tokens a step, no
// answers and no delay.
type Options struct {
	Slots     int
	MaxTokens int
	Answers   []Answer
	Cue       string // the end of a prompt that an answer follows; "" is DefaultCue
	// Before is called at the beginning of every step. It may sleep, wait for a
	// channel, look at the rows, panic, or return the step's error.
	Before func(rows []infer.Row) error
}

// Slow is a Before that sleeps, for a steady token rate.
func Slow(step time.Duration) func([]infer.Row) error {
	return func([]infer.Row) error {
		time.Sleep(step)
		return nil
	}
}

// Backend is the fake.
type Backend struct {
	model   *infer.Model
	options Options
	script  script
	slots   []state
	salts   map[infer.AdapterID]uint64 // of the adapters that are loaded, see Adapted
	seen    []bool                     // of the step's slots
	logits  []float32
	busy    atomic.Bool
	closed  atomic.Bool
}

// New makes a fake for a model of Model or ModelWith.
func New(m *infer.Model, o Options) *Backend {
	if o.Slots == 0 {
		o.Slots = 8
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = 256
	}
	b := &Backend{
		model:   m,
		options: o,
		script:  newScript(m.Tokenizer, o.Cue, o.Answers),
		slots:   make([]state, o.Slots),
		seen:    make([]bool, o.Slots),
		logits:  make([]float32, m.Shape.Vocab),
	}
	for i := range b.slots {
		b.slots[i] = make(state, m.Shape.StateLen())
		b.garble(infer.Slot(i)) // a caller that forgets to clear a slot gets wrong results
	}
	return b
}

// Name is "scripted".
func (b *Backend) Name() string { return "scripted" }

// Slots is Options.Slots.
func (b *Backend) Slots() int { return len(b.slots) }

// MaxTokens is Options.MaxTokens.
func (b *Backend) MaxTokens() int { return b.options.MaxTokens }

// Closed says whether Close was called.
func (b *Backend) Closed() bool { return b.closed.Load() }

// enter panics for a call that overlaps another or comes after Close. The caller calls
// its result at the end.
func (b *Backend) enter() (leave func()) {
	if !b.busy.CompareAndSwap(false, true) {
		panic("scripted: two calls at once")
	}
	if b.closed.Load() {
		panic("scripted: called after Close")
	}
	return func() { b.busy.Store(false) }
}

// Step consumes the rows' tokens and draws. On an error, the states of all
// rows are garbled, as they may be on a device.
func (b *Backend) Step(rows []infer.Row, drawn []infer.Drawn) error {
	defer b.enter()()
	if err := b.check(rows, drawn); err != nil {
		return err
	}
	whole := false
	defer func() {
		if !whole {
			for i := range rows {
				b.garble(rows[i].Slot)
			}
		}
	}()
	if b.options.Before != nil {
		if err := b.options.Before(rows); err != nil {
			return err
		}
	}
	for i := range rows {
		if err := b.row(&rows[i], &drawn[i]); err != nil {
			return err
		}
	}
	whole = true
	return nil
}

// check refuses steps that the engine must never ask for.
func (b *Backend) check(rows []infer.Row, drawn []infer.Drawn) error {
	if len(rows) == 0 || len(rows) != len(drawn) {
		return fmt.Errorf("scripted: %d rows and %d places for what they draw", len(rows), len(drawn))
	}
	clear(b.seen)
	total := 0
	for _, r := range rows {
		if err := b.checkSlot(r.Slot); err != nil {
			return err
		}
		if b.seen[r.Slot] {
			return fmt.Errorf("scripted: slot %d is twice in a step", r.Slot)
		}
		b.seen[r.Slot] = true
		if len(r.Tokens) == 0 {
			return fmt.Errorf("scripted: the row of slot %d has no tokens", r.Slot)
		}
		if r.Logits != nil && len(r.Logits) != b.model.Shape.Vocab {
			return fmt.Errorf("scripted: room for %d logits, but there are %d", len(r.Logits), b.model.Shape.Vocab)
		}
		total += len(r.Tokens)
	}
	if total > b.options.MaxTokens {
		return fmt.Errorf("scripted: %d tokens in a step of at most %d", total, b.options.MaxTokens)
	}
	return nil
}

func (b *Backend) checkSlot(s infer.Slot) error {
	if s < 0 || int(s) >= len(b.slots) {
		return fmt.Errorf("scripted: slot %d of %d", s, len(b.slots))
	}
	return nil
}

func (b *Backend) row(r *infer.Row, d *infer.Drawn) error {
	s := b.slots[r.Slot]
	salt, err := b.salt(r.Adapter)
	if err != nil {
		return err
	}
	for _, id := range r.Tokens {
		if id < 0 || int(id) >= b.model.Shape.Vocab {
			return fmt.Errorf("scripted: token %d of %d", id, b.model.Shape.Vocab)
		}
		s.consume(id, salt, b.model.Tokenizer.Bytes(id), &b.script)
	}
	if r.Sampler == nil && r.Logits == nil {
		return nil
	}
	logits := b.logits
	if err := b.fillLogits(s, logits); err != nil {
		return err
	}
	if r.Logits != nil {
		copy(r.Logits, logits)
	}
	if r.Sampler == nil {
		return nil
	}
	if r.Top > 0 {
		d.Top = r.Sampler.Top(logits, r.Top)
	}
	d.Token, d.LogProb = r.Sampler.Sample(logits)
	return nil
}

// certain is the logit of a scripted token, so high that penalties cannot change the
// choice.
const certain = 100

// fillLogits computes the logits after the tokens that s has consumed.
func (b *Backend) fillLogits(s state, logits []float32) error {
	h := s.hash()
	for i := range logits {
		h = h*6364136223846793005 + 1442695040888963407
		logits[i] = float32(h>>40) / (1 << 22) // [0, 4)
	}
	id, then, ok := b.script.next(s)
	if !ok {
		return nil
	}
	switch then {
	case NaN:
		logits[len(logits)/2] = float32(math.NaN())
		return nil
	case Panic:
		panic("scripted: as the script says")
	case Fail:
		return errors.New("scripted: as the script says")
	}
	logits[id] = certain
	return nil
}

func (b *Backend) garble(slot infer.Slot) {
	for i := range b.slots[slot] {
		b.slots[slot][i] = float32(7 + i%5)
	}
}

// ReadSlot copies a state to dst.
func (b *Backend) ReadSlot(s infer.Slot, dst []float32) error {
	defer b.enter()()
	if err := b.checkState(s, len(dst)); err != nil {
		return err
	}
	copy(dst, b.slots[s])
	return nil
}

// ReadSlotBeside copies a state to dst, also while another call runs.
func (b *Backend) ReadSlotBeside(s infer.Slot, dst []float32) error {
	if err := b.checkState(s, len(dst)); err != nil {
		return err
	}
	copy(dst, b.slots[s])
	return nil
}

// WriteSlot copies src to a slot.
func (b *Backend) WriteSlot(s infer.Slot, src []float32) error {
	defer b.enter()()
	if err := b.checkState(s, len(src)); err != nil {
		return err
	}
	copy(b.slots[s], src)
	return nil
}

// CopySlot copies one slot to another.
func (b *Backend) CopySlot(dst, src infer.Slot) error {
	defer b.enter()()
	if err := errors.Join(b.checkSlot(dst), b.checkSlot(src)); err != nil {
		return err
	}
	copy(b.slots[dst], b.slots[src])
	return nil
}

// ZeroSlot makes a slot the zero state.
func (b *Backend) ZeroSlot(s infer.Slot) error {
	defer b.enter()()
	if err := b.checkSlot(s); err != nil {
		return err
	}
	clear(b.slots[s])
	return nil
}

func (b *Backend) checkState(s infer.Slot, n int) error {
	if want := b.model.Shape.StateLen(); n != want {
		return fmt.Errorf("scripted: a state of %d values, not %d", n, want)
	}
	return b.checkSlot(s)
}

// Memory counts the slots' states.
func (b *Backend) Memory() infer.Memory {
	return infer.Memory{States: int64(4 * len(b.slots) * b.model.Shape.StateLen())}
}

// Close may be called once.
func (b *Backend) Close() error {
	defer b.enter()()
	b.closed.Store(true)
	return nil
}
