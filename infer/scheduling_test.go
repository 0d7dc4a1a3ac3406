package infer_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// device is a Before that takes the time of a device: some for the step, and
// some for every token beyond the first of a row.
func device(step, perToken time.Duration) func([]infer.Row) error {
	return func(rows []infer.Row) error {
		took := step
		for _, r := range rows {
			took += time.Duration(len(r.Tokens)-1) * perToken
		}
		time.Sleep(took)
		return nil
	}
}

// inBubble runs a test on an engine in fake time.
func inBubble(t *testing.T, o scripted.Options, eo infer.Options, f func(*testing.T, *infer.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := infer.NewEngine(scripted.Model(), scripted.New(scripted.Model(), o), eo)
		f(t, e)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// longestGap reads a stream to its end and returns the longest time between
// two of its tokens.
func longestGap(s *infer.Stream) time.Duration {
	var longest time.Duration
	last := time.Time{}
	for {
		select {
		case <-s.Changed():
		case <-s.Done():
			return longest
		}
		if _, tokens := s.Read(); len(tokens) > 0 {
			now := time.Now()
			if !last.IsZero() {
				longest = max(longest, now.Sub(last))
			}
			last = now
		}
	}
}

func TestPromptDelaysOthersByAChunkAtMost(t *testing.T) {
	const step, perToken = 5 * time.Millisecond, time.Millisecond
	tests := []struct {
		name  string
		chunk int
		most  time.Duration
	}{
		{"fixed", 64, step + 64*perToken},
		{"adapting", 0, step + 64*perToken}, // the first chunk is a guess, the others are shorter
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := scripted.Options{MaxTokens: 512, Before: device(step, perToken)}
			inBubble(t, o, infer.Options{Chunk: tt.chunk}, func(t *testing.T, e *infer.Engine) {
				watched := submit(t, e, infer.Request{Tokens: numbers(1, 4), Sampling: lively(1), MaxTokens: 400})
				for watched.Progress().Generated < 10 {
					time.Sleep(step)
				}
				var pastes []*infer.Stream
				for i := range 3 {
					pastes = append(pastes, submit(t, e, infer.Request{Tokens: numbers(i, 4000), Sampling: lively(2), MaxTokens: 5}))
				}
				if gap := longestGap(watched); gap > tt.most {
					t.Errorf("a token came after %v, want %v at most", gap, tt.most)
				}
				for _, s := range pastes {
					finish(t, s)
				}
			})
		})
	}
}

func TestShortPromptDoesNotWaitForALongOne(t *testing.T) {
	o := scripted.Options{MaxTokens: 512, Before: device(time.Millisecond, time.Millisecond)}
	inBubble(t, o, infer.Options{Chunk: 64}, func(t *testing.T, e *infer.Engine) {
		long := submit(t, e, infer.Request{Tokens: numbers(1, 4000), Sampling: lively(1), MaxTokens: 5})
		time.Sleep(100 * time.Millisecond)
		short := submit(t, e, infer.Request{Tokens: numbers(2, 60), Sampling: lively(1), MaxTokens: 5})
		if u := finish(t, short).Usage; u.FirstToken > 300*time.Millisecond {
			t.Errorf("the first token of 60 came after %v", u.FirstToken)
		}
		if p := long.Progress(); p.Read > 1000 || p.Rate < 800 || p.Rate > 1100 {
			t.Errorf("the long one is at %+v", p)
		}
		finish(t, long)
	})
}

func TestChunkIsLargeWhenNothingDecodes(t *testing.T) {
	var widest int
	wait := device(time.Millisecond, 50*time.Microsecond)
	o := scripted.Options{MaxTokens: 512, Before: func(rows []infer.Row) error {
		widest = max(widest, len(rows[0].Tokens))
		return wait(rows)
	}}
	inBubble(t, o, infer.Options{}, func(t *testing.T, e *infer.Engine) {
		run(t, e, infer.Request{Tokens: numbers(1, 4000), Logits: true})
	})
	if widest != 512 {
		t.Errorf("the widest chunk had %d tokens", widest)
	}
}

