package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// A prompt names files; a file is read once into a state, which the next start finds.
func TestFiles(t *testing.T) {
	home := t.TempDir()
	tale := writeTale(t, 20)
	notes := filepath.Join(filepath.Dir(tale), "notes.md")
	if err := os.WriteFile(notes, []byte("# Notes\n\nA cat sat.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, 80, 24, home, "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.typed("Tell me of @" + filepath.Dir(tale) + "/no")
	x.see("notes.md  20 bytes")
	x.keys("Tab")
	x.see("notes.md  ", " tokens", "once, into a state to begin from")
	x.keys("Enter")
	x.see("notes.md:", "# Notes", "A cat sat.")
	x.answered()

	x.typed("Who is in @" + tale)
	x.see("tale.txt  ", " tokens")
	x.keys("M-B")
	x.see("2 tale.txt ", "into “tale.txt ", "from tale.txt ")
	x.see("› Who is in " + filepath.Dir(tale)[:8])
	x.keys("Enter")
	x.answered()
	x.keys("C-q")
	x.see("exit:0")

	x.start(program(t), "--seed", "1", "--max-tokens", "12")
	x.see(composerHint)
	x.typed("Who is in @" + tale)
	x.see("which has read it: 0 tokens")
	x.keys("M-B")
	x.see("that need not be read again")
	x.keys("C-q")
	x.see("exit:0")
}
