//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"math"
	"slices"
	"testing"

	"rookery/infer"
	"rookery/infer/checkpoint"
	"rookery/infer/cpu"
	"rookery/infer/demo"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
	"rookery/infer/tokenizer"
)

// The tests of this file run on a GPU: with the library that ROOKERY_LIB names,
// on the embedded model. `make test-cuda` runs them.

// openGPU opens the real library, or skips the test.
func openGPU(t *testing.T) *Library {
	t.Helper()
	l, err := Open()
	if err != nil {
		t.Skip(err)
	}
	if _, err := l.Devices(); err != nil {
		t.Skip(err)
	}
	return l
}

// An embedded is the embedded model.
type embedded struct {
	file  *checkpoint.File
	shape rwkv.Shape
	model *infer.Model
}

func openEmbedded(t *testing.T) embedded {
	t.Helper()
	f, err := demo.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := rwkv.Detect(f)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Parse(demo.Name, f.Vocab())
	if err != nil {
		t.Fatal(err)
	}
	return embedded{f, s, &infer.Model{Name: demo.Name, Shape: s, Fingerprint: f.Fingerprint(), Tokenizer: tok}}
}

func (m embedded) onGPU(t *testing.T, l *Library, o Options) *Backend {
	t.Helper()
	o.TokenLimit = m.model.Tokenizer.Size()
	for id := range int32(o.TokenLimit) {
		if sampler.PipExempt(m.model.Tokenizer.Bytes(id)) {
			o.Exempt = append(o.Exempt, id)
		}
	}
	b, err := l.Load(t.Context(), m.file, m.shape, o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b)
	return b
}

