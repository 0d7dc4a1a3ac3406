package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat/turn"
	"rookery/infer"
)

// lecture is a conversation of many turns.
func lecture(turns int) *fakeDialogue {
	d := newFake(1, "Lecture")
	for i := range turns {
		d.say(turn.RoleUser, fmt.Sprintf("question %d", i))
		d.say(turn.RoleAssistant, fmt.Sprintf("answer %d, in **bold** and with several words", i))
	}
	return d
}

func TestScrolling(t *testing.T) {
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{lecture(40)}}, Settings{Mouse: true}, 80, 24)
	b.sees("answer 39")
	b.press("ctrl+home")
	b.sees("question 0")
	b.press("pgdown", "alt+down", "alt+up", "pgup")
	b.sees("question 0")
	b.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	b.seesNot("question 0")
	b.sees("answer 0")
	b.press("ctrl+end")
	b.sees("answer 39")
	b.press("alt+up")
	if _, away := b.m.tab().transcript.Position(); !away {
		t.Error("still follows the end after scrolling up")
	}
	b.press("alt+down")
	if _, away := b.m.tab().transcript.Position(); away {
		t.Error("does not follow the end after coming back to it")
	}
	b.check()
}

func TestTheEndSticksUnlessScrolledAway(t *testing.T) {
	d := lecture(40)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	text := ""
	more := func(n int) {
		for i := range n {
			text += fmt.Sprintf("\nline %d of the answer\n", i)
			d.generate(text, infer.Progress{Generated: i + 1, Rate: 10})
			b.send(frameMsg{})
			b.check()
		}
	}
	more(20)
	b.sees("line 19 of the answer")
	b.press("pgup")
	top := firstLine(b)
	b.seesNot("new text below")
	more(20)
	if got := firstLine(b); got != top {
		t.Errorf("the text moved from %q to %q while it was read", top, got)
	}
	b.sees("new text below, ctrl+end")
	b.press("ctrl+end")
	b.seesNot("new text below")
}

// firstLine is the first line of the transcript.
func firstLine(b *bench) string { return strings.Split(b.screen(), "\n")[1] }

func TestResizingKeepsTheTextInView(t *testing.T) {
	d := lecture(60)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.press("ctrl+home", "pgdown", "pgdown")
	top := firstLine(b)
	for _, width := range []int{60, 41, 200, 80} {
		b.send(tea.WindowSizeMsg{Width: width, Height: 24})
		b.check()
	}
	if got := firstLine(b); got != top {
		t.Errorf("%q is at the top, it was %q", got, top)
	}
}

func TestAnAnswerIsSettledAndRenderedExactly(t *testing.T) {
	d := newFake(1, "One")
	d.say(turn.RoleUser, "Q")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	d.generate("A [link][1]", infer.Progress{Generated: 3, Rate: 12.3})
	b.send(frameMsg{})
	b.sees("12.3 tok/s · 3 tokens")
	d.generate("A [link][1] and more\n\n[1]: https://example.org", infer.Progress{Generated: 9, Rate: 12.3})
	b.send(frameMsg{})
	d.end()
	b.send(frameMsg{})
	b.seesNot("[1]")
	b.sees("A link")
}

func TestRetryReplacesTheAnswer(t *testing.T) {
	d := talk()
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.sees("The same, but more of")
	d.v.Turns, d.v.Siblings = d.v.Turns[:3:3], d.v.Siblings[:3:3]
	d.generate("Something else", infer.Progress{Generated: 1})
	b.send(frameMsg{})
	b.seesNot("The same, but more of")
	b.sees("Something else")
	d.generate("Rewritten", infer.Progress{Generated: 1})
	b.send(frameMsg{})
	b.sees("Rewritten")
	b.seesNot("Something else")
}

func TestThoughtsAndLongPromptsAreFolded(t *testing.T) {
	d := newFake(1, "One")
	d.say(turn.RoleUser, strings.Repeat("a long line of a book\n", 500))
	d.say(turn.RoleAssistant, "<think>\nmy secret thought\n</think>\nThe answer.")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 30)
	b.sees("… 11.0 kB in 500 lines · alt+h shows all")
	b.sees("▸ thought, 3 words")
	b.seesNot("my secret thought")
	b.press("alt+h")
	b.sees("my secret thought")
	b.press("ctrl+home")
	b.seesNot("shows all")
	if percent, _ := b.m.tab().transcript.Position(); percent > 6 { // of more than 500 lines
		t.Errorf("a screen is %d %% of what is unfolded", percent)
	}
	b.press("alt+h", "ctrl+end", "tab", "t")
	b.sees("my secret thought")
	b.sees("shows all")
	b.check()
	b.send(tea.MouseClickMsg{X: 4, Y: rowOf(t, b, "▾ thought"), Button: tea.MouseLeft})
	b.seesNot("my secret thought")
}

// rowOf is the row of the screen that shows a text.
func rowOf(t *testing.T, b *bench, text string) int {
	t.Helper()
	for i, line := range strings.Split(b.screen(), "\n") {
		if strings.Contains(line, text) {
			return i
		}
	}
	t.Fatalf("the screen does not show %q:\n%s", text, b.screen())
	return 0
}

