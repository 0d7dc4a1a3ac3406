package infer_test

import (
	"errors"
	"strings"
	"testing"

	"rookery/infer"
	"rookery/infer/scripted"
)

// A request whose state cannot be read ends with the last good one.
func TestUnreadableState(t *testing.T) {
	bothWays(t, func(t *testing.T, beside bool) {
		e, c := count(t, scripted.Options{Slots: 3}, infer.Options{}, beside)
		prompt := numbers(1, 30)
		broken := func() error { return errors.New("no such memory") }
		c.onRead.Store(&broken)
		end := run(t, e, infer.Request{Tokens: prompt, Sampling: lively(1), MaxTokens: 10})
		if end.Reason != infer.ReasonError || end.Err == nil || !strings.Contains(end.Err.Error(), "saving a state: no such memory") {
			t.Errorf("ended with %v, %v", end.Reason, end.Err)
		}
		c.onRead.Store(nil)
		checkSnapshot(t, e, prompt, end)
		checkKinds(t, e, 3)
	})
}
