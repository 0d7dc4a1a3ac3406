package ui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/infer"
)

func TestNewlines(t *testing.T) {
	for _, key := range []string{"shift+enter", "ctrl+j", "alt+enter"} {
		b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
		b.typeText("one")
		b.press(key)
		b.typeText("two")
		b.press("enter")
		b.did(`send "one\ntwo"`)
		if !b.m.tab().composer.Empty() {
			t.Error("the prompt stays after it was sent")
		}
	}
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.typeText(`one\`)
	b.press("enter")
	b.typeText("two")
	b.press("enter")
	b.did(`send "one\ntwo"`)
}

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

func TestTheCursorKnowsWideCharacters(t *testing.T) {
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.typeText("日本語a")
	if v := b.m.View(); v.Cursor == nil || v.Cursor.X != promptWidth+7 {
		t.Errorf("the cursor is at %+v", v.Cursor)
	}
	b.press("left", "left")
	if v := b.m.View(); v.Cursor == nil || v.Cursor.X != promptWidth+4 {
		t.Errorf("the cursor is at %+v", v.Cursor)
	}
}

func TestLargePastesAreHeldAside(t *testing.T) {
	book := strings.Repeat("All work and no play.\r\n", 60000)
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.typeText("Sum up: ")
	b.send(tea.PasteMsg{Content: book})
	b.sees("Sum up: [pasted #1: 1.3 MB, 60,001 lines]")
	b.typeText(" Thanks.")
	b.press("enter")
	want := "Sum up: " + strings.ReplaceAll(book, "\r\n", "\n") + " Thanks."
	calls := b.m.tab().d.(*fakeDialogue).calls
	if len(calls) != 1 || len(calls[0]) < len(want) {
		t.Fatalf("sent %d bytes", len(calls))
	}
	if got := b.m.prompts[0]; got != want {
		t.Errorf("sent %d bytes, want %d", len(got), len(want))
	}
}

func TestAHeldPasteIsRemovedAsOne(t *testing.T) {
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.typeText("a ")
	b.send(tea.PasteMsg{Content: strings.Repeat("x", 40<<10)})
	b.send(tea.PasteMsg{Content: "small\rpaste"})
	b.sees("small")
	for range len("small\npaste") {
		b.press("backspace")
	}
	b.sees("[pasted #1: 41.0 kB, 1 line]")
	b.press("backspace")
	b.seesNot("pasted")
	b.press("enter")
	b.did(`send "a"`)
}

func TestHistory(t *testing.T) {
	k := &fakeDesk{history: []string{"oldest", "two\nlines"}}
	b := newBench(t, k, Settings{}, 80, 24)
	b.typeText("draft")
	b.press("up")
	b.sees("  lines")
	b.press("up", "up")
	b.sees("› oldest")
	b.press("up")
	b.sees("› oldest")
	b.press("down")
	b.sees("› two")
	b.press("down", "down")
	b.sees("› draft")
	b.press("down")
	b.sees("› draft")
	b.press("enter", "up")
	b.sees("› draft")
}

func TestHistorySearch(t *testing.T) {
	k := &fakeDesk{history: []string{"feed the rook", "count the nests", "feed the rook"}}
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("ctrl+r")
	b.sees("Prompt history")
	if strings.Count(b.screen(), "feed the rook") != 1 {
		t.Error("a prompt is listed twice")
	}
	b.typeText("nst")
	b.press("enter")
	b.sees("› count the nests")
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

func TestCompletion(t *testing.T) {
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.typeText("/sys")
	b.sees("/system [text]")
	b.press("tab")
	b.sees("› /system")
	b.typeText("Be brief.")
	b.press("enter")
	b.did(`system "Be brief."`)

	b.typeText("/re")
	b.press("down", "enter")
	b.sees("no tab has been closed") // /reopen, which takes nothing, runs at once
	b.typeText("/ret")
	b.press("esc")
	b.seesNot("generate another answer")
	b.typeText("r")
	b.sees("generate another answer")
	b.press("enter", "enter")
	b.did("retry")
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

func TestExternalEditor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -s")
	if got := editorCommand(); len(got) != 2 || got[0] != "ed" {
		t.Errorf("the editor is %q", got)
	}
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.typeText("draft")
	ready, ok := b.m.openEditor("")().(editorReadyMsg)
	if !ok || ready.err != nil {
		t.Fatal(ready.err)
	}
	if data, err := os.ReadFile(ready.path); err != nil || string(data) != "draft" {
		t.Fatalf("the editor gets %q, %v", data, err)
	}
	if err := os.WriteFile(ready.path, []byte("written\nelsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.send(readEdited("ed", ready.path, nil))
	b.sees("› written")
	b.press("enter")
	b.did(`send "written\nelsewhere"`)
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	b.send(readEdited("ed", filepath.Join(dir, "gone"), errors.New("exit status 1")))
	b.sees("✗ running ed: exit status 1; set $EDITOR to another one")
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
		b.m.tab().composer.paste(strings.Repeat("a line of some words in a prompt\n", 900))
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
