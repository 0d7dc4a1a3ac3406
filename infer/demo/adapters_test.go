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
	"rookery/infer/adapter"
	"rookery/infer/demo"
	"rookery/infer/load"
	"rookery/infer/sampler"
)

// TestAdaptersAreTheReferences compares with testdata/adapters.json: the public
// rwkv package in fp32, the adapters merged into the dequantised weights.
func TestAdaptersAreTheReferences(t *testing.T) {
	raw, err := os.ReadFile("testdata/adapters.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Name    string
			IDs     []int32
			Logits  string
			Greedy  []int32
			Margins []float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) != len(demo.Adapters) {
		t.Fatalf("%d adapters, want %d", len(demo.Adapters), len(golden.Cases))
	}
	m, b, err := load.Open(t.Context(), load.Spec{Backend: "cpu", Weights: "fp32", Slots: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := infer.NewEngine(m, b, infer.Options{})
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range golden.Cases {
		a, err := demo.OpenAdapter(c.Name, adapter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.LoadAdapter(t.Context(), a, false); err != nil {
			t.Fatal(err)
		}
		read, err := e.Submit(infer.Request{Tokens: c.IDs, Logits: true, Adapter: a.Fingerprint})
		if err != nil {
			t.Fatal(err)
		}
		<-read.Done()
		want, err := base64.StdEncoding.DecodeString(c.Logits)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		const stride = 8 // of the logits that are kept
		logits := read.Ending().Snapshot.Logits
		for i := range len(want) / 4 {
			w := math.Float32frombits(binary.LittleEndian.Uint32(want[4*i:]))
			worst = max(worst, math.Abs(float64(logits[i*stride]-w)))
		}
		if len(want)/4*stride != len(logits) {
			t.Errorf("%s: %d of %d logits to compare with", c.Name, len(want)/4, len(logits))
		}
		t.Logf("%s: logits off by at most %.2g", c.Name, worst)
		if worst > 1e-3 {
			t.Errorf("%s: logits off by %g", c.Name, worst)
		}
		s, err := e.Submit(infer.Request{From: read.Ending().Snapshot, Adapter: a.Fingerprint, MaxTokens: len(c.Greedy), Sampling: sampler.Params{TopP: 1}})
		if err != nil {
			t.Fatal(err)
		}
		<-s.Done()
		if got := s.Ending().Tokens; !slices.Equal(got, c.Greedy) {
			t.Errorf("%s: greedy %v, want %v (margins %v)", c.Name, got, c.Greedy, c.Margins)
		}
	}
	if _, err := demo.OpenAdapter("demo-nobody", adapter.Options{}); err == nil {
		t.Error("an adapter that does not exist was opened")
	}
}
