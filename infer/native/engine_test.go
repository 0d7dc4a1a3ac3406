//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/scripted"
)

// startEngine runs an engine on a backend until the test ends.
func startEngine(t *testing.T, b infer.Backend) *infer.Engine {
	t.Helper()
	e := infer.NewEngine(model(), b, infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func submit(t *testing.T, e *infer.Engine, r infer.Request) *infer.Stream {
	t.Helper()
	s, err := e.Submit(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func finish(t *testing.T, s *infer.Stream) infer.Ending {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the answer has no end")
	}
	return s.Ending()
}

// requests are of all kinds, with lengths and prompts that differ.
func requests() []infer.Request {
	var out []infer.Request
	for i := range 24 {
		r := infer.Request{Sampling: lively(uint64(i)), MaxTokens: 20 + i}
		for k := range 1 + i*7%60 {
			r.Tokens = append(r.Tokens, int32(1+(i*31+k*17)%256))
		}
		switch i % 4 {
		case 1:
			r.Sampling.Mode = sampler.ModeRapid
		case 2:
			r.Sampling.Mode = sampler.ModePip
			r.Stops = []string{"a", "\n\nUser:"}
		case 3:
			r.Sampling.Temperature = 0
			r.Top = 3
		}
		out = append(out, r)
	}
	return out
}

func exemptTokens() []int32 {
	var out []int32
	for id := range int32(model().Tokenizer.Size()) {
		if sampler.PipExempt(model().Tokenizer.Bytes(id)) {
			out = append(out, id)
		}
	}
	return out
}

// Many requests on few slots draw the tokens that they draw with the sampler
// of the host.
func TestEngineEqualsHost(t *testing.T) {
	there := startEngine(t, loadFake(t, openFake(t), Options{Exempt: exemptTokens()}))
	here := startEngine(t, scripted.New(model(), scripted.Options{}))
	var got, want []*infer.Stream
	for _, r := range requests() {
		got, want = append(got, submit(t, there, r)), append(want, submit(t, here, r))
	}
	for i := range got {
		g, w := finish(t, got[i]), finish(t, want[i])
		if !slices.Equal(g.Tokens, w.Tokens) || g.Reason != w.Reason || g.Err != nil {
			t.Errorf("request %d: %v, %v (%v), want %v, %v", i, g.Tokens, g.Reason, g.Err, w.Tokens, w.Reason)
		}
		if !slices.Equal(g.Snapshot.State[:4], w.Snapshot.State[:4]) || !slices.Equal(g.Snapshot.Sampler.Counts, w.Snapshot.Sampler.Counts) {
			t.Errorf("request %d: the snapshots differ", i)
		}
	}
}

// An answer that is interrupted and gone on with has the tokens that it would
// have had.
func TestEngineResumes(t *testing.T) {
	e := startEngine(t, loadFake(t, openFake(t), Options{Exempt: exemptTokens()}))
	for i, r := range requests() {
		whole := finish(t, submit(t, e, r))
		var from *infer.Snapshot
		var pieces []int32
		for len(pieces) < len(whole.Tokens) {
			part := r
			part.From, part.MaxTokens = from, min(7, len(whole.Tokens)-len(pieces))
			if from != nil {
				part.Tokens = nil
			}
			end := finish(t, submit(t, e, part))
			if len(end.Tokens) == 0 || end.Err != nil {
				t.Fatalf("request %d: ended with %v (%v) after %d tokens", i, end.Reason, end.Err, len(pieces))
			}
			pieces, from = append(pieces, end.Tokens...), end.Snapshot
		}
		if !slices.Equal(pieces, whole.Tokens) {
			t.Errorf("request %d: in pieces %v, whole %v", i, pieces, whole.Tokens)
		}
	}
}

func TestEngineCancels(t *testing.T) {
	e := startEngine(t, loadFake(t, openFake(t), Options{}))
	s := submit(t, e, infer.Request{Tokens: []int32{1, 2, 3}, Sampling: lively(1)})
	for s.Progress().Generated < 5 {
		time.Sleep(time.Millisecond)
	}
	s.Cancel()
	end := finish(t, s)
	if end.Reason != infer.ReasonCancelled || end.Err != nil || len(end.Snapshot.Pending) == 0 {
		t.Errorf("ended with %v, %v", end.Reason, end.Err)
	}
	on := finish(t, submit(t, e, infer.Request{From: end.Snapshot, Sampling: lively(1), MaxTokens: 10}))
	whole := finish(t, submit(t, e, infer.Request{Tokens: []int32{1, 2, 3}, Sampling: lively(1), MaxTokens: len(end.Tokens) + 10}))
	if !slices.Equal(slices.Concat(end.Tokens, on.Tokens), whole.Tokens) {
		t.Error("the answer goes on otherwise than it would have without being cancelled")
	}
}

// When the device is lost every request ends with an error that says so, and
// with a snapshot that another backend goes on from as if nothing had happened.
func TestEngineSurvivesALostDevice(t *testing.T) {
	e := startEngine(t, loadFake(t, openFake(t), Options{}))
	fault(t, "FAKE_LOST", "12")
	var streams []*infer.Stream
	for i := range 4 {
		streams = append(streams, submit(t, e, infer.Request{Tokens: []int32{int32(i + 1), 2, 3}, Sampling: lively(uint64(i)), MaxTokens: 40}))
	}
	cpu := startEngine(t, scripted.New(model(), scripted.Options{}))
	for i, s := range streams {
		end := finish(t, s)
		var lost *LostError
		if end.Reason != infer.ReasonError || !errors.As(end.Err, &lost) {
			t.Fatalf("request %d ended with %v, %v", i, end.Reason, end.Err)
		}
		on := finish(t, submit(t, cpu, infer.Request{From: end.Snapshot, Sampling: lively(uint64(i)), MaxTokens: 40 - len(end.Tokens)}))
		want := finish(t, submit(t, cpu, infer.Request{Tokens: []int32{int32(i + 1), 2, 3}, Sampling: lively(uint64(i)), MaxTokens: 40}))
		if got := slices.Concat(end.Tokens, on.Tokens); !slices.Equal(got, want.Tokens) {
			t.Errorf("request %d: %v, want %v", i, got, want.Tokens)
		}
	}
	late := finish(t, submit(t, e, infer.Request{Tokens: []int32{1}, Sampling: lively(1)}))
	if late.Err == nil {
		t.Error("a request on a lost device succeeded")
	}
}

// BenchmarkHostSide is what a decoding step costs on the host, without the
// library: packing, unpacking, and letting the samplers observe.
func BenchmarkHostSide(b *testing.B) {
	for _, n := range []int{1, 32, 960} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := loadFake(b, openFake(b), Options{Slots: n})
			rows, drawn := make([]infer.Row, n), make([]infer.Drawn, n)
			for i := range rows {
				rows[i] = infer.Row{Slot: infer.Slot(i), Tokens: []int32{1}, Sampler: newSampler(lively(uint64(i)))}
			}
			x.step.bansEach = bansMax / n
			for step := int32(0); b.Loop(); step++ {
				for i := range rows {
					if err := x.synchronise(&rows[i]); err != nil {
						b.Fatal(err)
					}
				}
				x.pack(rows)
				for i := range x.step.results {
					x.step.results[i].token = (step*7 + int32(i)) % 256
				}
				if err := x.unpack(rows, drawn); err != nil {
					b.Fatal(err)
				}
				for i := range rows {
					rows[i].Sampler.Observe(drawn[i].Token)
				}
			}
		})
	}
}
