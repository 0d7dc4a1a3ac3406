//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rookery/infer"
	"rookery/infer/adapter"
	"rookery/infer/cpu"
	"rookery/infer/demo"
	"rookery/infer/rwkv"
	"rookery/infer/sampler"
)

// randomAdapter changes every product of a shape in one form, so that logits move
// by a good part of their size.
func randomAdapter(s rwkv.Shape, form adapter.Form, rank int, seed uint64) *adapter.Adapter {
	r := rand.New(rand.NewPCG(seed, uint64(form)))
	values := func(n int, size float64) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(size * (2*r.Float64() - 1))
		}
		return v
	}
	delta := func(out, in int) *adapter.Delta {
		d := &adapter.Delta{Form: form, Out: out, In: in, Rank: rank, Scale: 1}
		switch form {
		case adapter.DiSHA:
			d.Up = values(out*rank, 0.05)
			return d
		case adapter.BAT:
			d.Blocks = values(in*rank, 0.06)
			return d
		case adapter.DoRA:
			d.Gain = values(in, 0.3)
			d.Inner = values(in, 0.3)
			for i := range d.Gain {
				d.Gain[i]++
				d.Inner[i]++
			}
		}
		d.Scale = 0.5
		d.Down, d.Up = values(rank*in, math.Sqrt(3/float64(in))), values(out*rank, 2/math.Sqrt(float64(rank)))
		return d
	}
	a := &adapter.Adapter{Name: form.String(), Shape: s, Layers: make([]adapter.Layer, s.Layers)}
	for i := range a.Layers {
		a.Layers[i].Deltas = map[adapter.Target]*adapter.Delta{}
		for _, t := range adapter.LayerTargets(s) {
			out, in := s.TargetSize(string(t))
			a.Layers[i].Deltas[t] = delta(out, in)
		}
	}
	if form != adapter.BAT && form != adapter.DiSHA {
		a.Head = delta(s.Vocab, s.Embed)
	}
	return a
}