func TestCopying(t *testing.T) {
	d := newFake(1, "One")
	d.say(turn.RoleUser, "the prompt")
	d.say(turn.RoleAssistant, "<think>\nhidden\n</think>\nSee:\n\n```go\nfirst()\n```\n\n```\nsecond()\n```\n")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{Mouse: true}, 100, 24)
	b.press("alt+y")
	if want := "See:\n\n```go\nfirst()\n```\n\n```\nsecond()\n```"; b.copied != want {
		t.Errorf("copied %q", b.copied)
	}
	b.sees("the answer: sent to the terminal (OSC 52) and the system clipboard")
	if len(b.raw) == 0 {
		t.Error("the terminal got nothing")
	}
	b.press("tab", "up", "y")
	if b.copied != "the prompt" {
		t.Errorf("copied %q", b.copied)
	}
	b.press("down", "Y")
	if strings.TrimSpace(b.copied) != "second()" {
		t.Errorf("copied %q", b.copied)
	}
	b.press("tab")
	b.typeText("/copy code 1")
	b.press("enter")
	if strings.TrimSpace(b.copied) != "first()" {
		t.Errorf("copied %q", b.copied)
	}
	b.typeText("/copy code 3")
	b.press("enter")
	b.sees("this message has code blocks 1 to 2")
	b.noClipboard = true
	b.press("alt+y")
	b.sees("sent to the terminal (OSC 52); no system clipboard was found")
}

func TestSelectingWithTheMouse(t *testing.T) {
	d := newFake(1, "One")
	d.say(turn.RoleUser, "first line\nsecond 中文 line\nthird line")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{Mouse: true}, 80, 24)
	y := rowOf(t, b, "first line")
	b.send(tea.MouseClickMsg{X: 2 + 6, Y: y, Button: tea.MouseLeft})
	b.send(tea.MouseMotionMsg{X: 2 + 10, Y: y + 1, Button: tea.MouseLeft})
	b.check()
	b.send(tea.MouseReleaseMsg{X: 2 + 10, Y: y + 1, Button: tea.MouseLeft})
	if b.copied != "line\nsecond 中文" {
		t.Errorf("copied %q", b.copied)
	}
	if !strings.Contains(b.m.View().Content, b.m.th.Selected.Render("line")) {
		t.Error("the selection is not seen any more")
	}
	b.copied = ""
	b.press("ctrl+c")
	if b.copied == "" || b.m.leaving {
		t.Error("ctrl+c does not copy a selection")
	}
	b.press("esc")
	if b.m.tab().transcript.ClearMarks() {
		t.Error("esc leaves the selection")
	}
	b.copied = ""
	b.send(tea.MouseClickMsg{X: 5, Y: y, Button: tea.MouseLeft})
	b.send(tea.MouseReleaseMsg{X: 5, Y: y, Button: tea.MouseLeft})
	if b.copied != "" {
		t.Errorf("a click copied %q", b.copied)
	}
}

func TestSearching(t *testing.T) {
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{lecture(40)}}, Settings{}, 80, 24)
	b.press("ctrl+f")
	b.typeText("QUESTION 1")
	b.sees("find: QUESTION 1")
	b.sees("of 11")
	b.press("enter", "n")
	b.sees("question 1")
	before, _ := b.m.tab().transcript.Found()
	b.press("n", "N", "n")
	if got, _ := b.m.tab().transcript.Found(); got != before%11+1 {
		t.Errorf("match %d, was %d", got, before)
	}
	b.press("esc")
	if b.m.tab().transcript.EndSearch() {
		t.Error("esc does not end the search")
	}
	b.press("ctrl+f")
	b.typeText("nowhere")
	b.sees("no match")
	b.press("esc")
	b.seesNot("find:")
}

func TestControlCharactersNeverReachTheTerminal(t *testing.T) {
	d := newFake(1, "evil \x1b]0;title\x07")
	d.say(turn.RoleUser, "a\x1b[2Jb\x07c\u009b31md")
	d.say(turn.RoleAssistant, "x\x1b[2Jy\x07z\u009b31m <think>\x1b[5m")
	d.v.Err = fmt.Errorf("bad \x1b[2J news\nin two lines")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.check()
	content := b.m.View().Content
	for _, bad := range []string{"\x1b[2J", "\x07", "\u009b", "\x1b]0", "\x1b[5m"} {
		if strings.Contains(content, bad) {
			t.Errorf("the screen holds %q", bad)
		}
	}
	if strings.Contains(ansi.Strip(b.m.View().WindowTitle), "\x1b") {
		t.Error("the window title holds an escape")
	}
}

func TestAVeryLongConversationOpensQuickly(t *testing.T) {
	d := lecture(2000)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.sees("answer 1999")
	b.press("ctrl+home")
	b.sees("question 0")
	b.check()
	if b.m.tab().transcript.Render() != nil {
		t.Fatal("not everything has been rendered")
	}
}
