package adapter

import (
	"fmt"
	"slices"
	"strings"

	"rookery/infer/rwkv"
)

// A Target is a weight that adapters change, by its name in the model without
// "blocks.N." and ".weight". A model's rwkv.Shape says which there are.
type Target string

// The targets that backends and readers name.
const (
	Receptance Target = "att.receptance"
	Key        Target = "att.key"
	Value      Target = "att.value"
	Output     Target = "att.output"
	Gate       Target = "att.gate"
	FFNKey     Target = "ffn.key"
	FFNValue   Target = "ffn.value"
	Head       Target = "head"

	FFNReceptance Target = "ffn.receptance"
)

// LayerTargets are the targets in every layer of a model, in the order of its
// tensors.
func LayerTargets(s rwkv.Shape) []Target {
	names, _ := s.Targets()
	out := make([]Target, len(names))
	for i, name := range names {
		out[i] = Target(name)
	}
	return out
}

// A Form is how an adapter changes a product; see the package comment.
type Form uint8

// The forms.
const (
	LoRA Form = iota + 1
	PiSSA
	DoRA
	DiSHA
	BAT
	Bone
	DoRARows
)

var formNames = [...]string{"none", "LoRA", "PiSSA", "DoRA", "DiSHA", "BAT", "Bone", "DoRA by rows"}

func (f Form) String() string { return formNames[f] }

// A Delta is the change of one product. Matrices are row-major.
type Delta struct {
	Form    Form
	Out, In int
	Rank    int
	Scale   float32   // of Up·Down; 1 where the form has none
	Down    []float32 // [Rank, In]: LoRA, DoRA; PiSSA has A over A0 and twice the rank
	Up      []float32 // [Out, Rank]: LoRA, DoRA, PiSSA (B beside -B0), DiSHA (Dᵀ)
	Gain    []float32 // [In]: DoRA, of the input of W
	Inner   []float32 // [In]: DoRA, of the input of Down
	Outer   []float32 // [Out]: DoRA by rows, of W; Up has its own in it
	Blocks  []float32 // [In/Rank, Rank, Rank]: BAT's D; Bone's is [Out/Rank, Rank, Rank]
}

// OnlyMerged says that the form can only be run merged: apart it would cost as much
// as the product itself.
func (d *Delta) OnlyMerged() bool { return d.Form == Bone || d.Form == DoRARows }

// Bytes is what the values take in memory.
func (d *Delta) Bytes() int64 {
	return 4 * int64(len(d.Down)+len(d.Up)+len(d.Gain)+len(d.Inner)+len(d.Outer)+len(d.Blocks))
}

// Experts are a layer's mixture of LoRA experts on the channel mix:
//
//	ℓ = [0; Router z];  T the Active largest;  γ = softmax(ℓ_T)
//	dx = (1-k) E(z) + k Σ_T γ_e E_e(z),  E_e(z) = (Wv + Value_e) relu²((Wk + Key_e) z)
//
// E is the channel mix without experts, and k the strength.
type Experts struct {
	Active   int
	Strength float32
	Router   []float32 // [len(Key)-1, C]
	Key      []*Delta  // one for each expert, nil for one that changes nothing
	Value    []*Delta
}

// A Layer is what an adapter changes in one layer.
type Layer struct {
	Deltas  map[Target]*Delta // a target that is not in it is unchanged
	Experts *Experts
}

// An Adapter is one that was read and checked against a shape.
type Adapter struct {
	Name        string // the file's base name
	Path        string
	Fingerprint string // of the file and of the options that change its meaning
	Shape       rwkv.Shape
	Layers      []Layer
	Head        *Delta
	// Replaced are tensors that take the place of the model's, by canonical name.
	Replaced map[string][]float32
	// HasState says that the file also has a tuned initial state, which is not part
	// of the adapter.
	HasState bool
}

// Kinds lists for people the forms of the adapter's changes: "LoRA", "DiSHA, 24 tensors".
func (a *Adapter) Kinds() string {
	var seen []string
	for d := range a.deltas() {
		if name := d.Form.String(); !slices.Contains(seen, name) {
			seen = append(seen, name)
		}
	}
	if slices.ContainsFunc(a.Layers, func(l Layer) bool { return l.Experts != nil }) {
		seen = append([]string{"MoLE"}, seen...)
	}
	if n := len(a.Replaced); n > 0 {
		seen = append(seen, fmt.Sprintf("%d tensors", n))
	}
	return strings.Join(seen, ", ")
}

// Rank is the largest rank of any change; 0 if it only replaces tensors.
func (a *Adapter) Rank() int {
	rank := 0
	for d := range a.deltas() {
		r := d.Rank
		if d.Form == PiSSA {
			r /= 2
		}
		rank = max(rank, r)
	}
	return rank
}

// Scaled says whether the adapter has a scale, which LoRA and DoRA have.
func (a *Adapter) Scaled() bool {
	for d := range a.deltas() {
		if d.Form == LoRA || d.Form == DoRA || d.Form == DoRARows {
			return true
		}
	}
	return false
}

// Scale is that of the first LoRA or DoRA, times the strength, or 1.
func (a *Adapter) Scale() float32 {
	for d := range a.deltas() {
		if d.Form == LoRA || d.Form == DoRA || d.Form == DoRARows {
			return d.Scale
		}
	}
	return 1
}

// Targets are the names of the weights that the adapter changes in any layer.
func (a *Adapter) Targets() []string {
	var names []string
	for _, t := range LayerTargets(a.Shape) {
		if slices.ContainsFunc(a.Layers, func(l Layer) bool { return l.Deltas[t] != nil }) {
			names = append(names, string(t))
		}
	}
	if a.Head != nil {
		names = append(names, string(Head))
	}
	return names
}

// Bytes is what the adapter's values take in memory.
func (a *Adapter) Bytes() int64 {
	n := int64(0)
	for d := range a.deltas() {
		n += d.Bytes()
	}
	for _, l := range a.Layers {
		if l.Experts != nil {
			n += 4 * int64(len(l.Experts.Router))
		}
	}
	for _, v := range a.Replaced {
		n += 4 * int64(len(v))
	}
	return n
}

// Touched is how many values the changed weights of the model have, without
// replaced tensors: what a merged copy of them takes.
func (a *Adapter) Touched() int64 {
	n := int64(0)
	count := func(d *Delta) {
		if d != nil {
			n += int64(d.Out) * int64(d.In)
		}
	}
	for _, l := range a.Layers {
		for _, d := range l.Deltas {
			count(d)
		}
	}
	count(a.Head)
	return n
}

// deltas yields every change, those of experts included.
func (a *Adapter) deltas() func(func(*Delta) bool) {
	return func(yield func(*Delta) bool) {
		each := func(ds []*Delta) bool {
			for _, d := range ds {
				if d != nil && !yield(d) {
					return false
				}
			}
			return true
		}
		targets := LayerTargets(a.Shape)
		for _, l := range a.Layers {
			for _, t := range targets {
				if !each([]*Delta{l.Deltas[t]}) {
					return
				}
			}
			if l.Experts != nil && (!each(l.Experts.Key) || !each(l.Experts.Value)) {
				return
			}
		}
		each([]*Delta{a.Head})
	}
}
