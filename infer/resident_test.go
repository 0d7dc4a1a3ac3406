package infer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/scripted"
)

// A counting backend counts what is done to slots, and fails where a test
// wants it to.
type counting struct {
	*scripted.Backend
	reads, writes, copies atomic.Int64
	onRead                atomic.Pointer[func() error]
	ruin                  bool // a failed step garbles all slots
	lazy                  bool // memory is said to be taken when a slot is used
}

func (c *counting) ReadSlot(s infer.Slot, dst []float32) error {
	c.reads.Add(1)
	if f := c.onRead.Load(); f != nil {
		if err := (*f)(); err != nil {
			return err
		}
	}
	return c.Backend.ReadSlotBeside(s, dst)
}

func (c *counting) ReadSlotBeside(s infer.Slot, dst []float32) error { return c.ReadSlot(s, dst) }

func (c *counting) WriteSlot(s infer.Slot, src []float32) error {
	c.writes.Add(1)
	return c.Backend.WriteSlot(s, src)
}

func (c *counting) CopySlot(dst, src infer.Slot) error {
	c.copies.Add(1)
	return c.Backend.CopySlot(dst, src)
}

func (c *counting) Memory() infer.Memory {
	if c.lazy {
		return infer.Memory{}
	}
	return c.Backend.Memory()
}

func (c *counting) Step(rows []infer.Row, drawn []infer.Drawn) error {
	err := c.Backend.Step(rows, drawn)
	if err != nil && c.ruin {
		junk := make([]float32, scripted.Model().Shape.StateLen())
		for i := range junk {
			junk[i] = 3
		}
		for s := range c.Slots() {
			err = errors.Join(err, c.Backend.WriteSlot(infer.Slot(s), junk))
		}
	}
	return err
}

// serial hides that states can be read beside steps.
type serial struct{ infer.Backend }

// count runs an engine on a counting backend until the test ends.
func count(t *testing.T, o scripted.Options, eo infer.Options, beside bool) (*infer.Engine, *counting) {
	t.Helper()
	c := &counting{Backend: scripted.New(scripted.Model(), o), lazy: eo.Resident > 0}
	var b infer.Backend = c
	if !beside {
		b = serial{c}
	}
	e := infer.NewEngine(scripted.Model(), b, eo)
	t.Cleanup(func() { shut(t, e) })
	return e, c
}

// bothWays runs a test with states read beside steps and between them.
func bothWays(t *testing.T, test func(t *testing.T, beside bool)) {
	for _, beside := range []bool{true, false} {
		t.Run(fmt.Sprintf("beside=%v", beside), func(t *testing.T) { test(t, beside) })
	}
}

func TestGoingOnWritesNoState(t *testing.T) {
	bothWays(t, func(t *testing.T, beside bool) {
		e, c := count(t, scripted.Options{}, infer.Options{}, beside)
		prompt, p := numbers(1, 30), lively(9)
		want := alone(t, prompt, p, 100)
		end := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 20})
		got := end.Tokens
		for range 4 {
			end = run(t, e, infer.Request{From: end.Snapshot, Sampling: p, MaxTokens: 20})
			got = append(got, end.Tokens...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("tokens %v, want %v", got, want)
		}
		if n := c.writes.Load(); n != 0 {
			t.Errorf("%d states were written", n)
		}
		if w := e.Stats().Wakes; w.Device != 4 || w.Host != 0 {
			t.Errorf("woken from %+v", w)
		}
		end = run(t, e, infer.Request{From: stored(t, end.Snapshot), Sampling: p, MaxTokens: 1})
		if n := c.writes.Load(); n != 1 {
			t.Errorf("%d states were written for one that came from elsewhere", n)
		}
		none := run(t, e, infer.Request{From: end.Snapshot, Tokens: numbers(2, 3), MaxTokens: 1})
		checkSnapshot(t, e, slices.Concat(prompt, want, end.Tokens, numbers(2, 3)), none)
	})
}

// A chat clears the sampler's memory in a copy of the snapshot: the state is the same.
func TestCopiedSnapshotIsTheSameState(t *testing.T) {
	e, c := count(t, scripted.Options{}, infer.Options{}, true)
	end := run(t, e, infer.Request{Tokens: numbers(1, 30), Sampling: lively(1), MaxTokens: 5})
	anew := *end.Snapshot
	anew.Sampler.Draws, anew.Sampler.Counts = 0, nil
	run(t, e, infer.Request{From: &anew, Tokens: numbers(3, 8), Sampling: lively(2), MaxTokens: 5})
	if n := c.writes.Load(); n != 0 {
		t.Errorf("%d states were written", n)
	}
}

func TestRetryFromThePromptWritesNoState(t *testing.T) {
	bothWays(t, func(t *testing.T, beside bool) {
		e, c := count(t, scripted.Options{}, infer.Options{}, beside)
		prompt := numbers(4, 50)
		s := submit(t, e, infer.Request{Tokens: prompt, Sampling: lively(1), MaxTokens: 30})
		finish(t, s)
		for seed := range uint64(5) {
			end := run(t, e, infer.Request{From: s.Prompt(), Sampling: lively(seed), MaxTokens: 30})
			if want := alone(t, prompt, lively(seed), 30); !slices.Equal(end.Tokens, want) {
				t.Errorf("seed %d: tokens %v, want %v", seed, end.Tokens, want)
			}
		}
		if n := c.writes.Load(); n != 0 {
			t.Errorf("%d states were written", n)
		}
	})
}

