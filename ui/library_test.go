package ui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/rwkv"
	"rookery/infer/statefile"
)

// aState is a state of the library whose heads grow from layer to layer.
func aState(id turn.ID, name, model string) turn.State {
	s := turn.State{ID: id, Read: 10042, Bytes: 3 << 20, State: statefile.State{
		Name: name, Kind: statefile.Baked, Source: name + ".txt", ModelName: model,
		Shape: rwkv.Shape{Version: rwkv.V7, Layers: 4, Embed: 8, Heads: 2, HeadSize: 4},
	}}
	s.Snapshot = &infer.Snapshot{State: make([]float32, s.Shape.StateLen())}
	for l := range s.Shape.Layers {
		for i := range 32 {
			s.Snapshot.State[s.Shape.WKV(l)+i] = float32(l+1) * float32(1+int(id)*i%5)
		}
	}
	return s
}

func withStates(open ...*fakeDialogue) *fakeDesk {
	return &fakeDesk{open: open, fakeLibrary: fakeLibrary{states: []turn.State{
		aState(2001, "book", "test-g1-20260312"), aState(2002, "persona", "test-g1-20260312"), aState(2003, "foreign", "other"),
	}}}
}

func TestBeginFromAState(t *testing.T) {
	b := newBench(t, withStates(), Settings{}, 80, 24)
	b.press("f8")
	b.sees("States to begin from")
	b.sees("baked · 10,042 tokens · test-g1-20260312 · 3.1 MB")
	b.press("enter")
	b.sees("begins from “book”")
	b.sees("from book · ")
	b.sees(" 1 book")
	if n := len(b.m.tabs); n != 1 {
		t.Errorf("%d tabs: an empty one is to be used", n)
	}
	b.typeText("/states persona")
	b.press("enter")
	b.sees("from persona")
	b.typeText("/states none")
	b.press("enter")
	b.sees("there is no state")
	b.press("esc")
	b.typeText("/states foreign")
	b.press("enter")
	b.sees("✗ it is of other")
}

func TestAConversationIsLeftAlone(t *testing.T) {
	b := newBench(t, withStates(talk()), Settings{}, 80, 24)
	b.typeText("/states book")
	b.press("enter")
	if n := len(b.m.tabs); n != 2 || b.m.active != 1 {
		t.Errorf("%d tabs, the active one is %d", n, b.m.active)
	}
}

func TestRenameDeleteImportAndKeep(t *testing.T) {
	k := withStates(talk())
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("f8", "f2", "ctrl+u")
	b.typeText("tome")
	b.press("enter")
	b.press("f8", "down", "ctrl+x")
	b.sees("“persona” is removed for good")
	b.press("enter", "f8")
	b.typeText("import")
	b.press("enter")
	b.typeText("/tmp/x.pth")
	b.press("enter")
	b.sees("imported “imported”")
	if want := []string{"rename 2001 tome", "delete persona", "import /tmp/x.pth"}; !slices.Equal(k.calls, want) {
		t.Errorf("asked %q, want %q", k.calls, want)
	}
	b.typeText("/keep here")
	b.press("enter")
	calls := b.m.tabs[0].d.(*fakeDialogue).calls
	if len(calls) == 0 || !strings.HasPrefix(calls[len(calls)-1], "keep ") || !strings.HasSuffix(calls[len(calls)-1], ` "here"`) {
		t.Errorf("asked %q", calls)
	}
	b.sees("kept as “here”")
}

