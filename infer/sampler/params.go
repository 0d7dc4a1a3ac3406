package sampler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Bounds of a temperature that is not greedy. Below the lower one the
// likeliest token has all the probability, so it is greedy.
const (
	minTemperature = 0.001
	maxTemperature = 1000
)

// Neutral are the parameters that follow the model: every field's Default.
func Neutral() (p Params) {
	for _, f := range Fields {
		f.SetNumber(&p, f.Default)
	}
	return p
}

// Validate says in one line what is wrong with the parameters, or nil.
func (p Params) Validate() error {
	for _, f := range Fields {
		if err := f.Check(p); err != nil {
			return err
		}
	}
	return nil
}

func finite(x float32) bool {
	return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
}

// Recipe is how p draws: its fields without the seed, the banned tokens and what
// is idle, such as the decay where nothing is penalised.
func (p Params) Recipe() (recipe Params) {
	for _, f := range Fields {
		if f.Recipe && (f.Idle == nil || !f.Idle(p)) {
			f.copyTo(&recipe, p)
		}
	}
	return recipe
}

// WithRecipe is p with the fields of another recipe; seed and banned tokens stay.
func (p Params) WithRecipe(other Params) Params {
	for _, f := range Fields {
		if f.Recipe {
			f.copyTo(&p, other)
		}
	}
	return p
}

// SameRecipe says whether a and b are equal but for the seed and the banned tokens.
func SameRecipe(a, b Params) bool {
	return !slices.ContainsFunc(Fields, func(f *Field) bool { return f.Recipe && f.Number(a) != f.Number(b) })
}

// Brief are the parameters that people look at first.
func (p Params) Brief() (fields []*Field) {
	for _, f := range Fields {
		if f.Brief && !f.isUnset(p) {
			fields = append(fields, f)
		}
	}
	return fields
}

// MarshalJSON writes every parameter under its name, empty lists not at all.
func (p Params) MarshalJSON() ([]byte, error) {
	return p.marshal(func(f *Field) bool { return !f.IsList() || f.Number(p) > 0 })
}

// MarshalRecipe writes the recipe without what is unset. So a recipe
// stays the same when a field is added.
func (p Params) MarshalRecipe() ([]byte, error) {
	r := p.Recipe()
	return r.marshal(func(f *Field) bool { return f.Recipe && !f.isUnset(r) })
}

func (p Params) marshal(keep func(*Field) bool) ([]byte, error) {
	out := []byte{'{'}
	for _, f := range Fields {
		if !keep(f) {
			continue
		}
		value, err := json.Marshal(f.at(&p))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.Name...), `":`...)
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads parameters by their names and aliases. One that is not
// there is zero; keys that name none are ignored.
func (p *Params) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*p = Params{}
	for _, f := range Fields {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if value, ok := values[name]; ok {
				if err := f.setJSON(p, value); err != nil {
					return fmt.Errorf("%s is %s: it must be %s", name, value, f.wanted())
				}
				break
			}
		}
	}
	return nil
}

// greedy says whether only the likeliest token can be drawn, the smallest id of several.
func (p Params) greedy() bool { return p.Temperature < minTemperature && p.Mode != ModePip }

// effective are the parameters as the draw uses them. Those that Validate
// refuses make it greedy, with the bans alone. The bans are in order, each once.
func (p Params) effective() Params {
	ban := slices.Clone(p.Ban)
	slices.Sort(ban)
	ban = slices.DeleteFunc(slices.Compact(ban), func(id int32) bool { return id < 0 })
	if p.Validate() != nil {
		return Params{Ban: ban}
	}
	p.Ban = ban
	if p.XTC > 0 {
		p.XTCThreshold = cmp.Or(p.XTCThreshold, 0.1)
	}
	if p.DRY > 0 {
		p.DRYBase, p.DRYLength = cmp.Or(p.DRYBase, 1.75), cmp.Or(p.DRYLength, 2)
	}
	switch {
	case p.Mode == ModePip && p.Temperature < minTemperature:
		p.Temperature, p.TopP = 1, 0
	case p.Mode == ModeRapid && p.TopP == 0:
		p.TopK, p.TopP = 1, 1
	}
	return p
}
