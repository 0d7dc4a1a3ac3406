package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withModels puts copies of the embedded model into the directory of models.
func withModels(t *testing.T, home string, names ...string) {
	t.Helper()
	dir := filepath.Join(home, "data", "rookery", "models")
	data, err := os.ReadFile("../infer/demo/rookery-demo.safetensors")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	for _, name := range names {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// panes returns the text of the panes, without the figures.
func panes(screen string) string {
	var lines []string
	for _, l := range strings.Split(screen, "\n") {
		if strings.HasPrefix(l, "│ Once") || strings.HasPrefix(l, "│ There") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// A comparison loads other models and unloads them at its end. The conversation goes on
// with its own model from the chosen answer.
func TestCompareModels(t *testing.T) {
	home := t.TempDir()
	withModels(t, home, "another.safetensors", "third.safetensors")
	x := open(t, 120, 40, home, "--seed", "1", "--max-tokens", "24")
	x.see(composerHint)
	x.typed("Tell me a story.")
	x.keys("F12")
	x.see("Compare 2 variants")
	x.keys("m")
	x.see("A variant for each of these models", "[x] rookery-demo", "[ ] another", "[ ] third", "needs ")
	x.keys("Down", "Space", "Down", "Space", "Enter")
	x.see("Compare 3 variants", "2 another", "3 third")
	x.keys("Enter")
	x.see("Load 2 other models?", "are free", "not now")
	x.keys("Escape")
	x.gone("not now")
	x.keys("Enter")
	x.see("Load 2 other models?")
	x.keys("Enter")
	x.see("3 answers side by side", "1 rookery-demo", "2 another", "3 third")
	x.compared(3)
	x.see("perplexity")
	before := panes(x.screen())
	x.keys("a") // again: they are still there
	x.until("showing other answers", func(screen string) bool { return panes(screen) != before })
	x.compared(3)
	x.keys("2", "Enter")
	x.gone("side by side")
	x.see(composerHint, "another", "of 6")
	x.typed("And then?")
	x.keys("Enter")
	x.see("rookery-demo", "And then?", "tok/s")
	x.keys("C-q")
	x.see("exit:0")
}

// A file of prompts is answered by all variants from the chat, another model
// among them, and done again it finds its answers.
func TestBatchFromTheChat(t *testing.T) {
	home := t.TempDir()
	withModels(t, home, "another.safetensors")
	prompts := filepath.Join(home, "p.jsonl")
	if err := os.WriteFile(prompts, []byte("Tell me a story.\n\n{\"prompt\": \"Tell me about a cat.\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, 100, 30, home, "--seed", "1", "--max-tokens", "16")
	x.see(composerHint)
	for i := range 2 {
		x.keys("F12")
		x.see("Compare 2 variants")
		if i == 0 {
			x.keys("m")
			x.see("[ ] another")
			x.keys("Down", "Space", "Enter")
		}
		x.see("2 another")
		x.keys("f")
		x.see("File of prompts")
		x.typed(prompts)
		x.keys("Enter")
		x.see("Write the answers to", "p.answers.jsonl")
		x.keys("Enter")
		x.see("Load another model?")
		x.keys("Enter")
		x.see("2 prompts answered", "VARIANT", "another", "PERPLEXITY")
		data, err := os.ReadFile(filepath.Join(home, "p.answers.jsonl"))
		if err != nil || strings.Count(string(data), "\n") != 2 || !strings.Contains(string(data), `"model":"another"`) {
			t.Fatalf("%v:\n%s", err, data)
		}
		x.keys("Enter")
		x.gone("prompts answered")
	}
}
