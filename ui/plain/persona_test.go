package plain_test

import (
	"bytes"
	"strings"
	"testing"

	"rookery/ui"
	"rookery/ui/uitest"
)

func TestPersonas(t *testing.T) {
	w := uitest.New(t, uitest.Options{})
	var out bytes.Buffer
	lines := []string{"/system You are an owl.", "/persona save Owl", "/persona", "/new", "/persona owl", "/system", "/persona delete Owl", "/persona owl", "/persona save"}
	uitest.Must(t, ui.Run(t.Context(), ui.Options{
		Workspace: w.Workspace, Settings: ui.Settings{ScreenReader: true}, DataDir: t.TempDir(), In: strings.NewReader(strings.Join(lines, "\n")), Out: &out,
	}))
	says(t, out.String(), "Saved to ", "Owl: preset ", "A new conversation with Owl.", "The system prompt: You are an owl.", "Deleted “Owl”.", `Error: there is no persona "owl"`, "Error: write /persona save and a name")
}
