package kit_test

import (
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/ui"
	"rookery/ui/kit"
	"rookery/ui/uitest"
)

// files makes a directory with a few files and a directory of its own.
func files(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"first.txt", "second.txt", "鸦.txt", "\x1b[31mred.txt", "sub/deep.txt", "sub/deeper.txt", ".hidden"} {
		path := filepath.Join(dir, name)
		uitest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		uitest.Must(t, os.WriteFile(path, []byte("text"), 0o600))
	}
	return dir
}

// ask opens the question for a path; what it took is in taken.
func ask(t *testing.T, width, height int) (term *uitest.Terminal, taken *string) {
	t.Helper()
	taken = new(string)
	w := uitest.New(t, uitest.Options{})
	term = uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace, Settings: ui.Settings{Mouse: true}}), width, height)
	term.Send(kit.Action(func(h kit.Host) tea.Cmd {
		return kit.AskPath(h, "A file", "It is read.", "read it", "", func(h kit.Host, path string) tea.Cmd {
			*taken = path
			return kit.Close(h)
		})
	}))
	return term, taken
}

func TestFilePickerLists(t *testing.T) {
	dir := files(t)
	t.Chdir(dir)
	uitest.Run(t, func(t *testing.T) {
		term, taken := ask(t, 80, 24)
		term.Sees("A file", "It is read.", "sub/", "first.txt", "second.txt", "鸦.txt", "complete")
		term.SeesNot(".hidden")
		term.Check()
		term.Press("down", "down", "down", "down", "up", "enter")
		if *taken != "first.txt" {
			t.Errorf("took %q", *taken)
		}
		term.SeesNot("A file")
	})
}

func TestFilePickerCompletes(t *testing.T) {
	dir := files(t)
	uitest.Run(t, func(t *testing.T) {
		term, taken := ask(t, 100, 30)
		term.Type(dir + "/s")
		term.Press("tab") // the directory, which is opened
		term.Sees("/sub/", "deep.txt", "deeper.txt")
		term.Press("tab") // nothing is marked yet
		term.Type("deepe")
		term.Press("tab", "enter")
		if want := dir + "/sub/deeper.txt"; *taken != want {
			t.Errorf("took %q, want %q", *taken, want)
		}
		term, taken = ask(t, 100, 30)
		term.Enter(dir) // is not accepted, but opened
		term.Sees("sub/", "first.txt")
		term.Enter("new.txt")
		if want := dir + "/new.txt"; *taken != want {
			t.Errorf("took %q, want %q", *taken, want)
		}
		term, taken = ask(t, 100, 30)
		term.Enter("/nowhere/*.json")
		if *taken != "/nowhere/*.json" {
			t.Errorf("took %q", *taken)
		}
	})
}

func TestFilePickerWithTheMouse(t *testing.T) {
	dir := files(t)
	t.Chdir(dir)
	uitest.Run(t, func(t *testing.T) {
		term, taken := ask(t, 80, 24)
		term.Send(tea.MouseClickMsg{X: 40, Y: term.Row("second.txt"), Button: tea.MouseLeft})
		term.Sees("second.txt", "second.txt")
		term.Send(tea.MouseWheelMsg{X: 40, Y: term.Row("A file") + 1, Button: tea.MouseWheelUp})
		term.Press("enter")
		if *taken != "first.txt" {
			t.Errorf("took %q", *taken)
		}
	})
}

// On any screen the question is there, and the list as far as it fits.
func TestFilePickerOnAnyScreen(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		uitest.Must(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i%26))+string(rune('a'+i/26))+".txt"), nil, 0o600))
	}
	t.Chdir(dir)
	uitest.Run(t, func(t *testing.T) {
		term, taken := ask(t, 40, 10)
		for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 60}, {40, 14}} {
			term.Resize(size[0], size[1])
			term.Sees("A file")
			for _, key := range []string{"pgdown", "pgdown", "down", "down", "pgup", "up", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown"} {
				term.Press(key)
				term.Check()
			}
			if size[1] > 10 { // or else there is no room for the list
				term.Sees("za.txt")
			}
		}
		term.Press("enter")
		if *taken != "za.txt" {
			t.Errorf("took %q", *taken)
		}
	})
}
