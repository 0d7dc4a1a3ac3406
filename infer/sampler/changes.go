package sampler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrUnknown says that a key names no sampling parameter.
var ErrUnknown = errors.New("there is no such sampling parameter")

// Changes are parameters that replace others: those that a person named. The
// keys are names of Fields, the values what a decoder of TOML or JSON returned;
// normalised, they are the JSON of Params.
type Changes map[string]any

// With is a copy of c with a field's value of p.
func (c Changes) With(f *Field, p Params) Changes {
	c = maps.Clone(c)
	if c == nil {
		c = Changes{}
	}
	c[f.Name] = f.text(p)
	return c
}

// WithRecipe is a copy of c with the recipe of p.
func (c Changes) WithRecipe(p Params) Changes {
	for _, f := range Fields {
		if f.Recipe {
			c = c.With(f, p)
		}
	}
	return c
}

// Normalise checks the changes and gives equal ones one form. An error is about
// the key.
func (c Changes) Normalise() (key string, err error) {
	for _, key := range slices.Sorted(maps.Keys(c)) {
		f, ok := FieldNamed(key)
		if !ok {
			return key, fmt.Errorf("%q: %w", key, ErrUnknown)
		}
		var p Params
		if err := f.Set(&p, c[key]); err != nil {
			return key, err
		}
		c[key] = f.text(p)
	}
	return "", nil
}

// Over is p with the changes.
func (c Changes) Over(p Params) (Params, error) {
	for _, f := range Fields {
		if value, ok := c[f.Name]; ok {
			if err := f.Set(&p, value); err != nil {
				return p, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return p, p.Validate()
}
