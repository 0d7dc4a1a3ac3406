package plain_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"rookery/chat"
	"rookery/infer/scripted"
	"rookery/ui"
	"rookery/ui/uitest"
)

// converse runs the program with lines of input.
func converse(t *testing.T, lines ...string) string {
	t.Helper()
	w := uitest.New(t, uitest.Options{Answers: []scripted.Answer{
		{Prompt: "fox", Text: strings.Repeat(" The quick brown fox jumps over the lazy dog.", 8) + " And that was **all**.\n\n"},
	}})
	return run(t, w, lines...)
}

func run(t *testing.T, w *uitest.World, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	uitest.Must(t, ui.Run(t.Context(), ui.Options{
		Workspace: w.Workspace, Settings: ui.Settings{ScreenReader: true}, Version: "1.0",
		In: strings.NewReader(strings.Join(lines, "\n")), Out: &out,
	}))
	if strings.ContainsAny(out.String(), "\x1b\r\x07") {
		t.Errorf("control characters in %q", out.String())
	}
	return out.String()
}

// says fails unless all texts were said.
func says(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestConversation(t *testing.T) {
	got := converse(t, "hello", "a fox, \\", "please", "/rename Foxes", "/open")
	want := "Rookery 1.0. /help lists the commands, /quit leaves.\n" +
		"Answer: " + uitest.Answer + "\n" +
		"Answer: " + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 8) + "And that was **all**.\n" +
		"1: Foxes, just now.\n" +
		"/open and a number opens one.\n\n"
	if got = strings.ReplaceAll(got, "You: ", ""); got != want { // the prompt comes when nothing else has been written yet
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	got := converse(t, "/think", "/think fast", "/preset greedy", "/temp x", "/system", "/system Be kind.", "/system", "/nothing", "/fold",
		"/monitor", "hello", "/export", "/export", "/new", "/edit", "/help", "/quit", "never sent")
	says(t, got,
		"off: nothing is added to the prompt. This one is chosen.\n", " was not trained to think; the G1 models were\n", "Preset greedy, from the next token on.\n",
		"Error: \"x\" is not a number: write", "There is no system prompt.", "The system prompt is set.\n", "The system prompt: Be kind.\n",
		"Error: there is no command /nothing", "Error: this command needs the screen", "tok/s", "Exported to hello.md.\n",
		"Error: hello.md exists", "A new conversation.\n", "Error: write /edit and the new prompt",
		"/retry: generate another answer; keep the old version.\n", "/votes", "/best", "/temp", "/undo", "/adapter",
	)
	for _, not := range []string{"/palette", "/fold:", "/heat", "/mouse", "/suspend", "/reopen", "/copy", "/search"} {
		if strings.Contains(got, "\n"+not) {
			t.Errorf("the help lists %s, which needs a screen", not)
		}
	}
	if _, err := os.Stat("hello.md"); err != nil {
		t.Error(err)
	}
}

func TestResumes(t *testing.T) {
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
	says(t, run(t, w, "/continue", "/open 7", ""), "Conversation: count, 2 messages.", "Answer: one", "The answer was interrupted.", "two one two")
	if turns := d.View().Turns; len(turns) != 2 || turns[1].Open {
		t.Errorf("the answer was not continued: %+v", turns)
	}
}

func TestTree(t *testing.T) {
	got := converse(t, "hello", "a fox, please", "/undo", "/undo", "/undo", "/redo", "/scrub 3", "/scrub 9", "/scrub 4",
		"/label the end", "/pin_turn", "/rewrite Another text.", "/tokens", "/tokens 1", "/tokens 1 99", "/tokens 0",
		"/best 3", "/next", "/fork 2", "/fork x", "/quit")
	says(t, got,
		"Took back 2 turns; nothing is lost.\n", "Error: there is nothing to undo", "Brought back 2 turns.\n",
		"The conversation goes on after turn 3 of 4.\n", `Error: there is no turn "9"`,
		"The turn is called “the end”, and its state is kept.\n", "The state of the turn is kept.\n",
		"tokens. /tokens and a number looks at one.\n", "percent by the model", "This one was taken.\n",
		"Error: there are candidates 1 to ", "Error: the answer has tokens 1 to ", "3 answers to the prompt.\n",
		"Answer 1 of 3: The quick brown fox", "Answer 3 of 3: ", "/next and /prev choose another.\n",
		"Forked into 2. This is a fox, please (2); /open lists the others.\n", `Error: "x" is not a number`,
	)
}

// Votes, candidates and the monitor's figures are spoken.
func TestFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	got := converse(t, "/votes 1", "/sampling", "/compare presets hello", "/votes 99", "/votes x", "/votes 2", "/votes 1", "hello", "/votes", "/votes v.csv", "/votes v.csv", "/monitor")
	says(t, got,
		"Error: 0 answers wait for a vote", "There is no token to look at yet.",
		", the first after ", ", perplexity ", "/votes and a number says which is best",
		" answers wait for a vote", "Error: write /votes and the number", "You prefer ", "Error: these answers have their vote",
		": 1 won, 0 tied, 0 lost", "1 vote exported to v.csv.", "Error: v.csv exists",
		"Backend: scripted", "Since the start: ", " generated.\n",
	)
	if data, err := os.ReadFile("v.csv"); err != nil || strings.Count(string(data), "\n") < 2 {
		t.Errorf("%v: %q", err, data)
	}
}

func TestMix(t *testing.T) {
	says(t, converse(t, "/mix", "/mix off", "/mix nobody=1", "/mix x", "/mixes", "/save_mix", "/save_mix gloom", "/mixes gloom"),
		"No mix: this chat alone.\n", "state=weight", `Error: there is no state "nobody"`, `Error: mix "x": write state=weight,state=weight`,
		"No mix was saved yet.", "Error: write /save_mix and a name", "Error: there is no mix to save", `there is no saved mix "gloom": there is none yet`,
	)
}
