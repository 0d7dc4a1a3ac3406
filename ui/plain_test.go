package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/infer/scripted"
	"rookery/ui/uitest"
)

// converse runs the line interface over a real workspace with lines of input.
func converse(t *testing.T, step time.Duration, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	err := Run(t.Context(), Options{
		Workspace: scriptedDesk(t, step), Settings: Settings{ScreenReader: true}, Version: "1.0",
		In: strings.NewReader(strings.Join(lines, "\n")), Out: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r\x07") {
		t.Errorf("control characters in %q", out.String())
	}
	return out.String()
}

func TestPlainConversation(t *testing.T) {
	got := converse(t, 0, "hello", "a fox, \\", "please", "/rename Foxes", "/open")
	want := "Rookery 1.0. /help lists the commands, /quit leaves.\n" +
		"Answer: A short answer.\n" +
		"Answer: " + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 8) + "And that was **all**.\n" +
		"1: Foxes, just now.\n" +
		"/open and a number opens one.\n\n"
	if got = strings.ReplaceAll(got, "You: ", ""); got != want { // the prompt comes when nothing else has been written yet
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestPlainCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	got := converse(t, 0, "/think", "/think fast", "/preset greedy", "/temp x", "/system", "/system Be kind.", "/system", "/nothing", "/fold",
		"/monitor", "hello", "/export", "/export", "/new", "/edit", "/help", "/quit", "never sent")
	for _, want := range []string{
		"off: nothing is added to the prompt. This one is chosen.\n", " was not trained to think; the G1 models were\n", "Preset greedy, from the next token on.\n",
		"Error: \"x\" is not a number: write", "There is no system prompt.", "The system prompt is set.\n", "The system prompt: Be kind.\n",
		"Error: there is no command /nothing", "Error: this command needs the screen", "tok/s", "Exported to hello.md.\n",
		"Error: hello.md is there already", "A new conversation.\n", "Error: write /edit and the new prompt",
		"/retry: generate another answer; keep the old version.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "/palette") || strings.Contains(got, "/fold:") {
		t.Error("the help lists commands that need a screen")
	}
	if _, err := os.Stat("hello.md"); err != nil {
		t.Error(err)
	}
}

func TestPlainSpeaksInWholeSentences(t *testing.T) {
	d := newFake(1, "One")
	k := &fakeDesk{open: []*fakeDialogue{d}}
	var out bytes.Buffer
	p := &plain{ctx: t.Context(), workspace: k, d: d, out: &out}
	say := func(text, want string) {
		t.Helper()
		out.Reset()
		d.generate(text, infer.Progress{})
		p.speak()
		if out.String() != want {
			t.Errorf("%q spoke %q, want %q", text, out.String(), want)
		}
	}
	say("<thi", "Thinking.\n")
	say("<think>\nhm hm", "")
	say("<think>\nhm hm\n</think>\nOne", "")
	say("<think>\nhm hm\n</think>\nOne two. Th", "Thought: 2 words.\nAnswer: One two. ")
	say("<think>\nhm hm\n</think>\nOne two. Three, 3.5! Fo", "Three, 3.5! ")
	say("<think>\nhm hm\n</think>\nOne two. Three, 3.5! Four\nfive", "Four\n")
	say("<think>\nhm hm\n</think>\nOne two. Three, 3.5! Four\nfive 六。七", "five 六。")
	out.Reset()
	d.v.Live.Turn.Open = true
	d.end()
	d.v.Turns[0].Open = true
	p.speak()
	if want := "七\nThe answer was interrupted. /continue goes on with it.\n"; out.String() != want {
		t.Errorf("ended with %q, want %q", out.String(), want)
	}
	d.v.Err = errors.New("the disk\nis full")
	out.Reset()
	p.speak()
	p.speak()
	if want := "Error: the disk is full\n"; out.String() != want {
		t.Errorf("an error was told as %q", out.String())
	}
}

func TestPlainResumes(t *testing.T) {
	w := uitest.New(t, uitest.Options{Step: time.Millisecond, Answers: []scripted.Answer{{Prompt: "count", Text: strings.Repeat(" one two", 100) + "\n\n"}}})
	d := w.Workspace.New()
	uitest.Must(t, d.Send("count"))
	for v := d.View(); v.Live == nil || v.Live.Progress.Generated < 5; v = d.View() {
		time.Sleep(time.Millisecond)
	}
	d.Stop()
	for v := d.View(); v.Live != nil || !v.Saved; v = d.View() {
		time.Sleep(time.Millisecond)
	}
	w.Workspace.SaveLayout([]*chat.Dialogue{d}, 0)
	for l, err := w.Store.Layout(t.Context()); err != nil || len(l.Open) == 0; l, err = w.Store.Layout(t.Context()) {
		uitest.Must(t, err)
		time.Sleep(time.Millisecond)
	}
	var out bytes.Buffer
	err := runPlain(t.Context(), chatWorkspace{w.Workspace, nil}, Options{In: strings.NewReader("/continue\n/open 7\n"), Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Conversation: count, 2 messages.", "Answer: one", "The answer was interrupted.", "two one two"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if turns := d.View().Turns; len(turns) != 2 || turns[1].Open {
		t.Errorf("the answer was not continued: %+v", turns)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestPlainTellsABrokenOutput(t *testing.T) {
	err := runPlain(t.Context(), &fakeDesk{}, Options{In: strings.NewReader("a\n"), Out: brokenPipe{}})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("said %v", err)
	}
}

func TestPlainEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	time.AfterFunc(30*time.Millisecond, cancel)
	if err := runPlain(ctx, &fakeDesk{}, Options{In: in, Out: io.Discard}); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestPlainShelf(t *testing.T) {
	k := shelfDesk()
	k.found = []turn.SearchHit{{Conversation: 2, Turn: 9, Snippet: "and the dog ran", Marks: [][2]int{{8, 11}}}}
	lines := "/open\n/open dog\n/pin\n/archive\n/archive\n/delete\n/delete\n/undelete\n/undelete\n"
	var written bytes.Buffer
	if err := runPlain(t.Context(), k, Options{In: strings.NewReader(lines), Out: &written}); err != nil {
		t.Fatal(err)
	}
	out := written.String()
	for _, want := range []string{
		"1: Kept for long, 2025-05-05, pinned.\n", "4: Another dog", "In 3, A dog story: and the dog ran\n",
		"Pinned.\n", "In the archive.\n", "Taken out of the archive.\n",
		"“Feeding the rook” is in the bin, and this is a new conversation. /undelete undoes it.\n",
		"nothing is stored of this conversation yet", "nothing was deleted since the start",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q was not said:\n%s", want, out)
		}
	}
	for _, not := range []string{"Thrown out", "Put aside"} {
		if strings.Contains(out, not) {
			t.Errorf("%q was said:\n%s", not, out)
		}
	}
}
