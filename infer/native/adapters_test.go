//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"slices"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/adapter"
)

// tiny is an adapter of one product of the fake's model, in one form.
func tiny(form adapter.Form, seed float32) *adapter.Adapter {
	s := model().Shape
	d := &adapter.Delta{Form: form, Out: s.Embed, In: s.Embed, Rank: 2, Scale: 3}
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = seed + float32(i%5)/8
		}
		return v
	}
	d.Up = fill(2 * s.Embed)
	switch form {
	case adapter.BAT:
		d.Blocks, d.Up = fill(2*s.Embed), nil
	case adapter.DoRA:
		d.Gain, d.Inner = fill(s.Embed), fill(2 * s.Embed)[s.Embed:]
		fallthrough
	default:
		d.Down = fill(2 * s.Embed)
	case adapter.DiSHA:
	}
	a := &adapter.Adapter{Name: form.String(), Shape: s, Layers: make([]adapter.Layer, s.Layers)}
	a.Layers[s.Layers-1].Deltas = map[adapter.Target]*adapter.Delta{adapter.Output: d}
	return a
}

// Both halves of every form make of any input what the form does: what Merge
// makes of the weight zero, from the input as it is before gain and blocks.
func TestNarrow(t *testing.T) {
	for _, form := range []adapter.Form{adapter.LoRA, adapter.PiSSA, adapter.DoRA, adapter.DiSHA, adapter.BAT} {
		d := tiny(form, 0.25).Layers[model().Shape.Layers-1].Deltas[adapter.Output]
		down, up := narrow(d)
		for o := range d.Out {
			want, got := make([]float32, d.In), make([]float32, d.In)
			d.Merge(want, o)
			for j := range got {
				for k := range d.Rank {
					got[j] += up[o*d.Rank+k] * down[k*d.In+j]
				}
			}
			if difference(got, want) > 1e-6 {
				t.Fatalf("%s, output %d: %v, want %v", form, o, got[:8], want[:8])
			}
		}
	}
}

// Rows have the adapters they name, and others none; one is dropped and another
// loaded while the rest stays.
func TestAdaptersOfRows(t *testing.T) {
	b := loadFake(t, openFake(t), Options{})
	load := func(a *adapter.Adapter) infer.AdapterID {
		id, err := b.LoadAdapter(a, false)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	run := func(ids ...infer.AdapterID) [][]float32 {
		var rows []infer.Row
		var out [][]float32
		for i, id := range ids {
			if err := b.ZeroSlot(infer.Slot(i)); err != nil {
				t.Fatal(err)
			}
			out = append(out, make([]float32, b.shape.Vocab))
			rows = append(rows, infer.Row{Slot: infer.Slot(i), Tokens: []int32{7}, Adapter: id, Logits: out[i]})
		}
		step(t, b, rows...)
		return out
	}
	one, two := load(tiny(adapter.LoRA, 1)), load(tiny(adapter.DoRA, 1))
	got := run(0, one, two, one, 0)
	if !slices.Equal(got[0], got[4]) || !slices.Equal(got[1], got[3]) || slices.Equal(got[0], got[1]) || slices.Equal(got[1], got[2]) {
		t.Error("rows have not the adapters that they name")
	}
	if b.AdapterBytes(one) <= 0 || b.DropAdapter(one) != nil || b.DropAdapter(one) == nil {
		t.Error("an adapter is not dropped once")
	}
	if err := b.Step([]infer.Row{{Tokens: []int32{7}, Adapter: one}}, make([]infer.Drawn, 1)); err == nil {
		t.Error("an adapter that was dropped is used")
	}
	three := load(tiny(adapter.BAT, 2))
	if again := run(0, two, three); !slices.Equal(again[1], got[2]) || slices.Equal(again[2], got[1]) {
		t.Error("dropping one adapter and loading another changes a third")
	}
}

// What a GPU cannot run is refused by name, with a way out, and takes nothing.
func TestAdaptersRefused(t *testing.T) {
	l := openFake(t)
	b := loadFake(t, l, Options{})
	own := tiny(adapter.LoRA, 1)
	own.Replaced = map[string][]float32{"blocks.1.att.time_offset": {1}, "blocks.0.att.w0": {1}}
	experts := tiny(adapter.LoRA, 1)
	experts.Layers[0].Experts = &adapter.Experts{}
	other := tiny(adapter.LoRA, 1)
	other.Shape.Layers++
	wide := tiny(adapter.LoRA, 1)
	wide.Layers[model().Shape.Layers-1].Deltas[adapter.Output].Rank = rankMax + 1
	for want, a := range map[string]*adapter.Adapter{
		"blocks.0.att.w0": own, "experts": experts, "layers": other, "of the form Bone": tiny(adapter.Bone, 1), "rank 1025": wide,
	} {
		if _, err := b.LoadAdapter(a, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := b.LoadAdapter(tiny(adapter.LoRA, 1), true); err == nil || !strings.Contains(err.Error(), "--backend cpu") {
		t.Errorf("merged: error %v", err)
	}
	for range 64 {
		if _, err := b.LoadAdapter(tiny(adapter.LoRA, 1), false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.LoadAdapter(tiny(adapter.LoRA, 1), false); err == nil {
		t.Error("more adapters than the library takes")
	}
}
