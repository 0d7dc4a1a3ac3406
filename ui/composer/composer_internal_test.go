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

func TestParseCommand(t *testing.T) {
	for _, c := range []struct {
		prompt, name, arg, text string
		isCommand               bool
	}{
		{"/retry", "retry", "", "", true},
		{"/temp  0.8 ", "temp", "0.8", "", true},
		{"//not a command", "", "", "/not a command", false},
		{"/usr/bin is a folder", "", "", "/usr/bin is a folder", false},
		{"/", "", "", "/", false},
		{"hello /there", "", "", "hello /there", false},
	} {
		name, arg, text, isCommand := ParseCommand(c.prompt)
		if name != c.name || arg != c.arg || text != c.text || isCommand != c.isCommand {
			t.Errorf("%q: %q, %q, %q, %v", c.prompt, name, arg, text, isCommand)
		}
	}
}

// What is not sent is kept, but neither a recalled prompt nor the text of a turn.
func TestUnsent(t *testing.T) {
	c := newComposer(t)
	c.SetSize(80, 8)
	c.history.Add("sent")
	c.Insert("draft")
	if got := c.Unsent(); got != "draft" {
		t.Errorf("unsent: %q", got)
	}
	c.goBack(1)
	if got := c.Unsent(); c.Text() != "sent" || got != "" {
		t.Errorf("of the recalled %q is unsent: %q", c.Text(), got)
	}
	c.BeginEdit(Edited{}, "a turn")
	if got := c.Unsent(); got != "" {
		t.Errorf("of an edit is unsent: %q", got)
	}
}
