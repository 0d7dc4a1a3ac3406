package ui

import (
	"strings"
	"testing"
	"time"

	"rookery/ui/uitest"

	tea "charm.land/bubbletea/v2"
)

func TestSendingFails(t *testing.T) {
	b := newBench(t, &scene{}, Settings{}, 80, 24)
	b.typeText("forever")
	b.press("enter")
	b.typeText("hello")
	b.press("enter")
	b.sees("✗ an answer is running")
	b.sees("› hello")
	b.press("esc")
	b.seesNot("an answer is running")
}

func TestNothingIsSentForNothing(t *testing.T) {
	b := newBench(t, &scene{}, Settings{}, 80, 24)
	b.press("enter", "shift+enter", "enter")
	if turns := b.m.tab().d.View().Turns; len(turns) != 0 {
		t.Errorf("sent %v", turns)
	}
}

func TestTheComposerGrowsToAThird(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	for range 30 {
		b.typeText("x")
		b.press("shift+enter")
		b.check()
	}
	if rows := b.m.place.rows; rows != 8 {
		t.Errorf("%d rows of 24", rows)
	}
	if v := b.m.View(); v.Cursor == nil || v.Cursor.Y != b.m.place.composer+7 {
		t.Errorf("the cursor is at %+v", v.Cursor)
	}
	for range 25 {
		b.press("up")
		b.check()
	}
	if v := b.m.View(); v.Cursor == nil || v.Cursor.Y != b.m.place.composer {
		t.Errorf("the cursor is at %+v", v.Cursor)
	}
}

func TestSlashCommands(t *testing.T) {
	for _, c := range []struct {
		text, prompt, screen string
		turns                int
	}{
		{"/retry", "And a raven?", uitest.Answer, 4},
		{"/cont", "And a raven?", "The same, but more of", 4},
		{"/system Be brief.", "And a raven?", "system prompt", 4},
		{"/edit other", "other", uitest.Answer, 4},
		{"//not a command", "/not a command", uitest.Answer, 6},
		{"/usr/bin is a folder", "/usr/bin is a folder", uitest.Answer, 6},
		{"/temp ", "", "write /temp <0 or more>", 0},
		{"/nothing", "", "there is no command /nothing", 0},
		{"/copy that", "", "write /copy, /copy code or /copy code 2", 0},
	} {
		t.Run(c.text, func(t *testing.T) {
			k := &scene{}
			if c.prompt != "" {
				k.open = append(k.open, talk())
			}
			b := newBench(t, k, Settings{}, 100, 24)
			b.send(tea.PasteMsg{Content: c.text})
			b.press("enter")
			b.rest()
			b.prompted(c.prompt)
			if n := len(b.m.tab().d.View().Turns); n != c.turns {
				t.Errorf("%d turns, want %d", n, c.turns)
			}
			b.sees(c.screen)
			if c.text == "/cont" && b.m.tab().resumable() {
				t.Error("the answer did not go on")
			}
		})
	}
}

func TestEditingTheLastPrompt(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	b.press("alt+e")
	b.sees("› And a raven?")
	b.sees("editing the last prompt")
	b.press("backspace")
	b.typeText(" or a jay?")
	b.press("enter")
	b.prompted("And a raven or a jay?")
	b.seesNot("And a raven?")
	b.rest()
	b.seesNot("editing the last prompt")
	b.press("alt+e", "esc", "esc")
	b.seesNot("editing the last prompt")
	b.typeText("new")
	b.press("enter")
	b.prompted("new")
}

func TestStopAndEscape(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	b.typeText("forever")
	b.press("enter")
	b.typeText("/nothing")
	b.press("enter", "esc")
	if b.m.tab().d.View().Live == nil {
		t.Error("the key that dismisses an error stopped the answer")
	}
	b.press("esc")
	b.rest()
	b.sees("stopped, can be continued")
}

// ctrl+c stops the answer, then clears the prompt, then asks to quit.
func TestInterruptInStages(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	b.typeText("forever")
	b.press("enter")
	b.typeText("a draft")
	b.press("ctrl+c")
	b.rest()
	b.sees("stopped, can be continued")
	b.sees("a draft")
	b.press("ctrl+c")
	b.seesNot("a draft")
	b.press("ctrl+c")
	b.sees("press ctrl+c again to quit")
	if b.m.leaving {
		t.Error("left without having asked")
	}
}

// What was typed is taken back before the conversation is.
func TestUndoOfTyping(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{talk()}}, Settings{}, 80, 24)
	prompt := func() string { return b.m.tab().composer.Text() }
	turns := len(b.m.tab().view.Turns)
	b.typeText("two words")
	b.press("ctrl+z")
	if got := prompt(); got != "two" {
		t.Errorf("one step back leaves %q", got)
	}
	b.press("ctrl+y")
	if got := prompt(); got != "two words" {
		t.Errorf("and forth %q", got)
	}
	b.press("ctrl+w", "ctrl+z", "alt+enter", "ctrl+z")
	if got := prompt(); got != "two words" {
		t.Errorf("a deleted word and a new line taken back: %q", got)
	}
	b.press("ctrl+z", "ctrl+z")
	if got := prompt(); got != "" || len(b.m.tab().view.Turns) != turns {
		t.Fatalf("all of it taken back leaves %q, and %d turns of %d", got, len(b.m.tab().view.Turns), turns)
	}
	b.press("ctrl+z")
	if n := len(b.m.tab().view.Turns); n >= turns {
		t.Errorf("in an empty prompt the key leaves %d turns", n)
	}
	b.press("ctrl+y")
	if n := len(b.m.tab().view.Turns); n != turns || prompt() != "" {
		t.Errorf("redo leaves %d turns of %d, and %q", n, turns, prompt())
	}
	b.m.tab().composer.Fill("a restored draft")
	b.m.tab().composer.ForgetChanges()
	b.press("ctrl+z")
	b.sees("nothing typed is left to undo")
}

func TestQuitting(t *testing.T) {
	b := newBench(t, three(), Settings{}, 80, 24)
	b.press("ctrl+c")
	b.sees("press ctrl+c again to quit")
	b.typeText("x")
	b.press("ctrl+c")
	b.sees("the prompt is cleared")
	b.press("up")
	if got := b.m.tab().composer.Text(); got != "x" {
		t.Errorf("up brings back %q", got)
	}
	b.press("ctrl+c", "ctrl+c")
	if b.m.leaving {
		t.Fatal("left although something was typed in between")
	}
	b.press("ctrl+c")
	if !b.m.leaving || len(b.raw) == 0 || b.raw[len(b.raw)-1] != tea.Msg(tea.QuitMsg{}) {
		t.Errorf("did not quit: %v", b.raw)
	}
	b.keeps(1, 1, 2, 3)
	if b.m.ctx.Err() == nil {
		t.Error("commands that wait are not told")
	}
}

func TestTypingIntoALargePromptIsQuick(t *testing.T) {
	b := newBench(t, &scene{}, Settings{}, 100, 30)
	for range 3 {
		b.m.tab().composer.Paste(strings.Repeat("a line of some words in a prompt\n", 900))
	}
	var took []time.Duration
	for _, key := range "twenty keys, each of" {
		start := time.Now()
		b.typeText(string(key))
		b.m.View()
		took = append(took, time.Since(start))
	}
	per := undisturbed(took)
	t.Logf("%v a key in %d rows", per, b.m.tab().composer.Rows())
	budget := 5 * time.Millisecond
	if raceEnabled {
		budget *= 10
	}
	if per > budget {
		t.Errorf("a key takes %v, over %v", per, budget)
	}
}
