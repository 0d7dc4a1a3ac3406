package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer"
)

// lecture is a conversation of many turns.
func lecture(turns int) *sketch {
	d := newSketch(1, "Lecture")
	for i := range turns {
		d.say(turn.RoleUser, fmt.Sprintf("question %d", i))
		d.say(turn.RoleAssistant, fmt.Sprintf("answer %d, in **bold** and with several words", i))
	}
	return d
}

func TestScrolling(t *testing.T) {
	b := newBench(t, &scene{open: []*sketch{lecture(40)}}, Settings{Mouse: true}, 80, 24)
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

func TestNewTextBelow(t *testing.T) {
	d := lecture(40)
	b := newBench(t, &scene{open: []*sketch{d}}, Settings{}, 80, 24)
	b.paint(0, running("one\n\n", infer.Progress{Generated: 1}))
	b.press("pgup")
	b.seesNot("new text below")
	b.paint(0, running("one\n\ntwo\n\nthree", infer.Progress{Generated: 2}))
	b.sees("new text below, ctrl+end")
	b.press("ctrl+end")
	b.seesNot("new text below")
}

func TestControlCharactersNeverReachTheTerminal(t *testing.T) {
	d := newSketch(1, "evil \x1b]0;title\x07")
	d.say(turn.RoleUser, "a\x1b[2Jb\x07c\u009b31md")
	d.say(turn.RoleAssistant, "x\x1b[2Jy\x07z\u009b31m <think>\x1b[5m")
	b := newBench(t, &scene{open: []*sketch{d}}, Settings{}, 80, 24)
	b.paint(0, func(v *chat.View) { v.Err = fmt.Errorf("bad \x1b[2J news\nin two lines") })
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