// Many requests from one snapshot write it once.
func TestForksShareOneWrite(t *testing.T) {
	const forks = 6
	for _, slots := range []int{forks + 3, 16} { // the first request may still be leaving two
		gate := make(chan struct{})
		e, c := count(t, scripted.Options{Slots: slots, Before: func([]infer.Row) error { <-gate; return nil }}, infer.Options{}, true)
		busy := submit(t, e, infer.Request{Tokens: numbers(9, 40), Sampling: lively(1), MaxTokens: 1})
		for end := time.Now().Add(patience); e.Stats().Rows == 0; time.Sleep(time.Millisecond) { // it is in its first step, and so what follows is in line
			if time.Now().After(end) {
				t.Fatal("no step begins")
			}
		}
		base := numbers(2, 40)
		other := start(t, scripted.Options{}, infer.Options{})
		from := stored(t, run(t, other, infer.Request{Tokens: base, Logits: true}).Snapshot)
		streams := make([]*infer.Stream, forks)
		for i := range streams {
			streams[i] = submit(t, e, infer.Request{From: from, Tokens: numbers(i, 5), Sampling: lively(uint64(i)), MaxTokens: 20})
		}
		close(gate)
		finish(t, busy)
		for i, s := range streams {
			want := alone(t, slices.Concat(base, numbers(i, 5)), lively(uint64(i)), 20)
			if end := finish(t, s); !slices.Equal(end.Tokens, want) {
				t.Errorf("%d slots, fork %d: tokens %v, want %v", slots, i, end.Tokens, want)
			}
		}
		if n := c.writes.Load(); n != 1 {
			t.Errorf("%d slots: %d states were written for %d forks", slots, n, forks)
		}
		if w := e.Stats().Wakes; w.Host != 1 || w.Device != forks-1 {
			t.Errorf("%d slots: woken from %+v", slots, w)
		}
	}
}

// A talk goes on again and again, and what it should have said is known.
type talk struct {
	prompt []int32
	params uint64
	want   []int32
	got    int
	last   *infer.Snapshot
}

// Switching among more conversations than slots at random, with cancels,
// stops on the way, forks and states from a store: nothing changes.
func TestSwitchingLosesNothing(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 8} {
		for _, limit := range []int64{0, -1, int64(8 * scripted.Model().Shape.StateLen())} {
			bothWays(t, func(t *testing.T, beside bool) {
				e, _ := count(t, scripted.Options{Slots: slots}, infer.Options{Resident: limit}, beside)
				r := rand.New(rand.NewPCG(uint64(slots), 5))
				talks := make([]*talk, 10)
				for i := range talks {
					k := &talk{prompt: numbers(i, 10+i), params: uint64(i)}
					k.want = alone(t, k.prompt, lively(k.params), 60)
					talks[i] = k
				}
				for range 120 {
					var group sync.WaitGroup
					for _, i := range r.Perm(len(talks))[:1+r.IntN(4)] {
						k, n, odd := talks[i], 1+r.IntN(6), r.IntN(8)
						group.Go(func() { k.goOn(t, e, n, odd) })
					}
					group.Wait()
				}
				checkKinds(t, e, slots)
				if k := e.Stats().Kinds; limit < 0 && k.Resident > 0 || limit > 0 && k.Resident > 2 {
					t.Errorf("%d resident states, with room for %d bytes", k.Resident, limit)
				}
			})
		}
	}
}

// goOn says n more tokens; odd chooses something out of the ordinary.
func (k *talk) goOn(t *testing.T, e *infer.Engine, n, odd int) {
	r := infer.Request{From: k.last, Sampling: lively(k.params), MaxTokens: n}
	if k.last == nil {
		r.Tokens = k.prompt
	}
	if odd == 0 && k.last != nil {
		r.From = stored(t, k.last)
	}
	if odd == 1 {
		r.Stops = []string{"never said", "\x01\x02\x03\x04"}
	}
	s, err := e.Submit(r)
	if err != nil {
		t.Error(err)
		return
	}
	if odd == 2 {
		s.Cancel()
	}
	<-s.Done()
	end := s.Ending()
	if end.Err != nil || end.Snapshot == nil {
		t.Errorf("ended with %v, %v", end.Reason, end.Err)
		return
	}
	if k.got+len(end.Tokens) > len(k.want) || !slices.Equal(end.Tokens, k.want[k.got:k.got+len(end.Tokens)]) {
		if k.got+len(end.Tokens) <= len(k.want) {
			t.Errorf("said %v, want %v", end.Tokens, k.want[k.got:k.got+len(end.Tokens)])
		}
		k.got, k.last = 0, nil // from the beginning
		return
	}
	if odd != 3 { // else another fork goes on from the same state
		k.got, k.last = k.got+len(end.Tokens), end.Snapshot
	}
}