func TestCancelTakesOneStep(t *testing.T) {
	const step = 100 * time.Millisecond
	o := scripted.Options{Slots: 2, Before: device(step, 0)}
	inBubble(t, o, infer.Options{}, func(t *testing.T, e *infer.Engine) {
		var streams []*infer.Stream
		for i := range 3 { // the third waits in line
			streams = append(streams, submit(t, e, infer.Request{Tokens: numbers(i, 20), Sampling: lively(1)}))
		}
		time.Sleep(10*step + step/4)
		asked := time.Now()
		for _, s := range slices.Backward(streams) {
			s.Cancel()
			s.Cancel()
			s.SetSampling(lively(3))
			s.Read()
		}
		if waited := time.Since(asked); waited != 0 {
			t.Errorf("Cancel, SetSampling or Read waited for %v", waited)
		}
		for _, s := range streams {
			finish(t, s)
		}
		if waited := time.Since(asked); waited > step {
			t.Errorf("cancelled after %v, a step takes %v", waited, step)
		}
	})
}

func TestSubmitDoesNotWaitForAStep(t *testing.T) {
	o := scripted.Options{Before: device(time.Hour, 0)}
	inBubble(t, o, infer.Options{}, func(t *testing.T, e *infer.Engine) {
		first := submit(t, e, infer.Request{Tokens: numbers(1, 5), Sampling: lively(1)})
		time.Sleep(time.Minute) // it is in a step
		begin := time.Now()
		second := submit(t, e, infer.Request{Tokens: numbers(2, 5), Sampling: lively(1)})
		stats := e.Stats()
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("Submit or Stats waited for %v", waited)
		}
		if stats.Rows != 1 || stats.Slots != 8 {
			t.Errorf("stats %+v", stats)
		}
		first.Cancel()
		second.Cancel()
	})
}

// Nothing in a step waits for a reader, and an idle engine sleeps: in a bubble
// Wait returns only when every goroutine is blocked.
func TestNobodyReadsAndThenNothingRuns(t *testing.T) {
	inBubble(t, scripted.Options{}, infer.Options{}, func(t *testing.T, e *infer.Engine) {
		s := submit(t, e, infer.Request{Tokens: numbers(1, 50), Sampling: lively(1), MaxTokens: 500})
		synctest.Wait()
		steps := e.Stats().Steps
		if _, tokens := s.Read(); len(tokens) != 500 {
			t.Errorf("%d tokens are there", len(tokens))
		}
		time.Sleep(time.Hour)
		if stats := e.Stats(); stats.Steps != steps || stats.DecodeRate != 0 || stats.Rows != 0 {
			t.Errorf("idle, but %+v", stats)
		}
	})
}

func TestStats(t *testing.T) {
	const step = 10 * time.Millisecond
	o := scripted.Options{Slots: 4, MaxTokens: 64, Before: device(step, 0)}
	inBubble(t, o, infer.Options{}, func(t *testing.T, e *infer.Engine) {
		var streams []*infer.Stream
		for i := range 6 {
			streams = append(streams, submit(t, e, infer.Request{Tokens: numbers(i, 20), Sampling: lively(1), Label: string(rune('a' + i))}))
		}
		time.Sleep(5*time.Second + step/2)
		s := e.Stats()
		if s.Backend != "scripted" || s.Slots != 4 || s.Rows != 4 || s.Waiting != 2 || s.RowsInStep != 4 {
			t.Errorf("rows: %+v", s)
		}
		if s.StepP50 != step || s.StepP95 != step || s.Steps != 500 {
			t.Errorf("steps: p50 %v, p95 %v of %d", s.StepP50, s.StepP95, s.Steps)
		}
		if s.DecodeRate < 380 || s.DecodeRate > 420 || s.PrefillRate != 0 {
			t.Errorf("rates: %v decode, %v prefill; want 400 and 0", s.DecodeRate, s.PrefillRate)
		}
		if s.Read != 80 || s.Generated < 4*495 || s.Memory.States == 0 {
			t.Errorf("totals: %+v", s)
		}
		if len(s.Requests) != 4 || s.Requests[1].Label != "b" || s.Requests[1].Rate < 95 || s.Requests[1].Rate > 105 || s.Requests[1].Generated < 490 {
			t.Errorf("requests: %+v", s.Requests)
		}
		for _, st := range streams {
			st.Cancel()
		}
	})
}

