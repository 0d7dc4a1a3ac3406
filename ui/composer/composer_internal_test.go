package composer

import (
	"testing"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

func newComposer(t *testing.T) *Composer {
	t.Helper()
	th, err := theme.New(theme.Default, true)
	if err != nil {
		t.Fatal(err)
	}
	return New(th, &History{})
}

// An answer that is edited goes on from the cursor; what stands behind it is
// left out, and a long one stands there as it is.
func TestEditedAnswerGoesOnFromTheCursor(t *testing.T) {
	long := ""
	for range 200 {
		long += "A line of a long answer.\n"
	}
	c := newComposer(t)
	c.BeginEdit(Edited{Turn: 1, Answer: true}, long+"The end. And more.")
	if c.Value() != long+"The end. And more." {
		t.Error("a long answer is not there to be edited")
	}
	for range len(" And more.") {
		c.Edit(keys.CharLeft)
	}
	if got := c.UpToCursor(); got != long+"The end." {
		t.Errorf("up to the cursor: %q", got[max(0, len(got)-40):])
	}
}
