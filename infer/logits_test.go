package infer_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rookery/infer"
	"rookery/infer/scripted"
)

// A saver is a scripted backend that keeps the logits of its last step.
type saver struct {
	*scripted.Backend
	vocab int
	kept  map[int][]float32 // by row
	asked int               // rows that asked for logits and drew
	read  int
	fail  error // of ReadLogits
}

func (k *saver) Step(rows []infer.Row, drawn []infer.Drawn) error {
	for _, old := range k.kept {
		old[0] = float32(math.NaN()) // whoever reads them late shall notice
	}
	k.kept = map[int][]float32{}
	full := slices.Clone(rows)
	for i, r := range full {
		if r.Sampler == nil {
			continue
		}
		if r.Logits != nil {
			k.asked++
			continue
		}
		full[i].Logits = make([]float32, k.vocab)
		k.kept[i] = full[i].Logits
	}
	if err := k.Backend.Step(full, drawn); err != nil {
		return err
	}
	for i, logits := range k.kept {
		if slices.ContainsFunc(logits, func(v float32) bool { return v != v }) {
			drawn[i].LogProb = float32(math.NaN())
		}
	}
	return nil
}

func (k *saver) ReadLogits(row int, dst []float32) error {
	k.read++
	if k.fail != nil {
		return k.fail
	}
	if k.kept[row] == nil {
		return fmt.Errorf("row %d has no logits", row)
	}
	copy(dst, k.kept[row])
	return nil
}

// startKeeper runs an engine on a saver until the test ends.
func startKeeper(t *testing.T, o scripted.Options) (*infer.Engine, *saver) {
	t.Helper()
	m := scripted.Model()
	k := &saver{Backend: scripted.New(m, o), vocab: m.Shape.Vocab}
	e := infer.NewEngine(m, k, infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, k
}

// manyKinds are requests that end in all ways, most of them with a stop in
// several places of an answer.
func manyKinds() []infer.Request {
	var out []infer.Request
	for i := range 60 {
		r := infer.Request{Tokens: numbers(i, 1+i%23), Sampling: lively(uint64(i)), MaxTokens: 10 + i%30, Top: i % 2}
		switch i % 6 {
		case 1:
			r.Stops = []string{"a", "b"}
		case 2:
			r.Stops = []string{"ab", "\n\nUser:", "xy"}
		case 3:
			r.Stops = []string{"the", "z"}
			r.Sampling.Ban = nil
		case 4:
			r.Sampling.Temperature = 0
		case 5:
			r.Logits = true
		}
		out = append(out, r)
	}
	return out
}

// An engine that asks for logits late has the same answers and snapshots, and
// copies few logits.
func TestLogitsAreReadLate(t *testing.T) {
	for _, slots := range []int{1, 8, 64} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			late, k := startKeeper(t, scripted.Options{Slots: slots})
			plain := start(t, scripted.Options{Slots: slots}, infer.Options{})
			var got, want []*infer.Stream
			for _, r := range manyKinds() {
				got, want = append(got, submit(t, late, r)), append(want, submit(t, plain, r))
			}
			tokens, withLogits := 0, 0
			for i := range got {
				g, w := finish(t, got[i]), finish(t, want[i])
				if g.Reason != w.Reason || g.Text != w.Text || g.Err != nil || !slices.Equal(g.Tokens, w.Tokens) {
					t.Errorf("request %d: %v, %q (%v), want %v, %q", i, g.Reason, g.Text, g.Err, w.Reason, w.Text)
				}
				// Where a stop began far back, a snapshot may be an earlier one with
				// more pending: that depends on which slots were free.
				if diff := cmp.Diff(w.Snapshot, g.Snapshot); diff != "" && w.Snapshot.Position == g.Snapshot.Position {
					t.Errorf("request %d: the snapshots differ (-at once +late):\n%s", i, diff)
				}
				tokens += g.Usage.Generated
				if g.Snapshot.Logits != nil {
					withLogits++
				}
			}
			if err := late.Close(); err != nil {
				t.Fatal(err)
			}
			if k.read == 0 || withLogits == 0 || k.asked > len(got) || k.read > tokens/2 {
				t.Errorf("%d tokens: logits asked for with %d draws and read %d times, for %d snapshots", tokens, k.asked, k.read, withLogits)
			}
		})
	}
}

func TestLateLogitsOfNaN(t *testing.T) {
	e, _ := startKeeper(t, scripted.Options{Answers: []scripted.Answer{{Text: "abc", Then: scripted.NaN}}})
	end := run(t, e, infer.Request{Tokens: encode(e, "Assistant:"), Sampling: lively(1)})
	if end.Reason != infer.ReasonError || !strings.Contains(fmt.Sprint(end.Err), "NaN") {
		t.Errorf("ended with %v, %v", end.Reason, end.Err)
	}
}

// Logits that cannot be read end the request that needs them, with the state
// that was good last.
func TestLateLogitsFail(t *testing.T) {
	e, k := startKeeper(t, scripted.Options{Answers: []scripted.Answer{{Text: "hello"}}})
	k.fail = errors.New("on purpose")
	end := run(t, e, infer.Request{Tokens: encode(e, "Assistant:"), MaxTokens: 50})
	if end.Reason != infer.ReasonError || !errors.Is(end.Err, k.fail) || !strings.Contains(end.Err.Error(), "reading logits") {
		t.Errorf("ended with %v, %v", end.Reason, end.Err)
	}
	if end.Snapshot.Position != len(encode(e, "Assistant:")) {
		t.Errorf("the snapshot is at %d", end.Snapshot.Position)
	}
}