// checkKinds makes sure that no slot is lost.
func checkKinds(t *testing.T, e *infer.Engine, slots int) {
	t.Helper()
	end := time.Now().Add(patience)
	for k := e.Stats().Kinds; k.Running != 0 || k.Free+k.Resident != slots; k = e.Stats().Kinds {
		if time.Now().After(end) {
			t.Fatalf("%+v of %d slots when nothing runs", k, slots)
		}
		time.Sleep(time.Millisecond)
	}
}

// The longest unused state goes first, and states nobody can ask for before it.
func TestLeastRecentlyUsedGoes(t *testing.T) {
	e, c := count(t, scripted.Options{Slots: 4}, infer.Options{}, true)
	var snaps []*infer.Snapshot
	for i := range 4 { // each takes a slot and leaves it; Logits keeps it to one
		snaps = append(snaps, run(t, e, infer.Request{Tokens: numbers(i, 10), Logits: true}).Snapshot)
	}
	again := func(i int) int64 {
		before := c.writes.Load()
		run(t, e, infer.Request{From: snaps[i], Logits: true})
		return c.writes.Load() - before
	}
	for i := range snaps {
		if again(i) != 0 {
			t.Fatalf("state %d is gone with all slots resident", i)
		}
	}
	again(0)                                                       // now 1 is the oldest
	run(t, e, infer.Request{Tokens: numbers(7, 10), Logits: true}) // takes its slot
	for i, want := range map[int]int64{0: 0, 2: 0, 3: 0} {
		if n := again(i); n != want {
			t.Errorf("state %d was written %d times", i, n)
		}
	}
	if again(1) != 1 {
		t.Error("state 1 was still there")
	}
}

// A failed step may have ruined every slot.
func TestNoStateIsTrustedAfterAFailedStep(t *testing.T) {
	var fail atomic.Bool
	before := func([]infer.Row) error {
		if fail.Swap(false) {
			return errors.New("on purpose")
		}
		return nil
	}
	e, c := count(t, scripted.Options{Before: before}, infer.Options{}, true)
	c.ruin = true
	prompt, p := numbers(1, 30), lively(9)
	want := alone(t, prompt, p, 40)
	end := run(t, e, infer.Request{Tokens: prompt, Sampling: p, MaxTokens: 20})
	fail.Store(true)
	if bad := run(t, e, infer.Request{Tokens: numbers(5, 5), MaxTokens: 3}); bad.Reason != infer.ReasonError {
		t.Fatalf("the step did not fail: %v", bad.Reason)
	}
	rest := run(t, e, infer.Request{From: end.Snapshot, Sampling: p, MaxTokens: 20})
	if !slices.Equal(rest.Tokens, want[20:]) {
		t.Errorf("went on with %v, want %v", rest.Tokens, want[20:])
	}
}

// While one state is read, however long that takes, others go on.
func TestReadingDelaysNoStep(t *testing.T) {
	e, c := count(t, scripted.Options{Slots: 4}, infer.Options{}, true)
	hold := make(chan struct{})
	wait := func() error { <-hold; return nil }
	long := submit(t, e, infer.Request{Tokens: numbers(1, 10), Sampling: lively(1)})
	reach(t, long, func() bool { return long.Prompt() != nil })
	c.onRead.Store(&wait)
	short := submit(t, e, infer.Request{Tokens: numbers(2, 10), Sampling: lively(2), MaxTokens: 2})
	reach(t, short, func() bool { return short.Progress().Generated >= 2 })
	n := long.Progress().Generated + 200
	reach(t, long, func() bool { return long.Progress().Generated >= n })
	select {
	case <-short.Done():
		t.Error("it ended without its state")
	default:
	}
	close(hold)
	if end := finish(t, short); len(end.Snapshot.State) == 0 || len(end.Tokens) != 2 {
		t.Errorf("ended with %+v", end.Tokens)
	}
	if p := short.Prompt(); p == nil || len(p.State) == 0 {
		t.Error("no prompt snapshot")
	}
	long.Cancel()
	finish(t, long)
	checkKinds(t, e, 4)
}

// Close waits for states that are being read.
func TestCloseWhileReading(t *testing.T) {
	c := &counting{Backend: scripted.New(scripted.Model(), scripted.Options{Slots: 2})}
	slow := func() error { time.Sleep(20 * time.Millisecond); return nil }
	c.onRead.Store(&slow)
	e := infer.NewEngine(scripted.Model(), c, infer.Options{})
	var streams []*infer.Stream
	for i := range 5 {
		streams = append(streams, submit(t, e, infer.Request{Tokens: numbers(i, 10), Sampling: lively(1), MaxTokens: 3}))
	}
	<-streams[0].Changed()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for i, s := range streams {
		select {
		case <-s.Done():
		default:
			t.Fatalf("request %d has no end", i)
		}
		if s.Ending().Snapshot == nil {
			t.Errorf("request %d has no snapshot", i)
		}
	}
}
