package ui

import (
	"bytes"
	"strings"
	"testing"

	"rookery/chat/turn"
)

func withAdapters(open ...*fakeDialogue) *fakeDesk {
	return &fakeDesk{open: open, fakeAdapters: fakeAdapters{rack: []turn.RegisteredAdapter{
		{Adapter: turn.Adapter{Name: "demo-pirate"}}, aRacked("poet", "/models/poet.pth", 2),
	}}}
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
