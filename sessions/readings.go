package sessions

import (
	"encoding/json"
	"fmt"

	"rookery/chat/turn"
)

// encodeReading is how a turn was read, as stored. Its model is left out where
// it is the turn's.
func encodeReading(t *turn.Turn) (string, error) {
	r := t.Reading
	if len(r.Spans) == 0 {
		return "", nil
	}
	if r.Model == t.Model {
		r.Model = ""
	}
	return encode(r)
}

func decodeReading(text string, t *turn.Turn) error {
	if text == "" {
		return nil
	}
	var r turn.Reading
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return fmt.Errorf("how it was read: %w (%w)", ErrDamaged, err)
	}
	if r.Model == "" {
		r.Model = t.Model
	}
	t.Reading = r
	return nil
}
