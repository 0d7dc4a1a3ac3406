package ui

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
)

func withAdapters(open ...*fakeDialogue) *fakeDesk {
	return &fakeDesk{open: open, fakeAdapters: fakeAdapters{rack: []turn.RegisteredAdapter{
		{Adapter: turn.Adapter{Name: "demo-pirate"}}, aRacked("poet", "/models/poet.pth", 2),
	}}}
}

func TestAdaptersPanel(t *testing.T) {
	k := withAdapters(talk())
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("f10")
	b.sees("Adapters")
	b.sees("* none")
	b.press("down", "down")
	b.sees("LoRA, rank 16, scale 2; att value.")
	b.sees("From /models/poet.pth.")
	b.sees("3.1 MB of memory, 2 answers now.")
	b.press("right") // it is not in use: only the fader moves
	b.sees("1.10")
	if len(k.asked) != 0 {
		t.Errorf("asked %q", k.asked)
	}
	b.press("enter")
	b.sees("adapter poet × 1.1")
	b.press("home")
	b.press("enter")
	if d := b.m.tab().d.(*fakeDialogue); d.v.Adapter != "" {
		t.Errorf("the adapter is %q after none was chosen", d.v.Adapter)
	}
	b.press("end", "d")
	b.press("m")
	b.press("x", "enter")
	want := []string{"strength of poet 1.1", "drop print of poet", "merge poet true", "forget poet"}
	if !slices.Equal(k.asked, want) {
		t.Errorf("asked %q, want %q", k.asked, want)
	}
	b.sees("poet is forgotten; its file stays")
	b.press("home", "down", "x")
	b.sees("comes with the model and stays in the list")
	for _, size := range [][2]int{{30, 8}, {200, 60}, {12, 5}, {80, 24}} {
		b.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		b.press("down", "up")
		b.check()
	}
}

// The fader of the adapter in use is heard at once; at 0 the conversation has
// none, and the fader stays its.
func TestAdapterFader(t *testing.T) {
	k := withAdapters(talk())
	b := newBench(t, k, Settings{}, 120, 30)
	b.press("f10", "end", "enter", "right", "0", "1")
	want := []string{"strength of poet 1", "strength of poet 1.1", "strength of poet 1"}
	if !slices.Equal(k.asked, want) {
		t.Errorf("asked %q, want %q", k.asked, want)
	}
	calls := b.m.tab().d.(*fakeDialogue).calls
	if n := len(calls); n < 4 || calls[n-2] != "adapter " || calls[n-1] != "adapter poet" {
		t.Errorf("the conversation got %q", calls)
	}
}

func TestAdapterQuestions(t *testing.T) {
	k := withAdapters(talk())
	b := newBench(t, k, Settings{}, 80, 24)
	b.typeText("/adapter lora.pth")
	b.press("enter")
	b.sees("Alpha of lora.pth")
	b.typeText("many")
	b.press("enter")
	b.sees(`"many" is no alpha`)
	b.press("ctrl+u")
	b.typeText("32")
	b.press("enter")
	b.sees("adapter lora.pth")
	b.press("f10", "a")
	b.typeText("bone.pth")
	b.press("enter")
	b.sees("BAT")
	b.press("down", "enter")
	want := []string{`find lora.pth alpha 32 blocks "" strength 0`, `find bone.pth alpha 0 blocks "row" strength 0`}
	if !slices.Equal(k.asked, want) {
		t.Errorf("asked %q, want %q", k.asked, want)
	}
	b.press("f10")
	b.typeText("/adapter nobody")
	b.press("enter")
	b.sees("✗ there is no adapter nobody")
	b.press("esc")
	b.press("ctrl+u")
	b.typeText("/adapter off")
	b.press("enter")
	b.sees("no adapter, from the next token on")
	k.wrong = errors.New("the list is damaged")
	b.press("f10")
	b.sees("the list is damaged")
}

func TestAdaptersInPlainLines(t *testing.T) {
	k := withAdapters(talk())
	var written bytes.Buffer
	lines := "/adapter\n/adapter poet strength=0.5\n/adapter lora.pth\n/adapter off\n"
	if err := runPlain(t.Context(), k, Options{In: strings.NewReader(lines), Out: &written}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"demo-pirate: comes with the model.", "poet: /models/poet.pth, LoRA, rank 16, 3.1 MB of memory, used by 2 now.",
		"poet × 0.5, from the next token on.", "Error: lora.pth: a LoRA file does not say its alpha", "No adapter, from the next token on.",
	} {
		if !strings.Contains(written.String(), text) {
			t.Errorf("%q is not said:\n%s", text, written.String())
		}
	}
}
