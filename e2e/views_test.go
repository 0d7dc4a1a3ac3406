package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The keys of the comparison's setup.
func TestSetupKeys(t *testing.T) {
	x := open(t, 120, 40, t.TempDir(), "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.keys("F12")
	x.see("Compare 2 variants", "none yet")
	x.keys("w")
	x.see("Prompt to compare answers to")
	x.typed("Tell me a story.")
	x.keys("Enter")
	x.see("Prompt  Tell me a story.")
	x.keys("n")
	x.see("How many seeds?")
	x.keys("C-u")
	x.typed("3")
	x.keys("Enter")
	x.see("Compare 3 variants", "3 seed 3")
	x.keys("x")
	x.see("Compare 2 variants")
	x.keys("p")
	x.see("A variant for each of these presets")
	x.keys("Escape")
	x.gone("for each of these presets")
	x.keys("a")
	x.see("A variant for each of these adapters", "demo-pirate")
	x.keys("Down", "Space", "Enter")
	x.see("1 no adapter", "2 demo-excited")
	x.keys("r")
	x.see("Name of the variant")
	x.typed("plain")
	x.keys("Enter")
	x.see("1 plain")

	x.keys("Space") // the state, where the cursor stands
	x.see("State to begin from")
	x.typed("sad")
	x.keys("Enter")
	x.see("demo-sad")
	x.keys("Right", "Right", "Space")
	x.see("Mix of states")
	x.typed("own=1,demo-animals=0.5")
	x.keys("Enter")
	x.gone("Mix of states")
	x.see("own=1,demo-a") // as much as the column has room for
	x.keys("Right", "Space")
	x.see("Sampling", "Other parameters…")
	x.keys("End", "Down", "Down", "Down", "Down", "Down", "Down", "Enter")
	x.see("Sampling parameters")
	x.keys("C-u")
	x.typed("temp=0.5")
	x.keys("Enter")
	x.see("temp=0.5")
	x.keys("Right", "Space")
	x.see("Seed")
	x.keys("C-u")
	x.typed("77")
	x.keys("Enter")
	x.see(" 77 ")
	x.keys("Left", "Left", "Left", "Left", "Left", "Space")
	x.see("Model; others are loaded beside this one", "* rookery-demo")
	x.keys("Escape")
	x.gone("Model; others")
	x.keys("Enter")
	x.see("2 answers side by side", "1 plain", "2 bare, demo-excited")
	x.compared(2)
}

// boxed returns what the box shows; the lines below it change by themselves.
func boxed(screen string) string {
	var lines []string
	for _, l := range strings.Split(screen, "\n") {
		if strings.HasPrefix(l, "│") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// The keys of the panes.
func TestPaneKeys(t *testing.T) {
	x := open(t, 100, 30, t.TempDir(), "--seed", "1", "--max-tokens", "400")
	x.see(composerHint)
	x.compare("Tell me a story.")
	x.keys("s") // stop them all
	x.until("showing stopped answers", func(screen string) bool {
		return strings.Count(screen, "stopped ·")+strings.Count(screen, "no answer") >= 2
	})
	x.see("a again")
	x.keys("a")
	x.compared(4)
	x.see("1 bare", "reference")
	x.keys("Tab", "Tab")
	x.see("3 demo-dialogue")
	x.keys("r")
	x.see("3 demo-dialogue", "reference", "perplexity")
	x.keys("BTab")
	x.see("2 demo-animals", "differs at")
	x.keys("y")
	x.see("scroll together")
	end := boxed(x.screen())
	x.keys("g")
	x.until("scrolled to the beginning", func(screen string) bool { return boxed(screen) != end })
	top := boxed(x.screen())
	x.keys("j", "j")
	x.until("scrolled", func(screen string) bool { return boxed(screen) != top })
	x.keys("k", "k")
	x.until("scrolled back", func(screen string) bool { return boxed(screen) == top })
	x.keys("G")
	x.until("scrolled to the end", func(screen string) bool { return boxed(screen) == end })
	x.keys("d", "y")
	x.see("scroll alone")
	x.keys("t")
	x.see("a tie")
	x.keys("t")
	x.see("these answers have their vote")
	x.keys("4", "x") // only this one
	x.gone("side by side")
	x.see(composerHint, "pinned") // its state alone knows what it began from

	x.typed("And then?")
	x.keys("F12")
	x.see("And then?")
	x.keys("b", "Enter")
	x.see("4 answers side by side, blind", "answer 1")
	x.keys("b") // the names after all
	x.see(" bare ", " demo-sad ")
	x.keys("s", "X")
	x.see("Discard all answers?")
	x.keys("Enter")
	x.gone("side by side")
	x.see(composerHint, "And then?", "answer the prompt") // which stays
}

// A click goes to a pane, the wheel scrolls it, and a new window size rearranges the
// panes.
func TestPanesByMouseAndSize(t *testing.T) {
	x := open(t, 80, 24, t.TempDir(), "--seed", "1", "--max-tokens", "24")
	x.see(composerHint)
	x.compare("Tell me a story.")
	x.compared(2)
	x.typed("\x1b[<0;28;3M\x1b[<0;28;3m") // the third name in the line above
	x.see("│ 3 demo-dialogue")
	x.resize(200, 60)
	x.compared(4)
	x.see("1 bare", "2 demo-animals", "3 demo-dialogue", "4 demo-sad")
	x.typed("\x1b[<65;150;10M") // the wheel
	x.resize(44, 16)
	x.compared(1)
	x.resize(80, 24)
	x.compared(2)
	x.keys("Escape")
	x.see(composerHint)
}

// The keys of the mixer that TestMixer does not press.
func TestMixerKeys(t *testing.T) {
	x := open(t, 200, 60, t.TempDir(), "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.typed("/mix own=1,demo-sad=0.5,demo-animals=0.5")
	x.keys("Enter")
	x.see("── mix own=1")
	x.keys("M-j")
	x.see("Mixer", "3 rows a step")
	x.keys("Down", "s")
	x.see("solo", "100%")
	x.keys("s")
	x.see("25%")
	x.keys("x")
	x.gone("demo-sad  ")
	x.see("2 rows a step")
	x.keys("o")
	x.see("No mix.")
	x.keys("q")
	x.gone("No mix.")
}

// A key of the adapters panel loads a file.
func TestAdapterFileByKey(t *testing.T) {
	path := unpackLoRA(t)
	if err := os.WriteFile(strings.TrimSuffix(path, ".pth")+".json", []byte(`{"alpha": 32}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, 80, 24, t.TempDir(), "--seed", "1")
	x.see(composerHint)
	x.keys("F10")
	x.see("* none")
	x.keys("a")
	x.see("Load an adapter")
	x.typed(path)
	x.keys("Enter")
	x.see(strings.TrimSuffix(filepath.Base(path), ".pth")+", from the next token on", "LoRA, rank 16, scale 2")
	x.keys("q")
	x.gone("rank 16")
}