func (m embedded) onCPU(t *testing.T, weights string) infer.Backend {
	t.Helper()
	b, err := cpu.Load(t.Context(), m.file, m.shape, cpu.Options{Weights: weights, Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, b)
	return b
}

func closeAtEnd(t *testing.T, b infer.Backend) {
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

const story = "User: Tell me a story about a brave cat.\n\nAssistant:"

// continuation reads the story's beginning and then generates greedily, a token a step.
func (m embedded) continuation(t *testing.T, b infer.Backend, n int) []int32 {
	t.Helper()
	return m.goOn(t, b, story, n).tokens
}

// A told is a greedy continuation with the logits that its tokens were drawn from.
type told struct {
	tokens []int32
	logits [][]float32
}

// goOn reads a prompt and then generates greedily, a token a step.
func (m embedded) goOn(t *testing.T, b infer.Backend, prompt string, n int) told {
	t.Helper()
	var out told
	m.follow(t, b, prompt, n, func(_ int, d infer.Drawn, logits []float32) int32 {
		out.tokens = append(out.tokens, d.Token)
		out.logits = append(out.logits, logits)
		return d.Token
	})
	return out
}

// follow reads a prompt and then n tokens, one a step, each what next makes of
// the likeliest one and its logits.
func (m embedded) follow(t *testing.T, b infer.Backend, prompt string, n int, next func(i int, d infer.Drawn, logits []float32) int32) {
	t.Helper()
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	s := sampler.New(m.model.Tokenizer.Size(), sampler.Params{TopP: 1, Ban: []int32{0}})
	tokens := m.model.Tokenizer.Encode(nil, prompt)
	for i := range n {
		logits := make([]float32, m.shape.Vocab)
		d := step(t, b, infer.Row{Tokens: tokens, Sampler: s, Logits: logits})
		s.Observe(d[0].Token)
		tokens = []int32{next(i, d[0], logits)}
	}
}

// difference is the norm of the difference over the norm.
func difference(got, want []float32) float64 {
	var d, n float64
	for i := range want {
		d += math.Pow(float64(got[i]-want[i]), 2)
		n += math.Pow(float64(want[i]), 2)
	}
	return math.Sqrt(d / n)
}

// The logits stay those of exact arithmetic: after a prompt in one chunk, and
// after tokens one by one, which must also agree with each other.
func TestGPULogits(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	exact := m.onCPU(t, "fp32")
	tokens := m.continuation(t, exact, 400)
	logits := func(b infer.Backend, chunk int) []float32 {
		if err := b.ZeroSlot(1); err != nil {
			t.Fatal(err)
		}
		out := make([]float32, m.shape.Vocab)
		for part := range slices.Chunk(tokens, chunk) {
			step(t, b, infer.Row{Slot: 1, Tokens: part, Logits: out})
		}
		return out
	}
	want := logits(exact, 100)
	for _, o := range []Options{{}, {State: "fp16"}} {
		o.Slots = 4
		b := m.onGPU(t, l, o)
		single := logits(b, 1)
		if d := difference(single, want); d > 3e-3 {
			t.Errorf("%s: one by one, the logits are off by %.1e", b.Name(), d)
		}
		for _, chunk := range []int{7, 16, 400} {
			if d := difference(logits(b, chunk), single); d > 2e-3 {
				t.Errorf("%s: in chunks of %d, the logits are off by %.1e", b.Name(), chunk, d)
			}
		}
	}
}

// Every draw is the one that the host makes from the same logits, with the same
// candidates, and leaves the same counts.
func TestGPUDrawsAsTheHost(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	b := m.onGPU(t, l, Options{Slots: 64})
	var rows []infer.Row
	var twins []*sampler.Sampler
	for i := range 64 {
		p := sampler.Params{
			Mode: sampler.Mode(i % 3), Temperature: []float32{1, 0, 0.7, 2.5}[i/3%4], TopP: []float32{1, 0.5, 0.95, 0}[i/5%4],
			TopK: []int{0, 1, 40, 500}[i/7%4], Presence: []float32{0, 0.5}[i/2%2], Frequency: []float32{0, 0.25}[i/4%2], Decay: 0.99,
			Seed: uint64(i) << 33, Ban: []int32{0, int32(i)},
		}
		rows = append(rows, infer.Row{
			Slot: infer.Slot(i), Tokens: m.model.Tokenizer.Encode(nil, story)[:4+i%8], Sampler: m.sampler(p), Top: i % 9,
			Logits: make([]float32, m.shape.Vocab),
		})
		twins = append(twins, m.sampler(p))
	}
	for n := range 100 {
		for i, d := range step(t, b, rows...) {
			twin := twins[i]
			top := twin.Top(rows[i].Logits, rows[i].Top)
			token, logProb := twin.Sample(rows[i].Logits)
			if d.Token != token || math.Abs(float64(d.LogProb-logProb)) > 1e-4 || !near(d.Top, top) {
				t.Fatalf("step %d, row %d, %+v: drew %+v, want token %d with %v, %+v", n, i, twin.Params(), d, token, logProb, top)
			}
			rows[i].Sampler.Observe(token)
			twin.Observe(token)
			rows[i].Tokens = []int32{token}
			if p := twin.Effective(); counts(p) && !slices.Equal(deviceCounts(t, l, b, rows[i].Slot), twin.Memory().Counts) {
				t.Fatalf("step %d, row %d, %+v: the counts differ", n, i, p)
			}
		}
	}
}

func (m embedded) sampler(p sampler.Params) *sampler.Sampler {
	s := sampler.New(m.model.Tokenizer.Size(), p)
	s.Exempt = func(id int32) bool { return sampler.PipExempt(m.model.Tokenizer.Bytes(id)) }
	return s
}

// near says whether candidates are the same within rounding.
func near(a, b []sampler.Candidate) bool {
	return slices.EqualFunc(a, b, func(a, b sampler.Candidate) bool {
		return a.Token == b.Token && math.Abs(float64(a.LogProb-b.LogProb)) < 1e-4 && math.Abs(float64(a.Prob-b.Prob)) < 1e-5
	})
}

func TestGPUSlots(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	for _, state := range []string{"fp32", "fp16"} {
		b := m.onGPU(t, l, Options{Slots: 3, State: state})
		m.continuation(t, b, 3)
		one, two := make([]float32, m.shape.StateLen()), make([]float32, m.shape.StateLen())
		for _, err := range []error{b.ReadSlot(0, one), b.WriteSlot(1, one), b.CopySlot(2, 1), b.ZeroSlot(0), b.ZeroSlot(1), b.ReadSlot(2, two)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(one, two) {
			t.Errorf("%s: a state is not what was written", state)
		}
		if err := b.ReadSlot(1, two); err != nil || slices.ContainsFunc(two, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s: a cleared state is not zero (%v)", state, err)
		}
	}
}

// Run to run, and interrupted or not, an answer has the same tokens.
func TestGPUResumes(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	e := infer.NewEngine(m.model, m.onGPU(t, l, Options{Slots: 8}), infer.Options{})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	p := sampler.Params{Temperature: 1, TopP: 0.7, Presence: 0.3, Frequency: 0.3, Decay: 0.99, Seed: 4, Ban: []int32{0}}
	r := infer.Request{Tokens: m.model.Tokenizer.Encode(nil, story), Sampling: p, MaxTokens: 120}
	whole := finish(t, submit(t, e, r))
	if again := finish(t, submit(t, e, r)); !slices.Equal(again.Tokens, whole.Tokens) || whole.Err != nil {
		t.Errorf("the second run differs (%v)", whole.Err)
	}
	var pieces []int32
	part := r
	part.MaxTokens = 17
	for len(pieces) < len(whole.Tokens) {
		part.MaxTokens = min(17, len(whole.Tokens)-len(pieces))
		end := finish(t, submit(t, e, part))
		if end.Err != nil {
			t.Fatal(end.Err)
		}
		pieces = append(pieces, end.Tokens...)
		part.From, part.Tokens = end.Snapshot, nil
	}
	if !slices.Equal(pieces, whole.Tokens) {
		t.Error("in pieces, the answer has other tokens")
	}
}
