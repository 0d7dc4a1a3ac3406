package sampler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Biases are what is added to the logits of tokens, by their ids.
type Biases []Bias

// A Bias is what is added to one token's logit.
type Bias struct {
	Token int32
	Add   float32
}

// MarshalJSON writes the form of OpenAI's logit_bias: {"261": -1.5}.
func (b Biases) MarshalJSON() ([]byte, error) {
	values := make(map[int32]float32, len(b))
	for _, e := range b {
		values[e.Token] = e.Add
	}
	return json.Marshal(values)
}

// UnmarshalJSON reads that form, sorted by ids.
func (b *Biases) UnmarshalJSON(data []byte) error {
	var values map[string]float32
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	byID := make(map[int32]float32, len(values))
	for key, add := range values {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return fmt.Errorf("%.20q is no token id", key)
		}
		byID[int32(id)] = add
	}
	*b = nil
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		*b = append(*b, Bias{id, byID[id]})
	}
	return nil
}
