package chat_test

import (
	"math"
	"testing"

	"rookery/chat/turn"
)

// What a file says of how turns were read is believed only within bounds.
func TestReadingCheck(t *testing.T) {
	spans := []turn.Span{{Tokens: 3, Adapter: "a"}, {Adapter: "b"}}
	if err := (&turn.Reading{Spans: spans, Before: 2, Unread: 1, Anew: &turn.Anew{Turns: 1}}).Check(); err != nil {
		t.Error(err)
	}
	for name, r := range map[string]turn.Reading{
		"before, negative": {Before: -1},
		"before, too many": {Before: math.MaxInt32 + 1},
		"unread, negative": {Unread: -1},
		"unread, too many": {Unread: math.MaxInt32 + 1},
		"a negative span":  {Spans: []turn.Span{{Tokens: -1}}},
		"too long a span":  {Spans: []turn.Span{{Tokens: math.MaxInt32 + 1}}},
		"too many spans":   {Spans: make([]turn.Span, 1<<16+1)},
		"nothing anew":     {Anew: &turn.Anew{}},
		"a negative base":  {Anew: &turn.Anew{Turns: 1, Base: -1}},
	} {
		if r.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
