package ui

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"go.uber.org/goleak"

	"rookery/chat"
	"rookery/infer/scripted"
	"rookery/ui/uitest"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

func TestMain(m *testing.M) {
	// teatest waits for an interrupt as long as the process lives
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/charmbracelet/x/exp/teatest/v2.NewTestModel.func2"),
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")) // of the highlighter; it ends when it is idle
}

// openWorkspace is a workspace whose model answers at length to some prompts.
func openWorkspace(t *testing.T, step time.Duration) *chat.Workspace {
	t.Helper()
	return uitest.New(t, uitest.Options{Step: step, Answers: []scripted.Answer{
		{Prompt: "fox", Text: strings.Repeat(" The quick brown fox jumps over the lazy dog.", 8) + " And that was **all**.\n\n"},
		{Prompt: "forever", Text: strings.Repeat(" and on", 20000)},
	}}).Workspace
}

// waitFor waits until the screen shows a text. Only what changes is drawn, so
// that the program is asked for the whole screen each time.
func waitFor(t *testing.T, tm *teatest.TestModel, text string) {
	t.Helper()
	var out []byte
	for start := time.Now(); time.Since(start) < patience; {
		tm.Send(tea.ClearScreen())
		time.Sleep(30 * time.Millisecond)
		var err error
		if out, err = io.ReadAll(tm.Output()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(ansi.Strip(string(out)), text) {
			return
		}
	}
	t.Fatalf("the screen does not show %q:\n%s", text, ansi.Strip(string(out)))
}

func TestProgram(t *testing.T) {
	m := New(t.Context(), Options{Workspace: openWorkspace(t, time.Millisecond), Settings: Settings{Mouse: true}})
	m.clipboard = func(string) error { return nil }
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(100, 30))
	waitFor(t, tm, "send what you write")

	tm.Type("tell me of")
	tm.Send(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModShift})
	tm.Type("a fox")
	tm.Send(tea.KeyPressMsg{Code: tea.KeyEnter})
	waitFor(t, tm, "tok/s")

	tm.Send(tea.WindowSizeMsg{Width: 60, Height: 20})
	tm.Send(tea.KeyPressMsg{Code: 't', Mod: tea.ModCtrl})
	tm.Type("hello")
	tm.Send(tea.KeyPressMsg{Code: tea.KeyEnter})
	waitFor(t, tm, uitest.Answer)

	tm.Send(tea.WindowSizeMsg{Width: 100, Height: 30})
	tm.Send(tea.KeyPressMsg{Code: '1', Mod: tea.ModAlt})
	waitFor(t, tm, "And that was all.")

	tm.Send(tea.KeyPressMsg{Code: 'q', Mod: tea.ModCtrl})
	final, ok := tm.FinalModel(t, teatest.WithFinalTimeout(patience)).(*Model)
	if !ok || !final.leaving {
		t.Fatal("did not leave")
	}
	if n := len(final.tabs); n != 2 {
		t.Errorf("%d tabs at the end", n)
	}
	turns := final.tabs[0].d.View().Turns
	if len(turns) != 2 || turns[0].Text != "tell me of\na fox" || !strings.HasSuffix(turns[1].Text, "**all**.") {
		t.Errorf("the first conversation is %+v", turns)
	}
}

func TestProgramStopsAnAnswer(t *testing.T) {
	m := New(t.Context(), Options{Workspace: openWorkspace(t, time.Millisecond)})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(80, 24))
	waitFor(t, tm, "send what you write")
	tm.Type("forever")
	tm.Send(tea.KeyPressMsg{Code: tea.KeyEnter})
	waitFor(t, tm, "and on and on")
	tm.Send(tea.KeyPressMsg{Code: tea.KeyEscape})
	waitFor(t, tm, "stopped, can be continued")
	tm.Send(tea.KeyPressMsg{Code: tea.KeyF6})
	waitFor(t, tm, "esc stop")
	tm.Send(tea.KeyPressMsg{Code: 'q', Mod: tea.ModCtrl})
	tm.WaitFinished(t, teatest.WithFinalTimeout(patience))
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	in, closer := io.Pipe()
	defer func() {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := Run(ctx, Options{Workspace: openWorkspace(t, 0), In: in, Out: io.Discard}); err != nil {
		t.Error(err)
	}
}

func TestRunRefusesWrongSettings(t *testing.T) {
	err := Run(context.Background(), Options{Workspace: openWorkspace(t, 0), Settings: Settings{Keys: map[string][]string{"nothing": {"f9"}}}})
	if err == nil || !strings.Contains(err.Error(), "keys.nothing: there is no such action") {
		t.Errorf("said %v", err)
	}
}
