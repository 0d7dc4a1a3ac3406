package e2e

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// unpackLoRA writes an adapter as its trainer wrote it, without its alpha.
func unpackLoRA(t *testing.T) string {
	t.Helper()
	packed, err := os.Open("../infer/demo/adapters/pirate.pth.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	path := filepath.Join(t.TempDir(), "lora.pth")
	if err := errors.Join(err, packed.Close(), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAdapters(t *testing.T) {
	home, path := t.TempDir(), unpackLoRA(t)
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "24")
	x.see(composerHint)

	// An adapter of the embedded model, with a strength, for the next answer.
	x.keys("F10")
	x.see("Adapters", "* none", "demo-excited", "demo-pirate")
	x.keys("Down", "Down", "Enter")
	x.see("demo-pirate, from the next token on", "LoRA, rank 16, scale 2")
	x.keys("Right")
	x.see("demo-pirate × 1.1, from the next token on", "1.10")
	x.keys("F10")
	x.gone("Adapters")
	x.see("adapter demo-pirate × 1.1")
	x.typed("Tell me a story.")
	x.keys("Enter")
	x.see("reached its longest length")

	// A file does not say its alpha: the program asks for it once.
	x.typed("/adapter " + path)
	x.keys("Enter")
	x.see("Alpha of ")
	x.typed("32")
	x.keys("Enter")
	x.see("lora, from the next token on")
	x.typed("/adapter off")
	x.keys("Enter")
	x.see("no adapter, from the next token on")
	x.typed("/adapter lora")
	x.keys("Enter")
	x.see("lora, from the next token on", "adapter lora ·")

	// Removed from memory, merged, forgotten.
	x.keys("M-q")
	x.see("Adapters")
	x.keys("End", "d")
	x.see("lora is out of memory", "Not in memory")
	x.keys("Enter")
	x.see("answers now", "m merges it")
	x.keys("m")
	x.see("Merged: weights of its own")
	x.keys("x")
	x.see("Forget the adapter?")
	x.keys("Enter")
	x.see("lora is forgotten; its file stays", "is not known here")
}
