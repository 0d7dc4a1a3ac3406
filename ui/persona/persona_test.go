package persona_test

import (
	"os"
	"path/filepath"
	"testing"

	"rookery/ui"
	"rookery/ui/uitest"
)

func TestPersonas(t *testing.T) {
	dir := t.TempDir()
	uitest.Must(t, os.WriteFile(filepath.Join(dir, "owl.json"), []byte(`{"name":"Owl","system":"You are {{char}}, {{mood}}.","variables":{"mood":"calm"},"sampling":{"temperature":0.25}}`), 0o600))
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{})
		term := uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace, DataDir: dir}), 80, 24)
		system := func() string { return term.Model().(*ui.Model).Tab().View().Conversation.System }

		term.Enter("/persona import " + filepath.Join(dir, "owl.json"))
		term.Sees("imported “Owl”")
		term.Enter("/persona owl mood=awake")
		term.Sees("temp 0.25")
		if got := system(); got != "You are Owl, awake." {
			t.Errorf("the system prompt is %q", got)
		}
		term.Enter("hello")
		term.Sees(uitest.Answer)
		term.Enter("/persona save Night owl")
		term.Sees("saved to ")
		term.Press("alt+shift+p")
		term.Sees("Personas", "Night owl", "Owl", "Save this conversation's", "Import a file")
		term.Type("night")
		term.Press("enter")
		term.Sees("2 New chat", "temp 0.25")
		if got := system(); got != "You are Owl, awake." {
			t.Errorf("the saved system prompt is %q", got)
		}
		term.Press("alt+shift+p")
		term.Type("night")
		term.Press("ctrl+x")
		term.Sees("Delete the persona?")
		term.Press("enter")
		term.Sees("deleted “Night owl”")
		term.Enter("/persona nobody")
		term.Sees(`there is no persona "nobody"`)
		term.Press("esc")
		term.Enter("/persona owl mod=x")
		term.Sees(`Owl has no variable "mod"`)
	})
}
