package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
)

func TestMicroscope(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d := lecture(2)
			b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, size[0], size[1])
			b.press("alt+shift+i")
			b.sees("Token 1 of 5")
			b.sees("likely0")
			b.sees("this draw")
			if got := strings.Count(b.screen(), "%"); got < 4 {
				t.Errorf("%d figures of two candidates:\n%s", got, b.screen())
			}
			b.check()
			b.press("right", "right")
			b.sees("Token 3 of 5")
			b.press("end")
			b.sees("Token 5 of 5")
			b.sees("likely4")
			line := slices.IndexFunc(strings.Split(b.screen(), "\n"), func(l string) bool { return strings.Contains(l, "likely") })
			b.send(tea.MouseClickMsg{X: size[0] / 2, Y: line, Button: tea.MouseLeft})
			if s := b.m.dialogs[0].(*microscope); s.chosen != 0 {
				t.Errorf("a click on the first candidate chose %d", s.chosen)
			}
			b.press("home", "right", "enter") // the one that was taken
			if len(d.calls) != 0 {
				t.Errorf("did %q", d.calls)
			}
			b.check()
			b.press("up", "enter")
			b.did("branch 4 1 7")
			b.seesNot("Token")
			b.check()
		})
	}
}

// What could stand at a token that was left is not to be chosen from.
func TestMicroscopeBetweenTokens(t *testing.T) {
	d := lecture(2)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.press("alt+shift+i")
	b.sees(`* "`)
	_, read := b.m.Update(keyNamed(t, "right"))
	b.sees("Token 2 of 5")
	b.seesNot(`* "`)
	before := b.m.dialogs[0].(*microscope).chosen
	b.press("up", "down", "down", "enter")
	if after := b.m.dialogs[0].(*microscope).chosen; after != before || len(d.calls) > 0 {
		t.Errorf("chosen %d, then %d; asked %q", before, after, d.calls)
	}
	b.do(read)
	b.sees(`* "`)
	b.press("up", "enter")
	b.did("branch 4 1 7")
}

func TestMicroscopeRefusals(t *testing.T) {
	d := newFake(1, "Empty")
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.press("alt+shift+i")
	b.sees("no answer selected")
	d.say(turn.RoleUser, "q")
	d.say(turn.RoleAssistant, "a")
	b.send(frameMsg{})
	b.typeText("/tokens 9")
	b.press("enter")
	b.sees("the answer has tokens 1 to 5")
}

func TestEditingTurns(t *testing.T) {
	d := lecture(3)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 80, 24)
	b.press("tab", "up", "up", "up", "e") // the second prompt
	b.sees("editing a prompt")
	b.typeText("!")
	b.press("enter")
	b.did(`edit 3 "question 1!"`)
	b.press("tab", "up", "up", "E")
	b.sees("editing an answer")
	b.typeText(" and more")
	b.press("enter")
	b.did(`answer 4 "answer 1, in **bold** and with several words and more" false`)
	b.press("alt+shift+e")
	b.typeText("/ ")
	b.press("f6")
	b.did(`answer 6 "answer 2, in **bold** and with several words/ " true`)
	b.press("alt+shift+e", "esc")
	b.seesNot("editing")
	b.typeText("/rewrite Another one")
	b.press("enter")
	b.did(`answer 6 "Another one" false`)
	b.press("f6")
	b.did("continue")
}

func TestForkOpensTabs(t *testing.T) {
	d := lecture(2)
	k := &fakeDesk{open: []*fakeDialogue{d}}
	b := newBench(t, k, Settings{}, 120, 24)
	b.press("alt+v")
	if len(b.m.tabs) != 2 || b.m.active != 1 || b.m.tab().d.ID() != 2004 {
		t.Errorf("%d tabs, %d is active", len(b.m.tabs), b.m.active)
	}
	b.press("alt+1", "tab", "up", "up", "F")
	b.press("backspace", "3", "enter")
	if len(b.m.tabs) != 5 || b.m.active != 1 {
		t.Errorf("%d tabs, %d is active", len(b.m.tabs), b.m.active)
	}
	b.press("alt+1")
	b.typeText("/fork x")
	b.press("enter")
	b.sees(`"x" is not a number`)
	b.check()
}

func TestLabelsAndPins(t *testing.T) {
	d := lecture(2)
	b := newBench(t, &fakeDesk{open: []*fakeDialogue{d}}, Settings{}, 100, 30)
	b.typeText("/label the best")
	b.press("enter")
	b.did(`label 4 "the best"`)
	b.press("alt+shift+k")
	b.did("pin 4 true")
	d.v.Turns[3].Label, d.v.Turns[3].Pinned, d.v.Turns[3].Edited = "the best", true, true
	d.v.Version++
	b.send(frameMsg{})
	b.sees("“the best” · pinned · edited")
	b.press("tab", "L")
	b.did("pin 4 false")
	b.press("l")
	b.sees("Name the turn")
	b.typeText("!")
	b.press("enter")
	b.did(`label 4 "the best!"`)
	b.check()
}