// demoAdapters are those that come with the embedded model.
func demoAdapters(t *testing.T) []*adapter.Adapter {
	t.Helper()
	var list []*adapter.Adapter
	for _, d := range demo.Adapters {
		a, err := demo.OpenAdapter(d.Name, adapter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// ran is the logits of a row that read tokens in chunks with an adapter.
func (m embedded) ran(t *testing.T, b infer.Backend, id infer.AdapterID, chunks ...[]int32) []float32 {
	t.Helper()
	if err := b.ZeroSlot(0); err != nil {
		t.Fatal(err)
	}
	logits := make([]float32, m.shape.Vocab)
	for _, tokens := range chunks {
		step(t, b, infer.Row{Tokens: tokens, Adapter: id, Logits: logits})
	}
	return logits
}

func load(t *testing.T, b infer.Backend, a *adapter.Adapter) infer.AdapterID {
	t.Helper()
	id, err := b.(infer.AdapterBackend).LoadAdapter(a, false)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Logits with every form of adapter are those of the processor with the same
// weights: a prompt at once, one by one, and with strangers beside.
func TestGPUAdapters(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	gpu, there := m.onGPU(t, l, Options{Slots: 16}), m.onCPU(t, "fp16")
	list := demoAdapters(t)
	for i, form := range []adapter.Form{adapter.LoRA, adapter.PiSSA, adapter.DoRA, adapter.DiSHA, adapter.BAT} {
		list = append(list, randomAdapter(m.shape, form, []int{16, 3, 8, 64, 32}[i], uint64(i)))
	}
	ids := []infer.AdapterID{0}
	tokens := m.continuation(t, gpu, 60)
	var single [][]int32
	for i := range tokens {
		single = append(single, tokens[i:i+1])
	}
	plain := m.ran(t, there, 0, tokens)
	want := [][]float32{plain}
	for _, a := range list {
		onCPU, id := load(t, there, a), load(t, gpu, a)
		if n := gpu.AdapterBytes(id); n <= 0 {
			t.Errorf("%s takes %d bytes", a.Name, n)
		}
		ids = append(ids, id)
		want = append(want, m.ran(t, there, onCPU, tokens))
		last := want[len(want)-1]
		atOnce, singly := difference(m.ran(t, gpu, id, tokens[:45], tokens[45:]), last), difference(m.ran(t, gpu, id, single...), last)
		t.Logf("%s: off by %.1e at once and %.1e one by one; it changes the logits by %.2f", a.Name, atOnce, singly, difference(plain, last))
		if max(atOnce, singly) > 3e-3 || difference(plain, last) < 0.05 {
			t.Errorf("%s: off by %.1e and %.1e, where it changes the logits by %.2f", a.Name, atOnce, singly, difference(plain, last))
		}
	}
	m.strangers(t, gpu, ids, tokens, want)
	for _, id := range ids[1:] {
		if err := gpu.DropAdapter(id); err != nil {
			t.Error(err)
		}
	}
	if err := gpu.Step([]infer.Row{{Tokens: tokens[:1], Adapter: ids[1]}}, make([]infer.Drawn, 1)); err == nil {
		t.Error("an adapter that was dropped is used")
	}
	if d := difference(m.ran(t, gpu, 0, tokens), plain); d > 3e-3 {
		t.Errorf("without adapters, afterwards: off by %.1e", d)
	}
}

// strangers runs rows with all adapters in the same steps, twice in other orders:
// each has the same bits both times, and what it should have.
func (m embedded) strangers(t *testing.T, b *Backend, ids []infer.AdapterID, tokens []int32, want [][]float32) {
	t.Helper()
	var before [][]float32
	for round := range 2 {
		var rows []infer.Row
		for i := range 16 {
			slot := infer.Slot((i*5 + round*3) % 16)
			if err := b.ZeroSlot(slot); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, infer.Row{Slot: slot, Adapter: ids[(i+round)%16%len(ids)], Tokens: tokens[:40], Logits: make([]float32, m.shape.Vocab)})
		}
		step(t, b, rows...)
		for at := 40; at < len(tokens); at++ {
			for i := range rows {
				rows[i].Tokens = tokens[at : at+1]
			}
			step(t, b, rows...)
		}
		for k := range ids {
			i := slices.IndexFunc(rows, func(r infer.Row) bool { return r.Adapter == ids[k] })
			if d := difference(rows[i].Logits, want[k]); d > 3e-3 {
				t.Errorf("adapter %d beside others: off by %.1e", ids[k], d)
			}
			if round == 0 {
				before = append(before, rows[i].Logits)
			} else if !slices.Equal(before[k], rows[i].Logits) {
				t.Errorf("adapter %d has other logits beside other rows", ids[k])
			}
		}
	}
}

// An adapter that is changed for another counts from the next token on, and what
// was read stays as it was.
func TestGPUAdapterSwap(t *testing.T) {
	l, m := openGPU(t), openEmbedded(t)
	gpu, there := m.onGPU(t, l, Options{Slots: 4}), m.onCPU(t, "fp16")
	one, two := randomAdapter(m.shape, adapter.LoRA, 16, 5), randomAdapter(m.shape, adapter.LoRA, 24, 6)
	tokens := m.continuation(t, gpu, 40)
	run := func(b infer.Backend, first, second infer.AdapterID) []float32 {
		m.ran(t, b, first, tokens[:20])
		logits := make([]float32, m.shape.Vocab)
		for _, id := range []infer.AdapterID{second, 0, second} {
			step(t, b, infer.Row{Tokens: tokens[20:30], Adapter: id, Logits: logits})
		}
		return logits
	}
	want := run(there, load(t, there, one), load(t, there, two))
	id := load(t, gpu, one)
	if d := difference(run(gpu, id, load(t, gpu, two)), want); d > 3e-3 {
		t.Errorf("changed in the middle: off by %.1e", d)
	}
}

// Rows on eight adapters run at a good part of the rate of rows on none.
func TestGPUAdapterRate(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	l := openGPU(t)
	for name, s := range map[string]rwkv.Shape{
		"0.1b": {Version: rwkv.V7, Layers: 12, Embed: 768, Heads: 12, HeadSize: 64, FFN: 3072, Vocab: 65536, Ranks: rwkv.Ranks{64, 64, 32, 128}},
		"1.5b": {Version: rwkv.V7, Layers: 24, Embed: 2048, Heads: 32, HeadSize: 64, FFN: 8192, Vocab: 65536, Ranks: rwkv.Ranks{96, 96, 64, 256}},
	} {
		b, err := l.Generate(t.Context(), s, cpu.SyntheticValues(s, 1), Options{Slots: 32})
		if err != nil {
			t.Fatal(err)
		}
		closeAtEnd(t, b)
		var ids []infer.AdapterID
		for i := range 8 {
			a := randomAdapter(s, adapter.LoRA, 16, uint64(i))
			a.Head = nil
			ids = append(ids, load(t, b, a))
		}
		rows := make([]infer.Row, 32)
		steps := func(adapted bool) float64 { // the median of their times
			for i := range rows {
				rows[i] = infer.Row{Slot: infer.Slot(i), Tokens: []int32{int32(i + 1)}, Sampler: sampler.New(s.Vocab, sampler.Params{Temperature: 1, TopP: 0.5})}
				if adapted {
					rows[i].Adapter = ids[i%8]
				}
			}
			var times []float64
			for range 60 {
				began := time.Now()
				step(t, b, rows...)
				times = append(times, time.Since(began).Seconds())
			}
			slices.Sort(times)
			return times[len(times)/2]
		}
		steps(true)
		plain, adapted := steps(false), steps(true)
		plain, adapted = min(plain, steps(false)), min(adapted, steps(true))
		t.Logf("%s: 32 rows in %.2f ms, with eight adapters of rank 16 in %.2f ms: %.2f of the rate", name, 1e3*plain, 1e3*adapted, plain/adapted)
		if plain/adapted < 0.7 {
			t.Errorf("%s: with adapters, %.2f of the rate", name, plain/adapted)
		}
	}
}
