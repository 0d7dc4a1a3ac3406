package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rookery/infer/statefile"
)

// rookery runs a command line with the home of the terminal.
func (x *terminal) rookery(args ...string) string {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 5*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(x.t), args...)
	cmd.Env = append(os.Environ(), "HOME="+x.home, "XDG_DATA_HOME="+x.home+"/data", "XDG_CONFIG_HOME="+x.home+"/config")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("rookery %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// The entries of the list of states that add to the library, and what is stored
// afterwards.
func TestStatesFromTheList(t *testing.T) {
	home := t.TempDir()
	x := open(t, 100, 30, home, "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.keys("F8")
	x.see("States to begin from")
	x.typed("text file")
	x.see("Bake a text file…")
	x.keys("Enter")
	x.see("Bake a text file")
	x.typed(writeTale(t, 5))
	x.keys("Enter")
	x.see("baked “tale”")

	x.keys("F8")
	x.typed("system prompt")
	x.see("Bake a system prompt…")
	x.keys("Enter")
	x.see("Bake a system prompt")
	x.typed("You are an old rook.")
	x.keys("Enter")
	x.see("Name of the state")
	x.typed("old rook")
	x.keys("Enter")
	x.see("baked “old rook”")

	x.say("Tell me a story.", 1)
	x.keys("F8")
	x.typed("keep")
	x.see("Keep the state after this answer…")
	x.keys("Enter")
	x.see("Keep the state after this answer")
	x.keys("C-u")
	x.typed("after a story")
	x.keys("Enter")
	x.see("kept as “after a story”")
	x.keys("C-q")
	x.see("exit:0")

	file := filepath.Join(home, "rook.rkstate")
	x.rookery("states", "export", "old rook", "-o", file)
	x.rookery("states", "rm", "old rook")
	x.start(program(t), "--seed", "1", "--max-tokens", "8")
	x.see("Tell me a story.")
	x.keys("F8")
	x.typed("import")
	x.see("Import a file…")
	x.keys("Enter")
	x.see("Import a state")
	x.typed(file)
	x.keys("Enter")
	x.see("imported “old rook”")
	x.keys("F8")
	x.typed("old rook")
	x.see("baked · ")
	x.keys("Enter")
	x.see("from old rook ·")
	x.say("Who are you?", 1)
	talks := x.quit()

	kinds := map[string]statefile.Kind{}
	for _, st := range readLibrary(t, home) {
		kinds[st.Name] = st.Kind
		if st.Name == "old rook" && talks[0].Base != st.ID {
			t.Errorf("the conversation begins from %d, and “old rook” is %d", talks[0].Base, st.ID)
		}
	}
	if len(kinds) != 3 || kinds["tale"] != statefile.Baked || kinds["old rook"] != statefile.Baked || kinds["after a story"] != statefile.Saved {
		t.Errorf("the library has %v", kinds)
	}
}

// The commands for the conversation on the screen, and what is stored afterwards.
func TestConversationCommands(t *testing.T) {
	x := open(t, 100, 30, t.TempDir(), "--seed", "1", "--max-tokens", "8")
	x.see(composerHint)
	x.say("Tell me a story.", 1)
	x.typed("/pin")
	x.keys("Enter")
	x.see("pinned “")
	x.keys("C-t")
	x.see("2 New chat")
	x.say("How do you do?", 1)
	x.typed("/archive")
	x.keys("Enter")
	x.see("is in the archive")
	x.keys("M-1")
	x.see("Tell me a story.")
	x.keys("F2")
	x.see("enter")
	x.keys("C-u")
	x.typed("A tale")
	x.keys("Enter")
	x.see("1 A tale")
	for _, form := range []string{"bundle", "tree", "md", "json"} {
		path := filepath.Join(x.home, "out."+form)
		x.typed("/export " + form + " " + path)
		x.keys("Enter")
		x.see("exported to " + path[:20])
		x.keys("Escape")
		x.gone("exported to ")
		if info, err := os.Stat(path); err != nil || info.Size() < 50 {
			t.Errorf("%s: %v", form, err)
		}
	}
	x.typed("/delete")
	x.keys("Enter")
	x.see("its tab is closed")
	talks := x.quit()
	if len(talks) != 2 {
		t.Fatalf("%d conversations are stored", len(talks))
	}
	for _, talk := range talks {
		tale := talk.Title == "A tale"
		if talk.Pinned != tale || talk.Archived == tale || talk.Deleted.IsZero() == tale || talk.Named != tale {
			t.Errorf("stored: %+v", talk.Conversation)
		}
	}
}
