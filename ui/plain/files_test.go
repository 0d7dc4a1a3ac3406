package plain_test

import (
	"os"
	"strings"
	"testing"

	"rookery/ui/uitest"
)

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	uitest.Must(t, os.WriteFile("notes.md", []byte("Rooks nest in trees."), 0o600))
	got := converse(t, "Sum up @notes.md", "ask @gone.md", "/edit Again: @notes.md", "/file gone.md", "/file notes.md", "/file @notes.md")
	says(t, got, "notes.md: 39 tokens.", "Answer: "+uitest.Answer, "@gone.md: there is no such file, so it is sent as it stands.",
		"Error: there is no file gone.md", "39 tokens were read.", "39 tokens need not be read again.")
	if n := strings.Count(got, "notes.md: 39 tokens."); n != 2 {
		t.Errorf("the file was read into %d prompts, not 2:\n%s", n, got)
	}
}
