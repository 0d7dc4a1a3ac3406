package states_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"rookery/chat/memstore"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/scripted"
	"rookery/infer/statefile"
	"rookery/ui"
	"rookery/ui/uitest"
)

// aState is a state whose heads grow from layer to layer.
func aState(id turn.ID, name string, shape rwkv.Shape) turn.State {
	m := scripted.Model()
	s := turn.State{ID: id, Read: 10042, Bytes: 3 << 20, State: statefile.State{
		Name: name, Kind: statefile.Baked, Source: name + ".txt", ModelName: m.Name, Model: m.Fingerprint, Shape: shape,
	}}
	s.Snapshot = &infer.Snapshot{State: make([]float32, shape.StateLen())}
	for l := range shape.Layers {
		for i := range shape.Heads * shape.HeadSize * shape.HeadSize {
			s.Snapshot.State[shape.WKV(l)+i] = float32(l+1) * float32(1+int(id)*i%5)
		}
	}
	return s
}

// layered is the shape of a state that a heat map shows something of.
var layered = rwkv.Shape{Version: rwkv.V7, Layers: 4, Embed: 8, Heads: 2, HeadSize: 4}

// withStates is a world whose library has a few states.
func withStates(t *testing.T) *uitest.World {
	t.Helper()
	return uitest.New(t, uitest.Options{Step: time.Millisecond, Setup: func(store *memstore.Store) {
		shape := scripted.Model().Shape
		foreign := aState(2003, "foreign", shape)
		foreign.Model, foreign.ModelName = "another", "other"
		for _, s := range []turn.State{
			aState(2001, "book", shape), aState(2002, "persona", shape), foreign,
			aState(2004, "layers", layered), aState(2005, "more layers", layered),
		} {
			uitest.Must(t, store.SaveState(t.Context(), s))
		}
	}})
}

// open shows a program whose library has a few states.
func open(t *testing.T, prompts ...string) (*uitest.World, *uitest.Terminal) {
	t.Helper()
	w := withStates(t)
	if len(prompts) > 0 {
		w.Converse("Rooks", prompts...)
	}
	return w, uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 80, 24)
}

func names(t *testing.T, w *uitest.World) string {
	t.Helper()
	list, err := w.Workspace.Library().List(t.Context())
	uitest.Must(t, err)
	var all []string
	for _, s := range list {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

func TestBeginFromAState(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		_, term := open(t)
		term.Press("f8")
		term.Sees("States to begin from", "book", "baked · 10,042 tokens · scripted · 3.1 MB")
		term.Type("book")
		term.Press("enter")
		term.Sees(" 1 book", "from book · ", "begins from “book”")
		term.SeesNot("│")
		term.Enter("/states persona")
		term.Sees("from persona")
		term.Enter("/states none")
		term.Sees("there is no state")
		term.Press("esc")
		term.Enter("/states foreign")
		term.Sees("✗ ", "other")
	})
}

func TestAConversationIsLeftAlone(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		_, term := open(t, "hello")
		term.Enter("/states book")
		term.Sees("1 Rooks", "2 book", "from book")
	})
}

func TestRenameDeleteAndKeep(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		w, term := open(t, "hello")
		term.Press("f8")
		term.Type("book")
		term.Press("f2", "ctrl+u")
		term.Enter("tome")
		term.Sees("renamed to “tome”")
		term.Press("f8")
		term.Type("persona")
		term.Press("ctrl+x")
		term.Sees("“persona” is removed for good")
		term.Press("enter")
		term.Sees("deleted “persona”")
		term.Press("f8")
		term.Type("import")
		term.Press("enter")
		term.Enter("/nowhere/x.pth")
		term.Sees("✗ ", "/nowhere/x.pth")
		term.Press("esc")
		term.Enter("/keep here")
		term.Await("kept as “here”")
		if got := names(t, w); !strings.Contains(got, "tome") || !strings.Contains(got, "here") || strings.Contains(got, "persona") || strings.Contains(got, "book") {
			t.Errorf("the library has %s", got)
		}
		term.Press("f8")
		term.Type("keep the")
		term.Press("enter")
		term.Sees("Keep the state after this answer")
		term.Press("ctrl+u")
		term.Enter("there")
		term.Await("kept as “there”")
	})
}

func TestImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "brought.rkstate")
	f, err := os.Create(path)
	uitest.Must(t, err)
	s := aState(9, "brought", scripted.Model().Shape)
	uitest.Must(t, s.Write(f, statefile.Own))
	uitest.Must(t, f.Close())
	uitest.Run(t, func(t *testing.T) {
		w, term := open(t)
		term.Press("f8")
		term.Type("import")
		term.Press("enter")
		term.Enter(path)
		term.Sees("imported “brought”")
		if got := names(t, w); !strings.Contains(got, "brought") {
			t.Errorf("the library has %s", got)
		}
	})
}

func TestNothingToKeep(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		_, term := open(t)
		term.Enter("/keep x")
		term.Sees("✗ there is no answer yet whose state could be kept")
		term.Press("esc")
		term.Enter("/drift")
		term.Sees("✗ ")
	})
}

func TestBaking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tale.txt")
	other := filepath.Join(t.TempDir(), "other.txt")
	for _, p := range []string{path, other} {
		uitest.Must(t, os.WriteFile(p, []byte(strings.Repeat("Once there was a rook. ", 2000)), 0o600))
	}
	uitest.Run(t, func(t *testing.T) {
		w, term := open(t)
		term.Enter("/bake " + path)
		term.Pass(80 * time.Millisecond)
		term.Sees("Baking", " tokens", "esc stop")
		term.Send(tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
		term.Sees("Baking") // a slip of the hand does not stop it
		term.Pass(time.Second)
		term.Sees("baked “tale”, ", "begins from it")
		term.SeesNot("Baking")
		if got := names(t, w); !strings.Contains(got, "tale") {
			t.Errorf("the library has %s", got)
		}
		term.Enter("/bake " + path)
		term.Sees("✗ ", "tale") // its name is taken
		term.Press("esc")
		term.Enter("/bake " + other)
		term.Press("esc")
		term.SeesNot("esc stop")
		term.Await("baking was stopped; nothing is kept")
		term.Press("f8")
		term.Type("system")
		term.Press("enter")
		term.Enter("Be kind.")
		term.Enter("kind")
		term.Pass(time.Second)
		term.Sees("baked “kind”")
		term.Enter("/bake /nowhere/at/all")
		term.Sees("✗ open /nowhere/at/all")
	})
}

func TestInspector(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		_, term := open(t)
		term.Press("f8")
		term.Type("layers")
		term.Press("alt+i")
		term.Sees("State “layers”", "0-1   ▀▀▀▀▀▀▀▀▀▀▀▀")
		if !strings.Contains(term.Model().View().Content, "\x1b[") {
			t.Error("the map has no colours")
		}
		term.Press("enter")
		term.Sees("Compare “layers” with", "more layers")
		term.SeesNot("persona")
		term.Press("enter")
		term.Sees("“layers” and “more layers”", "all layers: relative L2")
		term.Press("tab")
		term.Sees("State “layers”")
		term.Press("esc", "esc")
		term.Send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
		term.Press("f8")
		term.Type("layers")
		term.Press("alt+i")
		term.Sees("    3   ")
		for _, shade := range []string{"░", "▒", "▓", "█"} {
			if !strings.Contains(term.Screen(), shade+shade) {
				t.Errorf("without colours the map has no %s:\n%s", shade, term.Screen())
			}
		}
		for _, size := range [][2]int{{30, 8}, {200, 60}, {12, 5}} {
			term.Resize(size[0], size[1])
			term.Press("down", "pgdown", "pgup")
			term.Check()
		}
	})
}

func TestDrift(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		_, term := open(t, "hello", "and again")
		term.Enter("/drift")
		term.Sees("Drift of “Rooks”", "each kept state to “", "states; first L2 ")
		term.Press("esc")
		term.SeesNot("Drift of")
	})
}

func TestStatesInPlainLines(t *testing.T) {
	var written strings.Builder
	lines := "/states\n/states book\n/keep x\n/states none\n/drift\n"
	o := ui.Options{Workspace: withStates(t).Workspace, Settings: ui.Settings{ScreenReader: true}, In: strings.NewReader(lines), Out: &written}
	uitest.Must(t, ui.Run(t.Context(), o))
	out := written.String()
	for _, text := range []string{
		"book: baked, 10,042 tokens, scripted, 3.1 MB.", "begins from book.",
		"Error: there is no answer yet", `Error: there is no state "none"`,
	} {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not said:\n%s", text, out)
		}
	}
}
