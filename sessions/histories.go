package sessions

import (
	"encoding/json"
	"fmt"

	"rookery/chat/turn"
)

// encodeHistory is what the state after a turn has read, as stored. Its model is
// left out where it is the turn's.
func encodeHistory(t *turn.Turn) (string, error) {
	h := t.History
	if len(h.Runs) == 0 {
		return "", nil
	}
	if h.Model == t.Model {
		h.Model = ""
	}
	return encode(h)
}

func decodeHistory(text string, t *turn.Turn) error {
	if text == "" {
		return nil
	}
	var h turn.History
	err := json.Unmarshal([]byte(text), &h)
	if err == nil {
		err = h.Check()
	}
	if err != nil {
		return fmt.Errorf("what was read: %w (%w)", ErrDamaged, err)
	}
	if h.Model == "" {
		h.Model = t.Model
	}
	t.History = h
	return nil
}
