package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/infer"
)

func TestSendingFails(t *testing.T) {
	d := newFake(1, "One")
	d.fail = errors.New("an answer is running: stop it first")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.typeText("hello")
	b.press("enter")
	b.sees("✗ an answer is running: stop it first")
	b.sees("› hello")
	b.press("esc")
	b.seesNot("an answer is running")
}

func TestNothingIsSentForNothing(t *testing.T) {
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.press("enter", "shift+enter", "enter")
	if calls := b.m.tab().d.(*fakeDialogue).calls; len(calls) != 0 {
		t.Errorf("asked %q", calls)
	}
}

func TestTheComposerGrowsToAThird(t *testing.T) {
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{talk()}}, Settings{}, 80, 24)
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
	for _, c := range []struct{ text, call, screen string }{
		{"/retry", "retry", ""},
		{"/cont", "continue", ""},
		{"/system Be brief.", `system "Be brief."`, "system prompt"},
		{"/edit other", `edit "other"`, ""},
		{"//not a command", `send "/not a command"`, ""},
		{"/usr/bin is a folder", `send "/usr/bin is a folder"`, ""},
		{"/temp ", "", "write /temp <0 or more>"},
		{"/nothing", "", "there is no command /nothing"},
		{"/copy that", "", "write /copy, /copy code or /copy code 2"},
	} {
		t.Run(c.text, func(t *testing.T) {
			b := newBench(t, &fakeDesk{}, Settings{}, 100, 24)
			b.send(tea.PasteMsg{Content: c.text})
			b.press("enter")
			if c.call != "" {
				b.did(c.call)
			} else if calls := b.m.tab().d.(*fakeDialogue).calls; len(calls) > 0 {
				t.Errorf("asked %q", calls)
			}
			if c.screen != "" {
				b.sees(c.screen)
			}
		})
	}
}

func TestEditingTheLastPrompt(t *testing.T) {
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{talk()}}, Settings{}, 80, 24)
	b.press("alt+e")
	b.sees("› And a raven?")
	b.sees("editing the last prompt")
	b.press("backspace")
	b.typeText(" or a jay?")
	b.press("enter")
	b.did(`edit "And a raven or a jay?"`)
	b.seesNot("editing the last prompt")
	b.press("alt+e", "esc", "esc")
	b.seesNot("editing the last prompt")
	b.typeText("new")
	b.press("enter")
	b.did(`send "new"`)
}

func TestStopAndEscape(t *testing.T) {
	d := talk()
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	d.generate("Hm", infer.Progress{})
	b.send(frameMsg{})
	b.typeText("/nothing")
	b.press("enter", "esc")
	if len(d.calls) > 0 {
		t.Errorf("the key that dismisses an error asked %q", d.calls)
	}
	b.press("esc")
	b.did("stop")
}

func TestQuitting(t *testing.T) {
	d := talk()
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.press("ctrl+c")
	b.sees("press ctrl+c again to quit")
	b.typeText("x")
	b.press("ctrl+c")
	if b.m.leaving {
		t.Fatal("left although something was typed in between")
	}
	b.press("ctrl+c")
	if !b.m.leaving || len(b.raw) == 0 || b.raw[len(b.raw)-1] != tea.Msg(tea.QuitMsg{}) {
		t.Errorf("did not quit: %v", b.raw)
	}
	if b.k.layout == nil || b.k.layout[0] != d.id {
		t.Errorf("the layout was not saved: %v", b.k.layout)
	}
	if b.m.ctx.Err() == nil {
		t.Error("commands that wait are not told")
	}
}

func TestTypingIntoALargePromptIsQuick(t *testing.T) {
	b := newBench(t, &fakeDesk{}, Settings{}, 100, 30)
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
