package infer_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/load"
	"rookery/infer/rwkv"
)

// A drift is what going on from an altered state costs, over the tokens read
// after it. Both lines read the same tokens: those that the embedded model
// itself wrote after the state.
type drift struct {
	tokens       int
	exact, other float64 // nats, sums
	same         int     // likeliest tokens that agree
	greedy       int     // tokens until greedy lines part, summed
	lines        int
	rms, spread  float64 // of differences of logits, and of the logits; sums of squares
}

// widths measured, and what the file does not do: bf16, and bytes but for the
// shift states.
var widths = map[string]func(t testing.TB, s rwkv.Shape, state []float32) []float32{
	"fp16": func(t testing.TB, _ rwkv.Shape, v []float32) []float32 { return written(t, v, infer.Width16) },
	"bf16": func(_ testing.TB, _ rwkv.Shape, v []float32) []float32 { return brain(v) },
	"int8": func(t testing.TB, _ rwkv.Shape, v []float32) []float32 { return written(t, v, infer.Width8) },
	"int8, exact shift": func(t testing.TB, s rwkv.Shape, v []float32) []float32 {
		return shifted(s, written(t, v, infer.Width8), v)
	},
	"exact, int8 shift": func(t testing.TB, s rwkv.Shape, v []float32) []float32 {
		return shifted(s, v, written(t, v, infer.Width8))
	},
}

func written(t testing.TB, state []float32, w infer.Width) []float32 {
	t.Helper()
	data, err := (&infer.Snapshot{State: state}).AppendWidth(nil, w)
	if err != nil {
		t.Fatal(err)
	}
	var back infer.Snapshot
	if err := back.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return back.State
}

func brain(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		bits := math.Float32bits(x)
		out[i] = math.Float32frombits((bits + 0x7fff + bits>>16&1) &^ 0xffff)
	}
	return out
}

// shifted is a state with the shift states of another.
func shifted(s rwkv.Shape, state, shifts []float32) []float32 {
	out := slices.Clone(state)
	for layer := range s.Layers {
		first, _ := s.StatePart(layer, rwkv.PartAttShift)
		copy(out[first:s.WKV(layer)], shifts[first:s.WKV(layer)])
	}
	return out
}

// TestWidthDrift measures what a compact state costs on the embedded model:
// docs/performance.md has the figures (go test -run WidthDrift -v ./infer). The
// weights run in fp32: in int8, activations are rounded, and any change of a state
// gives differences of a hundredth that hide those of the width.
func TestWidthDrift(t *testing.T) {
	const after = 64
	m, b, err := load.Open(t.Context(), load.Spec{Slots: 4, Weights: "fp32"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := startEmbedded(t, 4, nil)
	found := map[string]*drift{}
	prompts := storyPrompts
	enough := 300
	if !testing.Verbose() { // what can be written, on some tokens
		prompts, enough = prompts[2:3], 60
	}
	for name := range widths {
		if testing.Verbose() || name == "fp16" || name == "int8" {
			found[name] = &drift{}
		}
	}
	for seed, prompt := range prompts {
		text := encode(e, prompt)
		for _, length := range []int{0, 40, 200} {
			end := run(t, e, infer.Request{Tokens: text, Sampling: storyteller(uint64(seed)), MaxTokens: length + after})
			line := slices.Concat(text, end.Tokens)
			at := len(text) + length
			if len(line) < at+8 {
				continue // it has said all it had to
			}
			from := run(t, e, infer.Request{Tokens: line[:at], Logits: true}).Snapshot
			keep(t, from.State)
			for name, d := range found {
				d.add(t, b, m, from.State, widths[name](t, m.Shape, from.State), line[at:])
			}
		}
	}
	for name, d := range found {
		n := float64(d.tokens)
		t.Logf("%-18s %d tokens: %.4f nats a token exactly, %+.5f; likeliest token the same %.2f %%; logits off by %.5f of their deviation; greedy lines of %d part after %.1f",
			name, d.tokens, d.exact/n, (d.other-d.exact)/n, 100*float64(d.same)/n, math.Sqrt(d.rms/d.spread), after, float64(d.greedy)/float64(d.lines))
		most := 0.002
		if name == "fp16" {
			most = 0.0002
		}
		if cost := math.Abs(d.other-d.exact) / n; cost > most || float64(d.same)/n < 0.99 || d.tokens < enough {
			t.Errorf("%s: %v nats a token over %d tokens", name, cost, d.tokens)
		}
	}
}

// keep writes real states to a folder, for those who measure compression.
func keep(t *testing.T, state []float32) {
	if dir := os.Getenv("ROOKERY_STATES"); dir != "" {
		data, err := (&infer.Snapshot{State: state}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.CreateTemp(dir, "*.state")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// add reads tokens after both states.
func (d *drift) add(t *testing.T, b infer.Backend, m *infer.Model, exact, other []float32, tokens []int32) {
	t.Helper()
	for slot, state := range [][]float32{exact, other} {
		if err := b.WriteSlot(infer.Slot(slot), state); err != nil {
			t.Fatal(err)
		}
	}
	logits := [2][]float32{make([]float32, m.Shape.Vocab), make([]float32, m.Shape.Vocab)}
	step := func(next [2]int32) {
		rows := make([]infer.Row, 2)
		for i := range rows {
			rows[i] = infer.Row{Slot: infer.Slot(i), Tokens: next[i : i+1], Logits: logits[i]}
		}
		if err := b.Step(rows, make([]infer.Drawn, 2)); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range tokens[:len(tokens)-1] {
		step([2]int32{id, id})
		d.tokens++
		d.exact += nats(logits[0], tokens[i+1])
		d.other += nats(logits[1], tokens[i+1])
		if likeliest(logits[0]) == likeliest(logits[1]) {
			d.same++
		}
		d.compare(logits[0], logits[1])
	}
	for slot, state := range [][]float32{exact, other} {
		if err := b.WriteSlot(infer.Slot(slot), state); err != nil {
			t.Fatal(err)
		}
	}
	d.lines++
	next := [2]int32{tokens[0], tokens[0]}
	for range 64 {
		step(next)
		next = [2]int32{likeliest(logits[0]), likeliest(logits[1])}
		if next[0] != next[1] {
			break
		}
		d.greedy++
	}
}

func (d *drift) compare(a, b []float32) {
	mean := 0.0
	for _, x := range a {
		mean += float64(x) / float64(len(a))
	}
	for i, x := range a {
		d.rms += math.Pow(float64(x-b[i]), 2)
		d.spread += math.Pow(float64(x)-mean, 2)
	}
}

func likeliest(logits []float32) int32 {
	best := 0
	for i, x := range logits {
		if x > logits[best] {
			best = i
		}
	}
	return int32(best)
}

// nats is what a token costs under logits.
func nats(logits []float32, id int32) float64 {
	most := float64(slices.Max(logits))
	sum := 0.0
	for _, x := range logits {
		sum += math.Exp(float64(x) - most)
	}
	return math.Log(sum) + most - float64(logits[id])
}
