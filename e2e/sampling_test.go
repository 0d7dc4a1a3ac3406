package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// candidate matches a candidate in the sampling panel, with its probability by the model
// and as drawn.
var candidate = regexp.MustCompile(`(?m)".*".*\d%.*(\d%|-)\s*$`)

// spread matches a candidate that is drawn neither always nor never.
var spread = regexp.MustCompile(`(?m)".*".*\d%.* (\d\d?|\d\.\d|<\.1)%\s*$`)

// The candidates of the next token; parameters that change them at once; saving as a
// preset and as the default; and both after a restart.
func TestSamplingPanel(t *testing.T) {
	home := t.TempDir()
	configureEndlessAnswers(t, home)
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.keys("F3")
	x.see("Sampling", "next token", "model", "drawn")
	x.until("showing candidates", func(screen string) bool { return len(candidate.FindAllString(screen, -1)) >= 5 })
	x.keys("Down")
	x.typed("0")
	x.keys("Enter")
	x.see("greedy")
	x.until("drawing greedily", func(screen string) bool { return !spread.MatchString(screen) })
	x.typed("5")
	x.keys("Enter", "Down")
	x.typed("1")
	x.keys("Enter")
	x.see("temp 5", "top_p 1")
	x.until("drawing others too", func(screen string) bool { return spread.MatchString(screen) })
	x.keys("s")
	x.see("Save the sampling parameters as a preset")
	x.typed("hot")
	x.keys("Enter")
	x.see("── hot · temp 5 · top_p 1 ─")
	x.keys("d")
	x.see("new conversations begin with these parameters")
	x.keys("C-t") // at once
	x.see("2 New chat", "temp 5")
	x.keys("M-w")
	x.gone("2 New chat")
	data, err := os.ReadFile(filepath.Join(home, "config", "rookery", "config.toml"))
	if err != nil || !strings.Contains(string(data), "[presets.hot]\n") || !strings.Contains(string(data), "[sampling]\n") {
		t.Fatalf("the configuration is %q, %v", data, err)
	}
	x.resize(140, 40)
	x.see("next token", "Tell me a story.")
	x.keys("F3")
	x.gone("next token")
	x.keys("C-q")
	x.see("exit:0")

	x.start(program(t), "--preset", "hot") // answers do not end by themselves
	x.see(composerHint)
	x.keys("F3")
	x.see("hot", "5.00")
	x.keys("M-o")
	x.typed("Tell me another one.")
	x.keys("Enter")
	x.see("latest token")
	x.until("showing what was drawn", func(screen string) bool { return len(candidate.FindAllString(screen, -1)) >= 5 })
}
