package cpu

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu/kernel"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
)

// An adapterCase is the logits with an adapter, from the public reference with
// the adapter merged by its trainer's formula; testdata/adapters.py made it.
type adapterCase struct {
	Name   string
	Alpha  float32
	Blocks string
	Init   bool
	After  int
	Std    float64
	Logits string
}

func adapterCases(t *testing.T) (golden, []adapterCase) {
	t.Helper()
	var goldens []golden
	readJSON(t, "testdata/golden.json", &goldens)
	var cases []adapterCase
	readJSON(t, "testdata/adapters.json", &cases)
	return goldens[0], cases
}

func (c adapterCase) open(t *testing.T, g golden) *adapter.Adapter { return c.openAt(t, g, 1) }

func (c adapterCase) openAt(t *testing.T, g golden, strength float32) *adapter.Adapter {
	t.Helper()
	o := adapter.Options{Alpha: c.Alpha, Blocks: c.Blocks, Strength: strength}
	if c.Init {
		o.Init = filepath.Join("testdata", "adapters", c.Name+"-init.pth")
	}
	a, err := adapter.Open(filepath.Join("testdata", "adapters", c.Name+".pth"), g.shape(), SyntheticValues(g.shape(), g.Seed), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// adapted gives the logits after the golden tokens with an adapter.
func adapted(t *testing.T, b *Backend, id infer.AdapterID, after int) []float32 {
	t.Helper()
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	row := infer.Row{Tokens: goldenTokens(after, b.model.shape.Vocab), Adapter: id, Logits: make([]float32, b.model.shape.Vocab)}
	step(t, b, row)
	return row.Logits
}

// TestAdaptersAsTrained compares every form, apart from the weights and merged
// into them, with the trainers' formulas.
func TestAdaptersAsTrained(t *testing.T) {
	g, cases := adapterCases(t)
	const exact = 1e-5 // standard deviations of the logits
	bounds := map[kernel.Type]float64{kernel.F32: exact, kernel.F16: 0.006, kernel.BF16: 0.04, kernel.Q8: 0.12}
	eachVariant(t, kernel.Available(), func(t *testing.T, path kernel.Path, typ kernel.Type) {
		b := synthetic(t, g.shape(), g.Seed, Options{Weights: typ.String(), ISA: path.String()})
		for _, c := range cases {
			a, bound := c.open(t, g), bounds[typ]
			if strings.HasPrefix(c.Name, "mole") && typ != kernel.F32 {
				bound *= 4 // weights of fewer bits can choose another expert
			}
			for _, merged := range []bool{false, true} {
				id, err := b.LoadAdapter(a, merged)
				if err != nil {
					t.Fatal(err)
				}
				off := maxDifference(adapted(t, b, id, c.After), floats(t, c.Logits)) / c.Std
				t.Logf("%s, merged %v: off by %.2g", c.Name, merged, off)
				if !(off <= bound) {
					t.Errorf("%s, merged %v: off by %.2g standard deviations, more than %.2g", c.Name, merged, off, bound)
				}
				if changed := maxDifference(adapted(t, b, 0, c.After), floats(t, c.Logits)) / c.Std; changed < 0.05 {
					t.Errorf("%s changes the logits by %.2g standard deviations only: the test shows nothing", c.Name, changed)
				}
				if err := b.DropAdapter(id); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestAdaptersAtAStrength compares every form at part of its strength, apart from the
// weights, with the weights that lie so far between the model's and the adapter's.
func TestAdaptersAtAStrength(t *testing.T) {
	g, cases := adapterCases(t)
	b := synthetic(t, g.shape(), g.Seed, Options{Weights: "fp32"})
	plain := map[int][]float32{}
	for _, c := range cases {
		if plain[c.After] == nil {
			plain[c.After] = adapted(t, b, 0, c.After)
		}
		for _, k := range []float32{0.001, 0.3, 1.6} {
			a := c.openAt(t, g, k)
			logits := map[bool][]float32{}
			for _, merged := range []bool{false, true} {
				id, err := b.LoadAdapter(a, merged)
				if err != nil {
					t.Fatal(err)
				}
				logits[merged] = adapted(t, b, id, c.After)
				if err := b.DropAdapter(id); err != nil {
					t.Fatal(err)
				}
			}
			if off := maxDifference(logits[false], logits[true]) / c.Std; off > 2e-5 {
				t.Errorf("%s at %v: merged and apart differ by %.2g", c.Name, k, off)
			}
			if near := maxDifference(logits[false], plain[c.After]) / c.Std; k < 0.01 && near > 0.02 {
				t.Errorf("%s at %v: %.2g away from the model as it is", c.Name, k, near)
			}
			if full := maxDifference(logits[true], floats(t, c.Logits)) / c.Std; full < 0.02 {
				t.Errorf("%s at %v: as at full strength (%.2g)", c.Name, k, full)
			}
		}
	}
}

// TestAdaptersTogether runs rows with all adapters and with none in the same
// steps; each gives what it gives alone, bit for bit.
func TestAdaptersTogether(t *testing.T) {
	g, cases := adapterCases(t)
	eachVariant(t, []kernel.Path{kernel.Best()}, func(t *testing.T, path kernel.Path, typ kernel.Type) {
		b := synthetic(t, g.shape(), g.Seed, Options{Weights: typ.String(), ISA: path.String(), Slots: 64})
		ids := []infer.AdapterID{0}
		for i, c := range cases {
			id, err := b.LoadAdapter(c.open(t, g), i%3 == 2)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		alone := map[infer.AdapterID][]float32{}
		for _, id := range ids {
			alone[id] = adapted(t, b, id, 17)
		}
		var rows []infer.Row
		for i := range 2 * len(ids) {
			slot := infer.Slot(i)
			if err := b.ZeroSlot(slot); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, infer.Row{
				Slot: slot, Adapter: ids[(i*7)%len(ids)], Tokens: goldenTokens(17, g.Vocab)[:16], Sampler: sampler.New(g.Vocab, sampler.Params{TopP: 1}),
			})
		}
		step(t, b, rows...)
		for i := range rows {
			rows[i].Tokens = goldenTokens(17, g.Vocab)[16:]
			rows[i].Logits = make([]float32, g.Vocab)
		}
		drawn := step(t, b, rows...)
		for i, r := range rows {
			if !slices.Equal(r.Logits, alone[r.Adapter]) {
				t.Errorf("row %d with adapter %d: off by %g", i, r.Adapter, maxDifference(r.Logits, alone[r.Adapter]))
			}
			want, _ := sampler.New(g.Vocab, sampler.Params{TopP: 1}).Sample(alone[r.Adapter])
			if drawn[i].Token != want {
				t.Errorf("row %d drew %d, alone %d", i, drawn[i].Token, want)
			}
		}
	})
}

// TestAdapterAllocations: a step with adapters allocates nothing.
func TestAdapterAllocations(t *testing.T) {
	g, cases := adapterCases(t)
	b := synthetic(t, g.shape(), g.Seed, Options{Weights: "int8"})
	var rows []infer.Row
	for i, c := range cases[:5] {
		id, err := b.LoadAdapter(c.open(t, g), false)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, infer.Row{Slot: infer.Slot(i), Adapter: id, Tokens: []int32{1}, Sampler: sampler.New(g.Vocab, sampler.Params{})})
	}
	drawn := make([]infer.Drawn, len(rows))
	run := func() {
		if err := b.Step(rows, drawn); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}

func TestAdapterErrors(t *testing.T) {
	g, cases := adapterCases(t)
	b := synthetic(t, g.shape(), g.Seed, Options{})
	err := b.Step([]infer.Row{{Tokens: []int32{1}, Adapter: 3}}, make([]infer.Drawn, 1))
	if err == nil || err.Error() != "step of 1 rows: row 0: adapter 3 is not loaded" {
		t.Errorf("a row with an adapter that is not there: %v", err)
	}
	if err := b.DropAdapter(0); err == nil {
		t.Error("the model itself was dropped")
	}
	other := synthetic(t, small, 1, Options{})
	if _, err := other.LoadAdapter(cases[0].open(t, g), false); err == nil {
		t.Error("an adapter of another shape was loaded")
	}
	_, err = adapter.Open(filepath.Join("testdata", "adapters", "lora.pth"), g.shape(), nil, adapter.Options{})
	if q := new(adapter.QuestionError); !errors.As(err, &q) || q.Asked != "alpha" {
		t.Errorf("a LoRA without alpha: %v", err)
	}
}

// BenchmarkAdapters is steps of 32 rows of 0.1B's shape: without adapters, with
// one beside the weights, with one merged, and with eight of rank 16. The four
// take turns, so that what else the machine does hits them alike; the metrics
// are medians: tokens a second without adapters, and what of it remains.
func BenchmarkAdapters(b *testing.B) {
	for _, weights := range []string{"int8", "fp16"} {
		b.Run(weights, func(b *testing.B) { benchmarkAdapters(b, weights) })
	}
}

func benchmarkAdapters(b *testing.B, weights string) {
	const rows = 32
	m, err := Synthetic(b.Context(), shape01B, 1, Options{Weights: weights})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			b.Error(err)
		}
	}()
	load := func(i int, merged bool) infer.AdapterID {
		id, err := m.LoadAdapter(randomLoRA(shape01B, 16, uint64(i)), merged)
		if err != nil {
			b.Fatal(err)
		}
		return id
	}
	var eight []infer.AdapterID
	for i := range 8 {
		eight = append(eight, load(i, false))
	}
	cases := [][]infer.AdapterID{{0}, eight[:1], {load(0, true)}, eight}
	batches := make([][]infer.Row, len(cases))
	for i, ids := range cases {
		for r := range rows {
			batches[i] = append(batches[i], infer.Row{
				Slot: infer.Slot(r), Tokens: []int32{int32(r)}, Adapter: ids[r%len(ids)],
				Sampler: sampler.New(shape01B.Vocab, sampler.Params{TopP: 0.9}),
			})
		}
	}
	times := make([][]float64, len(cases))
	drawn := make([]infer.Drawn, rows)
	for b.Loop() {
		plain := 0.0
		for i, batch := range batches {
			start := time.Now()
			if err := m.Step(batch, drawn); err != nil {
				b.Fatal(err)
			}
			took := time.Since(start).Seconds()
			if i == 0 {
				plain = took
				times[0] = append(times[0], rows/took)
			} else {
				times[i] = append(times[i], plain/took)
			}
		}
	}
	for i, name := range []string{"tok/s", "one", "merged", "eight"} {
		slices.Sort(times[i])
		b.ReportMetric(times[i][len(times[i])/2], name)
	}
}

// randomLoRA changes all six products of every layer.
func randomLoRA(s rwkv.Shape, rank int, seed uint64) *adapter.Adapter {
	a := &adapter.Adapter{Name: "random", Shape: s, Layers: make([]adapter.Layer, s.Layers)}
	values := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			seed = seed*6364136223846793005 + 1442695040888963407
			bits := math.Float32bits(float32(int32(seed>>32))/(1<<31)*0.01) &^ 0xffff
			v[i] = math.Float32frombits(bits)
		}
		return v
	}
	for i := range a.Layers {
		a.Layers[i].Deltas = map[adapter.Target]*adapter.Delta{}
		for _, t := range adapter.LayerTargets(s) {
			out, in := s.TargetSize(string(t))
			a.Layers[i].Deltas[t] = &adapter.Delta{
				Form: adapter.LoRA, Out: out, In: in, Rank: rank, Scale: 2, Down: values(rank * in), Up: values(out * rank),
			}
		}
	}
	return a
}

// TestAdaptedHeadParity: with a head whose change is as large as its weights, logits
// apart from the weights and merged into them differ by a few of fp32's last places: a
// logit is one sum of rounded products here and two there.
func TestAdaptedHeadParity(t *testing.T) {
	g, _ := adapterCases(t)
	s := g.shape()
	b := synthetic(t, s, g.Seed, Options{Weights: "fp32"})
	for seed := range uint64(20) {
		a := &adapter.Adapter{Name: "head", Shape: s, Layers: make([]adapter.Layer, s.Layers)}
		values := randomLoRA(s, 16, 100+seed).Layers[1].Deltas[adapter.FFNKey]
		a.Head = &adapter.Delta{Form: adapter.LoRA, Out: s.Vocab, In: s.Embed, Rank: 8, Scale: 3000}
		for len(a.Head.Up) < s.Vocab*8 {
			a.Head.Up = append(a.Head.Up, values.Up...)
		}
		a.Head.Up, a.Head.Down = a.Head.Up[:s.Vocab*8], values.Down[:8*s.Embed]
		var logits [2][]float32
		for i, merged := range []bool{false, true} {
			id, err := b.LoadAdapter(a, merged)
			if err != nil {
				t.Fatal(err)
			}
			logits[i] = adapted(t, b, id, 17)
			if err := b.DropAdapter(id); err != nil {
				t.Fatal(err)
			}
		}
		largest := maxDifference(logits[0], make([]float32, s.Vocab))
		off := maxDifference(logits[0], logits[1])
		t.Logf("off by %.2g of logits up to %.3g", off, largest)
		if off > 1e-6*largest {
			t.Errorf("seed %d: off by %.2g of logits up to %.3g", seed, off, largest)
		}
	}
}
