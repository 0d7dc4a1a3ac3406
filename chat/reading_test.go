package chat_test

import (
	"math"
	"testing"

	"rookery/chat"
)

// What a file says of how turns were read is believed only within bounds.
func TestReadingCheck(t *testing.T) {
	spans := []chat.Span{{Tokens: 3, Adapter: "a"}, {Adapter: "b"}}
	if err := (&chat.Reading{Spans: spans, Before: 2, Unread: 1, Anew: &chat.Anew{Turns: 1}}).Check(); err != nil {
		t.Error(err)
	}
	for name, r := range map[string]chat.Reading{
		"before, negative": {Before: -1},
		"before, too many": {Before: math.MaxInt32 + 1},
		"unread, negative": {Unread: -1},
		"unread, too many": {Unread: math.MaxInt32 + 1},
		"a negative span":  {Spans: []chat.Span{{Tokens: -1}}},
		"too long a span":  {Spans: []chat.Span{{Tokens: math.MaxInt32 + 1}}},
		"too many spans":   {Spans: make([]chat.Span, 1<<16+1)},
		"nothing anew":     {Anew: &chat.Anew{}},
		"a negative base":  {Anew: &chat.Anew{Turns: 1, Base: -1}},
	} {
		if r.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
