package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rookery/infer/sampler"
)

// A Vote is what a person thought of the answers of several variants to one prompt.
type Vote struct {
	Prompt   string        // hash of its text, see HashPrompt
	Variants []Description // in no order that means anything
	Winner   int           // place in Variants; -1 is a tie
	Created  time.Time
}

// Tie is the Winner of a vote that found none better than the others.
const Tie = -1

// Check says what is wrong with a vote, or nil.
func (v *Vote) Check() error {
	switch {
	case len(v.Variants) < 2:
		return errors.New("a vote is between at least two variants")
	case v.Winner < Tie || v.Winner >= len(v.Variants):
		return fmt.Errorf("variant %d cannot have won: there are %d", v.Winner+1, len(v.Variants))
	}
	return nil
}

// A Description is a variant as votes have it, without its name and its seed:
// variants that are described alike are the same one. It is JSON.
type Description string

// VariantFacts are what a Description says. The JSON of the sampling parameters
// stands among the other keys.
type VariantFacts struct {
	Model     string         `json:"model"`
	State     string         `json:"state,omitempty"`
	Adapter   string         `json:"adapter,omitempty"`
	AdapterID string         `json:"adapter_id,omitempty"` // beginning of the fingerprint
	Mix       string         `json:"mix,omitempty"`
	Sampling  sampler.Params `json:"-"` // its recipe
}

type otherFacts VariantFacts // without its methods

// MarshalJSON writes one object.
func (v VariantFacts) MarshalJSON() ([]byte, error) {
	facts, err := json.Marshal(otherFacts(v))
	if err != nil {
		return nil, err
	}
	recipe, err := v.Sampling.MarshalRecipe()
	if err != nil {
		return nil, err
	}
	return slices.Concat(facts[:len(facts)-1], []byte{','}, recipe[1:]), nil
}

// UnmarshalJSON reads one object.
func (v *VariantFacts) UnmarshalJSON(data []byte) error {
	return errors.Join(json.Unmarshal(data, (*otherFacts)(v)), json.Unmarshal(data, &v.Sampling))
}

// Title says the description in a few words: "demo-sad, demo-pirate, temperature 0.8".
func (d Description) Title() string {
	var v VariantFacts
	if json.Unmarshal([]byte(d), &v) != nil {
		return string(d)
	}
	title := v.Model
	for _, part := range []string{v.State, v.Adapter, v.Mix} {
		if part != "" {
			title += ", " + part
		}
	}
	for _, f := range v.Sampling.Brief() {
		if !f.IsOff(v.Sampling) {
			title += fmt.Sprintf(", %s %.3g", f.Label, f.Number(v.Sampling))
		}
	}
	return title
}
