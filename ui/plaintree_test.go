package ui

import (
	"strings"
	"testing"
)

func TestPlainTree(t *testing.T) {
	got := converse(t, 0, "hello", "a fox, please", "/undo", "/undo", "/undo", "/redo", "/scrub 3", "/scrub 9", "/scrub 4",
		"/label the end", "/pin_turn", "/rewrite Another text.", "/tokens", "/tokens 1", "/tokens 1 99", "/tokens 0",
		"/best 3", "/next", "/fork 2", "/fork x", "/quit")
	for _, want := range []string{
		"Took back 2 turns; nothing is lost.\n", "Error: there is nothing to undo", "Brought back 2 turns.\n",
		"The conversation goes on after turn 3 of 4.\n", `Error: there is no turn "9"`,
		"The turn is called “the end”, and its state is kept.\n", "The state of the turn is kept.\n",
		"tokens. /tokens and a number looks at one.\n", "percent by the model", "This one was taken.\n",
		"Error: there are candidates 1 to ", "Error: the answer has tokens 1 to ",
		"Answer 1 of 3: The quick brown fox", "Answer 3 of 3: ", "/next and /prev choose another.\n",
		"Forked into 2. This is a fox, please (2); /open lists the others.\n", `Error: "x" is not a number`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
