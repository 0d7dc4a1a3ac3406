package chat

import (
	"encoding/json"
	"fmt"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/sampler"
	"rookery/infer/statefile"
)

// A Variant is one way to answer a prompt, to be compared with others. The
// zero Variant is the bare model, from the zero state, drawing greedily.
type Variant struct {
	Name    string       // for people; names of one comparison differ
	Model   *SecondModel // nil is the conversations' own; held by who has the variant
	Base    turn.State   // of the library, what it holds left out; the zero State is the zero state
	Adapter turn.Adapter // of the adapter registry; it is loaded when it is needed. The zero Adapter is none
	Mix     turn.Mix     // of states, beside the run from Base; the zero Mix is none
	// Sampling has the seed as well. Variants with the seed 0 get the same
	// fresh one, so that they differ in nothing but what was meant to differ.
	Sampling sampler.Params
}

// Check says why a model cannot answer in this way, or nil.
func (v *Variant) Check(m *infer.Model) error {
	if err := v.check(m); err != nil {
		return fmt.Errorf("variant %q: %w", v.Name, err)
	}
	return nil
}

func (v *Variant) check(m *infer.Model) error {
	if v.Base.ID != 0 && v.Base.Shape.Layers > 0 { // what is known by name alone is checked when it is read
		if err := v.Base.Check(m); err != nil {
			return err
		}
	}
	if err := v.Base.CheckAdapter(v.Adapter.Fingerprint, v.Adapter.Title()); err != nil {
		return err
	}
	if v.Adapter.Fingerprint == "" && v.Adapter.Name != "" {
		return fmt.Errorf("adapter %s is not loaded: load it first", v.Adapter.Name)
	}
	if err := v.Mix.Check(); err != nil {
		return err
	}
	return v.Sampling.Validate()
}

// settings is the variant's, its sampling aside.
func (v *Variant) settings() generation {
	return generation{
		base: v.Base.ID, baseName: v.Base.Name, baseKind: v.Base.Kind, second: v.Model,
		adapter: v.Adapter.Fingerprint, adapterName: v.Adapter.Name, mix: v.Mix,
	}
}

// Variant is how the conversation answers now: what comparisons begin with.
func (d *Dialogue) Variant() Variant {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.variant()
}

func (d *Dialogue) variant() Variant {
	return Variant{
		Base:     turn.State{ID: d.conv.Base, State: statefile.State{Name: d.base.Name, Kind: d.base.Kind}},
		Adapter:  turn.Adapter{Fingerprint: d.conv.Adapter, Name: d.adapter},
		Mix:      d.conv.Mix,
		Sampling: d.conv.Sampling,
	}
}

// Describe is the variant of a model for votes.
func (v *Variant) Describe(m *infer.Model) turn.Description {
	d := turn.VariantFacts{
		Model: m.Name, State: v.Base.Name, Adapter: v.Adapter.Name,
		AdapterID: v.Adapter.Fingerprint[:min(len(v.Adapter.Fingerprint), 12)], Mix: v.Mix.Effective().String(),
		Sampling: v.Sampling,
	}
	data, err := json.Marshal(d)
	if err != nil { // a parameter that is no number, which Check refuses
		return turn.Description(fmt.Sprintf("{\"model\":%q}", m.Name))
	}
	return turn.Description(data)
}
