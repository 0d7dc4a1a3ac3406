package e2e

import (
	"strings"
	"testing"
)

// Forks, edits of any turn, labels and pins, by their keys.
func TestForkAndEdit(t *testing.T) {
	x := open(t, 100, 30, t.TempDir(), "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.say("And then?", 2)

	x.keys("M-l")
	x.see("Name the turn")
	x.typed("the end")
	x.keys("Enter")
	x.see("“the end”")
	x.keys("M-K")
	x.see("“the end” · pinned")

	x.keys("M-v")
	x.see("2 Tell me a story (2)", "nothing had to be read", "And then?")
	x.say("Who was it?", 3)
	x.keys("M-1")
	x.gone("Who was it?")
	x.keys("M-V")
	x.see("Fork into how many tabs?")
	x.typed("3")
	x.keys("Enter")
	x.see("5 ")
	x.keys("M-1")

	x.keys("Tab", "Up", "Up", "Up") // the first prompt
	x.keys("e")
	x.see("editing a prompt")
	x.keys("C-u")
	x.typed("Hello!")
	x.keys("Enter")
	x.see("Hello!", "version 2 of 2")
	x.gone("And then?")
	x.ended(1)

	x.keys("M-E")
	x.see("editing an answer")
	x.keys("C-u")
	x.typed("Once there was a rook")
	x.keys("M-c") // keep it and go on
	x.see("Once there was a rook", "edited", "version 2 of 2")
	x.ended(1)
	x.keys("C-q")
	x.see("exit:0")
}

// Several answers at once, all side by side and, in a small window, two of them.
func TestBestOf(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 45}} {
		x := open(t, size[0], size[1], t.TempDir(), "--seed", "1", "--max-tokens", "16")
		x.see(composerHint)
		x.typed("Tell me a story.")
		x.keys("M-R")
		x.see("4 answers side by side", "seed 1")
		x.compared(size[0] / 35) // two, or all four
		x.keys("3", "Space")
		x.see("3*")
		x.keys("2", "Space")
		x.see("2*")
		x.keys("C-x") // keep only these
		x.see("version 1 of 2", composerHint)
		x.keys("C-q")
		x.see("exit:0")
	}
}

func TestTokenAlternatives(t *testing.T) {
	x := open(t, 80, 24, t.TempDir(), "--seed", "1", "--max-tokens", "16")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.keys("M-I")
	x.see("Token 1 of 16", "the model", "this draw", "%")
	x.keys("Right")
	x.see("Token 2 of 16")
	x.keys("End")
	x.see("Token 16 of 16")
	x.keys("Home")
	x.see("Token 1 of 16")
	x.until("showing the token that was taken", func(screen string) bool { return strings.Contains(screen, `*"`) })
	x.keys("Down", "Enter")
	x.see("version 2 of 2", "edited", composerHint)
	x.ended(1)
	x.keys("C-q")
	x.see("exit:0")
}
