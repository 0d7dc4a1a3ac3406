package sessions

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/cpu"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// shape72B has the states of the 7.2B models: 34 MB.
var shape72B = rwkv.Shape{
	Version: rwkv.V7, Layers: 32, Embed: 4096, Heads: 64, HeadSize: 64, FFN: 16384, Vocab: 320,
	Ranks: rwkv.Ranks{8, 8, 8, 8},
}

var shape01B = rwkv.Shape{
	Version: rwkv.V7, Layers: 12, Embed: 768, Heads: 12, HeadSize: 64, FFN: 3072, Vocab: 65536,
	Ranks: rwkv.Ranks{64, 64, 32, 128},
}

// A stopwatch is a backend that takes down when steps begin and end.
type stopwatch struct {
	infer.SideReader
	mu           sync.Mutex
	took, passed []time.Duration // of steps; from the end of one to that of the next
	last         time.Time
}

func (w *stopwatch) Step(rows []infer.Row, drawn []infer.Drawn) error {
	start := time.Now()
	err := w.SideReader.Step(rows, drawn)
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.took = append(w.took, now.Sub(start))
	if !w.last.IsZero() {
		w.passed = append(w.passed, now.Sub(w.last))
	}
	w.last = now
	return err
}

// serialWatch hides that states can be read beside steps.
type serialWatch struct{ *stopwatch }

func (serialWatch) ReadSlotBeside() {} // another signature: not a SideReader

// late measures how much later than every 33 ms a frame would be drawn.
func late(ctx context.Context) (frames []time.Duration) {
	const frame = 33 * time.Millisecond
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for due := time.Now().Add(frame); ; due = due.Add(frame) {
		select {
		case <-ctx.Done():
			return frames
		case <-tick.C:
			lag := time.Since(due)
			frames = append(frames, max(lag, 0))
			if lag > frame { // frames were left out
				due = time.Now()
			}
		}
	}
}

// BenchmarkSavingBesideSteps generates tokens, and at the same time writes
// snapshots of 34 MB to the database, one after the other, or ends requests
// whose states have 34 MB. It reports what passes from one step to the next.
func BenchmarkSavingBesideSteps(b *testing.B) {
	processor := func(threads int) func(b *testing.B) infer.SideReader {
		return func(b *testing.B) infer.SideReader {
			backend, err := cpu.Synthetic(b.Context(), shape01B, 1, cpu.Options{Weights: "int8", Threads: threads})
			if err != nil {
				b.Fatal(err)
			}
			return backend
		}
	}
	device := func(*testing.B) infer.SideReader { // 20 ms a step, on another device
		m := tortureModel()
		m.Shape = shape72B
		return scripted.New(m, scripted.Options{Slots: 8, Before: scripted.Slow(20 * time.Millisecond)})
	}
	small, large := tortureModel(), tortureModel()
	small.Shape, large.Shape = shape01B, shape72B
	for _, c := range []struct {
		name    string
		model   *infer.Model
		backend func(*testing.B) infer.SideReader
		serial  bool
		beside  func(context.Context, *testing.B, *infer.Engine, *Store)
	}{
		{"0.1B/threads=1/alone", small, processor(1), false, nil},
		{"0.1B/threads=1/saving", small, processor(1), false, saveForever},
		{"0.1B/threads=2/alone", small, processor(2), false, nil},
		{"0.1B/threads=2/saving", small, processor(2), false, saveForever},
		{"0.1B/threads=2/saving,each_second", small, processor(2), false, saveEachSecond},
		{"device/alone", large, device, false, nil},
		{"device/saving", large, device, false, saveForever},
		{"device/ending", large, device, false, endForever},
		{"device/ending,between", large, device, true, endForever},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := Open(b.Context(), b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			w := &stopwatch{SideReader: c.backend(b)}
			var backend infer.Backend = w
			if c.serial {
				backend = serialWatch{w}
			}
			e := infer.NewEngine(c.model, backend, infer.Options{})
			defer infer.Overlap()() // as the program does
			generate(b, e, w, s, c.beside)
			if err := e.Close(); err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// generate makes b.N tokens beside something else.
func generate(b *testing.B, e *infer.Engine, w *stopwatch, s *Store, beside func(context.Context, *testing.B, *infer.Engine, *Store)) {
	ctx, cancel := context.WithCancel(b.Context())
	var group sync.WaitGroup
	if beside != nil {
		group.Go(func() { beside(ctx, b, e, s) })
	}
	var frames []time.Duration
	group.Go(func() { frames = late(ctx) })
	b.ResetTimer()
	stream, err := e.Submit(infer.Request{
		Tokens: []int32{1, 2, 3}, Sampling: sampler.Params{Temperature: 1, TopP: 1, Ban: []int32{0}}, MaxTokens: b.N + 1,
	})
	if err != nil {
		b.Fatal(err)
	}
	<-stream.Done()
	b.StopTimer()
	cancel()
	group.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "step-ms-mean")
	percentiles(b, "step", w.passed)
	percentiles(b, "late", frames)
}

// percentiles reports times in milliseconds.
func percentiles(b *testing.B, what string, all []time.Duration) {
	slices.Sort(all)
	for _, p := range []int{50, 95, 99} {
		if len(all) > 0 {
			b.ReportMetric(float64(all[(len(all)*p+99)/100-1].Microseconds())/1000, fmt.Sprintf("%s-ms-p%d", what, p))
		}
	}
}

// saveForever commits turns with states of 34 MB, one after the other.
func saveForever(ctx context.Context, b *testing.B, _ *infer.Engine, s *Store) {
	b.Helper()
	commitEvery(ctx, b, s, 0)
}

// saveEachSecond commits as many as a person may who has many tabs.
func saveEachSecond(ctx context.Context, b *testing.B, _ *infer.Engine, s *Store) {
	b.Helper()
	commitEvery(ctx, b, s, time.Second)
}

// commitEvery commits turns with states of 34 MB, with at least a time between their
// beginnings, and reports what one takes.
func commitEvery(ctx context.Context, b *testing.B, s *Store, every time.Duration) {
	b.Helper()
	snap := snapshot(shape72B.StateLen())
	var took []time.Duration
	for id := turn.ID(2); ctx.Err() == nil; id++ {
		start := time.Now()
		err := s.CommitTurn(ctx, conversation(1), makeTurn(2+id%4, 0, "x"), snap)
		if ctx.Err() != nil {
			break // the last one was given up
		}
		if err != nil {
			b.Error(err)
			return
		}
		took = append(took, time.Since(start))
		select {
		case <-ctx.Done():
		case <-time.After(every - took[len(took)-1]):
		}
	}
	b.ReportMetric(float64(len(took)), "saves")
	percentiles(b, "save", took)
}

// endForever ends requests: each has its state read twice, after the prompt
// and at its end.
func endForever(ctx context.Context, b *testing.B, e *infer.Engine, _ *Store) {
	for n := int32(1); ctx.Err() == nil; n++ {
		stream, err := e.Submit(infer.Request{Tokens: []int32{1 + n%200, 5}, MaxTokens: 3})
		if err != nil {
			b.Error(err)
			return
		}
		<-stream.Done()
	}
}
