package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// Another model is loaded in the same window, conversations come back; one
// that cannot be loaded leaves the one before.
func TestModels(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "data", "rookery", "models")
	data, err := os.ReadFile("../infer/demo/rookery-demo.safetensors")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "another.safetensors"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.typed("Tell me a story about a cat.")
	x.keys("Enter")
	x.see("reached its longest length")
	x.typed("/models")
	x.keys("Enter")
	x.see("Models", "* rookery-demo", "another", "needs ")
	x.typed("another")
	x.keys("Enter")
	x.gone("Models")
	x.see("Tell me a story about a cat.", composerHint)
	x.gone("load · esc close")
	x.typed("/models")
	x.keys("Enter")
	x.see("* another")
	x.keys("Escape")
	x.gone("* another")
	x.typed("/models /nowhere/at/all.pth")
	x.keys("Enter")
	x.see("/nowhere/at/all.pth", "no such file", "Tell me a story about a cat.")
	x.typed("/models")
	x.keys("Enter")
	x.see("* another")
}
