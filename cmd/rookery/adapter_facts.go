package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rookery/infer/adapter"
)

// adapterFacts are what `adapters inspect --json` prints. docs/adapters.md has them.
type adapterFacts struct {
	Name        string        `json:"name"`
	Path        string        `json:"path,omitempty"`
	Fingerprint string        `json:"fingerprint"`
	Kinds       string        `json:"kinds"`
	Rank        int           `json:"rank"`
	Scale       float32       `json:"scale,omitempty"` // of LoRA and DoRA; the strength is not in it
	Strength    float32       `json:"strength"`
	Layers      int           `json:"layers"`
	Targets     []targetFacts `json:"targets"`
	Experts     int           `json:"experts,omitempty"` // in a layer, the unchanged one included
	Active      int           `json:"active_experts,omitempty"`
	Replaced    []string      `json:"replaced,omitempty"`
	HasState    bool          `json:"has_state"`
	Bytes       int64         `json:"bytes"`
	Touched     int64         `json:"touched_weights"`
}

// targetFacts describe one matrix product in all layers.
type targetFacts struct {
	Target string `json:"target"`
	Form   string `json:"form"`
	Ranks  []int  `json:"ranks"` // the different ones, in order
	Layers int    `json:"layers"`
}

// describeAdapter collects the facts of an adapter that was read at a strength.
func describeAdapter(a *adapter.Adapter, strength float32) adapterFacts {
	f := adapterFacts{
		Name: a.Name, Path: a.Path, Fingerprint: a.Fingerprint, Kinds: a.Kinds(), Rank: a.Rank(), Strength: strength,
		Layers: a.Shape.Layers, HasState: a.HasState, Bytes: a.Bytes(), Touched: a.Touched(),
		Replaced: slices.Sorted(maps.Keys(a.Replaced)), Targets: []targetFacts{},
	}
	if a.Scaled() {
		f.Scale = a.Scale() / f.Strength
	}
	for _, t := range adapter.LayerTargets(a.Shape) {
		var ds []*adapter.Delta
		for _, l := range a.Layers {
			ds = append(ds, l.Deltas[t])
		}
		f.addTarget(t, ds)
	}
	f.addTarget(adapter.Head, []*adapter.Delta{a.Head})
	for _, l := range a.Layers {
		if l.Experts != nil {
			f.Experts, f.Active = max(f.Experts, len(l.Experts.Key)), l.Experts.Active
		}
	}
	return f
}

// addTarget adds the facts of one product; ds has an entry for each layer, nil where
// the adapter does not change it.
func (f *adapterFacts) addTarget(t adapter.Target, ds []*adapter.Delta) {
	at := map[string]*targetFacts{}
	for _, d := range ds {
		if d == nil {
			continue
		}
		form := d.Form.String()
		if at[form] == nil {
			at[form] = &targetFacts{Target: string(t), Form: form}
		}
		x, rank := at[form], d.Rank
		if d.Form == adapter.PiSSA {
			rank /= 2 // the file holds its values twice: now, and as training began
		}
		x.Layers++
		if i, ok := slices.BinarySearch(x.Ranks, rank); !ok {
			x.Ranks = slices.Insert(x.Ranks, i, rank)
		}
	}
	for _, form := range slices.Sorted(maps.Keys(at)) {
		f.Targets = append(f.Targets, *at[form])
	}
}

// write prints the facts for people.
func (f adapterFacts) write(out io.Writer) error {
	w := newTable(out)
	w.fact("name", "%s", f.Name)
	w.fact("kind", "%s", f.Kinds)
	if f.Scale != 0 {
		w.fact("scale", "%.4g", f.Scale)
	}
	w.fact("strength", "%.4g", f.Strength)
	for _, t := range f.Targets {
		w.fact(t.Target, "%s of rank %s in %d of %d layers", t.Form, strings.Trim(fmt.Sprint(t.Ranks), "[]"), t.Layers, f.Layers)
	}
	if f.Experts > 0 {
		w.fact("experts", "%d a layer, %d at a time", f.Experts, f.Active)
	}
	if n := len(f.Replaced); n > 0 {
		w.fact("replaced", "%s", strings.Join(f.Replaced, ", "))
	}
	if f.HasState {
		w.fact("state", "the file also holds a tuned state: `rookery states import` adds it to the library")
	}
	w.fact("memory", "%s", bytesText(f.Bytes))
	w.fact("fingerprint", "%s", f.Fingerprint)
	return w.Flush()
}
