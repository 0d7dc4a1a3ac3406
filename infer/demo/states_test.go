package demo_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/demo"
	"rookery/infer/load"
)

// A statesGolden is testdata/states.json: the public rwkv package in fp32
// with the embedded weights dequantised, through each tuned state.
type statesGolden struct {
	Cases []struct {
		State   string
		IDs     []int32
		Logits  string
		Greedy  []int32
		Margins []float64
	}
}

// after reads tokens from a snapshot and returns the one after them.
func after(t *testing.T, e *infer.Engine, from *infer.Snapshot, tokens ...int32) *infer.Snapshot {
	t.Helper()
	s, err := e.Submit(infer.Request{From: from, Tokens: tokens, Logits: true})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Ending().Err; err != nil {
		t.Fatal(err)
	}
	return s.Ending().Snapshot
}

func TestStatesAreTheReferences(t *testing.T) {
	raw, err := os.ReadFile("testdata/states.json")
	if err != nil {
		t.Fatal(err)
	}
	var g statesGolden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	states, err := demo.States()
	if err != nil {
		t.Fatal(err)
	}
	m, b, err := load.Open(t.Context(), load.Spec{Backend: "cpu", Weights: "fp32", Slots: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := infer.NewEngine(m, b, infer.Options{})
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if len(states) != len(g.Cases) {
		t.Fatalf("%d states, want %d", len(states), len(g.Cases))
	}
	for i, c := range g.Cases {
		if states[i].Name != c.State {
			t.Fatalf("state %d is %s, want %s", i, states[i].Name, c.State)
		}
		from, err := states[i].Begin(m)
		if err != nil {
			t.Fatal(err)
		}
		at := after(t, e, from, c.IDs...)
		want, err := base64.StdEncoding.DecodeString(c.Logits)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for id, got := range at.Logits {
			worst = max(worst, math.Abs(float64(got-math.Float32frombits(binary.LittleEndian.Uint32(want[4*id:])))))
		}
		t.Logf("%s: the logits are off by at most %.2g", c.State, worst)
		if !(worst < 1e-3) { // they have standard deviations of 3 to 4
			t.Errorf("%s: the logits are off by %g", c.State, worst)
		}
		for j, want := range c.Greedy {
			if c.Margins[j] < 0.002 {
				break
			}
			if got := int32(slices.Index(at.Logits, slices.Max(at.Logits))); got != want {
				t.Errorf("%s: token %d is %d, want %d", c.State, j, got, want)
				break
			}
			at = after(t, e, at, want)
		}
	}
}
