package turn_test

import (
	"math"
	"testing"
	"time"

	"rookery/chat/turn"
)

func TestIDs(t *testing.T) {
	id := turn.NewID()
	if age := time.Since(id.Created()); age < 0 || age > time.Minute {
		t.Errorf("an ID of now was made %v ago", age)
	}
	const hours = turn.ID(5 * time.Hour / time.Microsecond << 12)
	turn.Met(id + hours)
	turn.Met(math.MaxInt64) // nothing could follow it
	next := turn.NewID()
	if next <= id+hours || next > id+2*hours {
		t.Errorf("behind %d comes %d", id+hours, next)
	}
	if turn.Met(id); turn.NewID() <= next {
		t.Error("an older one was met, and IDs go back")
	}
}