func TestPanicEndsTheStepsRowsOnly(t *testing.T) {
	for _, kind := range []string{"panic", "error"} {
		t.Run(kind, func(t *testing.T) {
			steps := 0
			e := start(t, scripted.Options{Slots: 2, Before: func([]infer.Row) error {
				steps++
				switch {
				case steps == 20 && kind == "panic":
					panic("a kernel's index is out of range")
				case steps == 20:
					return errors.New("a kernel's index is out of range")
				}
				return nil
			}}, infer.Options{})
			var streams []*infer.Stream
			for i := range 4 {
				streams = append(streams, submit(t, e, infer.Request{Tokens: numbers(i, 10), Sampling: lively(1), MaxTokens: 100}))
			}
			failed := 0
			for _, s := range streams {
				end := finish(t, s)
				if end.Reason != infer.ReasonError {
					continue
				}
				failed++
				var caught *infer.PanicError
				if errors.As(end.Err, &caught) != (kind == "panic") || !strings.Contains(end.Err.Error(), "out of range") {
					t.Errorf("error %v", end.Err)
				}
			}
			if failed != 2 {
				t.Errorf("%d requests failed, want the 2 of the step", failed)
			}
			want := alone(t, numbers(9, 10), lively(9), 30)
			if end := run(t, e, infer.Request{Tokens: numbers(9, 10), Sampling: lively(9), MaxTokens: 30}); !slices.Equal(end.Tokens, want) {
				t.Errorf("after the failure: %v, want %v", end.Tokens, want)
			}
		})
	}
}

func TestScriptedFaults(t *testing.T) {
	tests := []struct {
		then scripted.Then
		want string
	}{
		{scripted.NaN, "NaN"},
		{scripted.Panic, "internal error"},
		{scripted.Fail, "as the script says"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			e := start(t, scripted.Options{Answers: []scripted.Answer{{Text: "so far", Then: tt.then}}}, infer.Options{})
			end := run(t, e, infer.Request{Tokens: encode(e, "Assistant:"), Stops: []string{"far off"}})
			if end.Reason != infer.ReasonError || !strings.Contains(end.Err.Error(), tt.want) || end.Text != "so far" {
				t.Errorf("%v, %v after %q", end.Reason, end.Err, end.Text)
			}
		})
	}
}

func TestNaNEndsItsOwnRowOnly(t *testing.T) {
	e := start(t, scripted.Options{Answers: []scripted.Answer{
		{Prompt: "bad", Text: "a few words", Then: scripted.NaN},
		{Prompt: "good", Text: strings.Repeat("many words ", 20)},
	}}, infer.Options{})
	bad := submit(t, e, infer.Request{Tokens: encode(e, "bad Assistant:")})
	good := submit(t, e, infer.Request{Tokens: encode(e, "good Assistant:")})
	if end := finish(t, bad); end.Reason != infer.ReasonError {
		t.Errorf("NaN ended with %v", end.Reason)
	}
	if end := finish(t, good); end.Reason != infer.ReasonStop || len(end.Text) != 220 {
		t.Errorf("the other row ended with %v, %v after %q", end.Reason, end.Err, end.Text)
	}
}

func TestNoRoom(t *testing.T) {
	e := start(t, scripted.Options{Slots: 1, MaxTokens: -1}, infer.Options{})
	if _, err := e.Submit(infer.Request{Tokens: []int32{1}}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v", err)
	}
}

// A step must not keep the garbage collector busy: what grows with the answer
// grows by doubling, and a token's text is one small string.
func TestSteadyStateAllocatesLittle(t *testing.T) {
	const steps = 4000
	var before, after runtime.MemStats
	n := 0
	e := start(t, scripted.Options{Before: func([]infer.Row) error {
		switch n++; n {
		case 100:
			runtime.ReadMemStats(&before)
		case 100 + steps:
			runtime.ReadMemStats(&after)
		}
		return nil
	}}, infer.Options{})
	run(t, e, infer.Request{Tokens: numbers(1, 20), MaxTokens: steps + 200, Sampling: sampler.Params{Ban: []int32{0}}, Stops: []string{"\n\nUser: never"}})
	if per := float64(after.Mallocs-before.Mallocs) / steps; per > 4 { // the race detector adds two
		t.Errorf("%.1f allocations a step", per)
	} else {
		t.Logf("%.2f allocations and %.0f bytes a step", per, float64(after.TotalAlloc-before.TotalAlloc)/steps)
	}
}