func TestBaking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tale.txt")
	if err := os.WriteFile(path, []byte("Once."), 0o600); err != nil {
		t.Fatal(err)
	}
	k := withStates()
	b := newBench(t, k, Settings{}, 80, 24)
	k.bake = func(_ context.Context, progress func(infer.Progress)) error {
		progress(infer.Progress{Read: 50, ToRead: 200, Rate: 1000})
		d := b.m.dialogs[0].(*baking)
		b.m.Update(bakeTickMsg{d})
		b.sees("50 of 200 tokens, 1,000 a second")
		b.press("esc")
		return nil
	}
	b.typeText("/bake " + path)
	b.press("enter")
	b.sees("baked “tale”, 1,234 tokens")
	if want := (library.Recipe{Name: "tale", Source: "tale.txt", Text: "Once."}); k.recipe != want {
		t.Errorf("baked %+v", k.recipe)
	}
	k.bake = func(ctx context.Context, _ func(infer.Progress)) error {
		b.press("esc")
		return ctx.Err()
	}
	b.press("f8")
	b.typeText("system")
	b.press("enter")
	b.typeText("Be kind.")
	b.press("enter")
	b.typeText("kind")
	b.press("enter")
	b.sees("baking was stopped")
	if want := (library.Recipe{Name: "kind", Source: "a system prompt", Text: "Be kind.", System: true}); k.recipe != want {
		t.Errorf("baked %+v", k.recipe)
	}
	b.typeText("/bake /nowhere/at/all")
	b.press("enter")
	b.sees("✗ open /nowhere/at/all")
}

func TestInspector(t *testing.T) {
	b := newBench(t, withStates(), Settings{}, 80, 24)
	b.press("f8", "alt+i")
	b.sees("State “book”")
	b.sees("0-1   ▀▀▀▀▀▀▀▀▀▀▀▀")
	if !strings.Contains(b.m.View().Content, "\x1b[") {
		t.Error("the map has no colours")
	}
	b.press("enter")
	b.sees("Compare “book” with")
	b.press("enter")
	b.sees("“book” and “persona”")
	b.sees("all layers: relative L2")
	b.press("tab")
	b.sees("State “book”")
	b.press("esc", "esc")
	b.send(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
	b.press("f8", "alt+i")
	b.sees("    3   ")
	for _, shade := range []string{"░", "▒", "▓", "█"} {
		if !strings.Contains(b.screen(), shade+shade) {
			t.Errorf("without colours the map has no %s:\n%s", shade, b.screen())
		}
	}
	for _, size := range [][2]int{{30, 8}, {200, 60}, {12, 5}} {
		b.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		b.press("down", "pgdown", "pgup")
		b.check()
	}
}

func TestDrift(t *testing.T) {
	d := talk()
	d.v.Base = "book"
	for i := range 3 {
		d.drift = append(d.drift, chat.Drift{Turn: turn.ID(i + 1), Distance: rwkv.Distance{L2: 0.5 * float64(i+1), Cosine: 0.9}})
	}
	b := newBench(t, withStates(d), Settings{}, 80, 24)
	b.typeText("/drift")
	b.press("enter")
	b.sees("each kept state to “book”")
	b.sees("3 states; first L2 0.500")
	b.press("esc")
	d.fail = errors.New("no states")
	b.typeText("/drift")
	b.press("enter")
	b.sees("✗ no states")
}

func TestHeatmapOfManyHeads(t *testing.T) {
	var norms []rwkv.Norms
	for range 61 {
		norms = append(norms, rwkv.Norms{Heads: make([]float64, 64)})
	}
	norms[60].Heads[63] = 5
	h := newHeatmap(norms)
	th := defaultTheme(true)
	if lines := h.lines(th, true, 74); len(lines) != 31 || ansi.StringWidth(lines[0]) != 72 {
		t.Errorf("%d lines of %d cells", len(lines), ansi.StringWidth(lines[0]))
	}
	lines := h.lines(th, false, 74)
	if len(lines) != 61 || !strings.HasSuffix(lines[60], " █") {
		t.Errorf("%d lines, the last %q", len(lines), lines[60])
	}
}

func TestStatesInPlainLines(t *testing.T) {
	k := withStates(talk())
	var written bytes.Buffer
	lines := "/states\n/states book\n/keep x\n/states none\n/drift\n"
	if err := runPlain(t.Context(), k, Options{In: strings.NewReader(lines), Out: &written}); err != nil {
		t.Fatal(err)
	}
	out := written.String()
	for _, text := range []string{
		"book: baked, 10,042 tokens, test-g1-20260312, 3.1 MB.", "begins from book.",
		"Error: there is no answer yet", `Error: there is no state "none"`, "Distance to",
	} {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not said:\n%s", text, out)
		}
	}
}
