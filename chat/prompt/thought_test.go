package prompt_test

import (
	"testing"

	"rookery/chat/prompt"
)

func TestSplitThought(t *testing.T) {
	for _, c := range []struct {
		text, thought, answer string
		open                  bool
	}{
		{"plain", "", "plain", false},
		{"", "", "", false},
		{"  indented", "", "  indented", false},
		{"<", "", "<", false},
		{"<think", "", "", true},
		{"<think>", "", "", true},
		{"<thinking about it>", "", "<thinking about it>", false},
		{"<think>one\ntwo", "one\ntwo", "", true},
		{"<think>one</thi", "one", "", true},
		{"<think>\none\n</think>\ntwo", "one", "two", false},
		{"<think>\n</think", "", "", true},
		{"<think>\n</think>\ntwo\n\nthree", "", "two\n\nthree", false},
		{" <think>嗯，好</think>two", "嗯，好", "two", false},
		{"say <think>x</think>", "", "say <think>x</think>", false},
	} {
		thought, answer, open := prompt.SplitThought(c.text)
		if thought != c.thought || answer != c.answer || open != c.open {
			t.Errorf("SplitThought(%q) = %q, %q, %v; want %q, %q, %v", c.text, thought, answer, open, c.thought, c.answer, c.open)
		}
	}
}
