package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// compare opens a comparison of the bare model and the three states of the program.
func (x *terminal) compare(prompt string, setup ...string) {
	x.t.Helper()
	x.typed(prompt)
	x.keys("F12")
	x.see("Compare 2 variants", prompt)
	x.keys("s")
	x.see("A variant for each of these states", "demo-sad")
	x.keys("Down", "Space", "Down", "Space", "Down", "Space", "Enter")
	x.see("Compare 4 variants", "4 demo-sad")
	x.keys(append(setup, "Enter")...)
	x.see("4 answers side by side")
}

// compared waits until this many panes show an ended answer.
func (x *terminal) compared(panes int) {
	x.t.Helper()
	x.until("showing ended answers", func(screen string) bool { return endedPanes(screen) == panes })
}

// endedPanes counts the panes that show an ended answer.
func endedPanes(screen string) int {
	return strings.Count(screen, "at limit") + strings.Count(screen, "ended ·")
}

// perplexity matches the perplexity in a pane.
var perplexity = regexp.MustCompile(`perplexity \d+\.\d+`)

func TestCompare(t *testing.T) {
	x := open(t, 160, 40, t.TempDir(), "--seed", "1", "--max-tokens", "24")
	x.see(composerHint)
	x.compare("Tell me a story.")
	x.compared(4)
	x.see("1 bare", "2 demo-animals", "3 demo-dialogue", "4 demo-sad", "reference", "differs at", "perplexity", "24 tokens")

	x.keys("3", "z")
	x.gone("Once upon a time") // of the second
	x.keys("z")
	var before []string
	x.until("showing four figures", func(screen string) bool {
		before = perplexity.FindAllString(screen, -1)
		return len(before) == 4
	})
	x.keys("a") // again, with other seeds
	x.until("showing other ended answers", func(screen string) bool {
		return endedPanes(screen) == 4 && !slices.Equal(perplexity.FindAllString(screen, -1), before)
	})
	x.keys("2", "Enter") // keep one: the others are its siblings
	x.gone("side by side")
	x.see(composerHint, "of 8")

	x.typed("And then?")
	x.keys("F12")
	x.see("Compare 4 variants", "And then?") // as last time
	x.keys("Enter")
	x.see("4 answers side by side")
	x.compared(4)
	x.keys("1", "Space", "4", "Space", "f")
	x.see("2 Tell me a story · bare", "3 Tell me a story · demo-")
	x.keys("C-q")
	x.see("exit:0")
}

func TestBlindCompareAndVotes(t *testing.T) {
	home := t.TempDir()
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "16")
	x.see(composerHint)
	x.compare("Tell me a story.", "b")
	x.see("blind", "1 answer 1", "2 answer 2")
	x.gone("demo-sad")
	x.until("showing no running answer", func(screen string) bool {
		return !strings.Contains(screen, "…") && strings.Contains(screen, "at limit")
	})
	x.keys("2", "v")
	x.see("you prefer", "demo-animals", "demo-dialogue")
	x.keys("w")
	x.see("1 vote", "rookery-demo, demo-")
	path := filepath.Join(home, "votes.csv")
	x.keys("M-c")
	x.see("Export the votes")
	x.keys("C-u")
	x.typed(path)
	x.keys("Enter")
	x.see("1 vote exported to")
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 5 || strings.Count(string(data), ",won,") != 1 {
		t.Errorf("the file of votes: %v:\n%s", err, data)
	}
	x.keys("Escape")
	x.gone("1 vote exported")
	x.keys("Escape")
	x.see(composerHint, "of 4")
	x.keys("C-q")
	x.see("exit:0")

	x.start(program(t)) // votes are kept
	x.see(composerHint)
	x.typed("/votes")
	x.keys("Enter")
	x.see("1 vote", "rookery-demo, demo-")
}
