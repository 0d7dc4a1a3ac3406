package e2e

import "testing"

// The program loads another model and reopens the conversations. If a model cannot be
// loaded, the model before stays.
func TestModels(t *testing.T) {
	home := t.TempDir()
	withModels(t, home, "another.safetensors")
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
