package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTale writes a text file to bake.
func writeTale(t *testing.T, sentences int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tale.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("Once there was a rook called Bram, who had a grey cat.\n", sentences)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStates(t *testing.T) {
	home, path := t.TempDir(), writeTale(t, 20)
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "24")
	x.see(composerHint)

	// A tuned state that comes with the program.
	x.keys("F8")
	x.see("States to begin from", "demo-animals", "tuned · rookery-demo")
	x.typed("animals")
	x.keys("Enter")
	x.see("begins from “demo-animals”", "1 demo-animals", "from demo-animals ·")
	x.typed("Tell me a story.")
	x.keys("Enter")
	x.see("reached its longest length")

	// Save a state after the answer, rename it, begin from it.
	x.typed("/keep here")
	x.keys("Enter")
	x.see("kept as “here”")
	x.keys("M-i")
	x.see("here", "saved · ")
	x.typed("saved")
	x.gone("demo-sad")
	x.keys("F2")
	x.see("Rename the state")
	x.keys("C-u")
	x.typed("there")
	x.keys("Enter")
	x.see("renamed to “there”")
	x.typed("/states there")
	x.keys("Enter")
	x.see("2 there", "from there ·")

	// Bake a state, inspect it, compare it.
	x.typed("/bake " + path)
	x.keys("Enter")
	x.see("baked “tale”")
	x.keys("F8")
	x.typed("tale")
	x.see("baked · ")
	x.keys("M-i")
	x.see("State “tale”", "0-1   ▀▀", "11 layers down, 4 heads across")
	x.keys("Enter")
	x.see("Compare “tale” with")
	x.typed("there")
	x.keys("Enter")
	x.see("“tale” and “there”", "all layers: relative L2")
	x.keys("Tab")
	x.see("State “tale”")
	x.keys("Escape")
	x.gone("State “tale”")
	x.keys("Escape")
	x.gone("States to begin from")

	// A base state cannot be deleted; another state can.
	x.keys("F8")
	x.typed("there")
	x.see("* there")
	x.keys("C-x")
	x.see("is removed for good")
	x.keys("Enter")
	x.see("would lose its beginning")
	x.keys("Escape")
	x.gone("would lose its beginning")
	x.keys("F8")
	x.typed("tale")
	x.see("  tale  ", "baked · ")
	x.keys("C-x")
	x.see("is removed for good")
	x.keys("Enter")
	x.see("deleted “tale”")

	// The conversation finds its base state after a restart.
	x.keys("M-1")
	x.see("Tell me a story.")
	x.typed("/drift")
	x.keys("Enter")
	x.see("kept state to “demo-animals”", "2 states; first L2")
	x.keys("Escape")
	x.gone("kept state to")
	x.keys("C-q")
	x.see("exit:0")
	x.start(program(t), "--seed", "1", "--max-tokens", "24", "--state", "demo-sad")
	x.see("from demo-sad ·")
	x.keys("M-1")
	x.see("from demo-animals ·")
	x.typed("What happened next?")
	x.keys("Enter")
	x.see("What happened next?")
	x.answered()
	x.keys("C-q")
	x.see("exit:0")
}

// Baking shows its progress, and esc stops it.
func TestBakingIsStopped(t *testing.T) {
	x := open(t, 80, 24, t.TempDir(), "--seed", "1")
	x.see(composerHint)
	x.typed("/bake " + writeTale(t, 20000))
	x.keys("Enter")
	x.see("Baking", " tokens, ", "a second")
	x.keys("Escape")
	x.see("baking was stopped; nothing is kept")
	x.keys("C-q")
	x.see("exit:0")
}
