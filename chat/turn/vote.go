package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
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

// described is a Description's form. Its names are those of stored votes.
type VariantFacts struct {
	Model       string  `json:"model"`
	State       string  `json:"state,omitempty"`
	Adapter     string  `json:"adapter,omitempty"`
	AdapterID   string  `json:"adapter_id,omitempty"` // beginning of the fingerprint
	Mix         string  `json:"mix,omitempty"`
	Mode        string  `json:"mode"`
	Temperature float32 `json:"temperature"`
	TopK        int     `json:"top_k,omitempty"`
	TopP        float32 `json:"top_p"`
	Presence    float32 `json:"presence,omitempty"`
	Frequency   float32 `json:"frequency,omitempty"`
	Decay       float32 `json:"decay,omitempty"`
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
	title += fmt.Sprintf(", temperature %.3g", v.Temperature)
	if v.TopP > 0 && v.TopP < 1 {
		title += fmt.Sprintf(", top_p %.3g", v.TopP)
	}
	return title
}
