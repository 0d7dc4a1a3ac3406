package tree_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/infer/scripted"
	"rookery/ui"
	"rookery/ui/uitest"
)

// A lecture is a program with a conversation of some exchanges.
type lecture struct {
	*uitest.Terminal
	t *testing.T
	w *uitest.World
	d *chat.Dialogue
}

// open shows a conversation of a number of exchanges: "question 0" has the
// answer "answer 0, in bold and with several words".
func open(t *testing.T, exchanges, width, height int) *lecture {
	t.Helper()
	var answers []scripted.Answer
	var prompts []string
	for i := range exchanges {
		answers = append(answers, scripted.Answer{Prompt: fmt.Sprint("question ", i), Text: fmt.Sprintf(" answer %d, in **bold** and with several words\n\n", i)})
		prompts = append(prompts, fmt.Sprint("question ", i))
	}
	l := &lecture{t: t, w: uitest.New(t, uitest.Options{Answers: answers})}
	if exchanges > 0 {
		l.w.Converse("Lecture", prompts...)
	}
	l.Terminal = uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: l.w.Workspace, Settings: ui.Settings{Mouse: true}}), width, height)
	l.d = l.Model().(*ui.Model).Tab().Dialogue()
	return l
}

// rest waits until the dialogue does nothing.
func (l *lecture) rest() chat.View {
	l.t.Helper()
	for range 1000 {
		if v := l.d.View(); v.Live == nil && v.Saved {
			l.Pass(100 * time.Millisecond)
			return v
		}
		l.Pass(5 * time.Millisecond)
	}
	l.t.Fatal("the dialogue does not come to rest")
	return chat.View{}
}

// at fails unless the head is behind a number of turns.
func (l *lecture) at(turns int) {
	l.t.Helper()
	if v := l.d.View(); len(v.Turns) != turns {
		l.t.Errorf("the head is behind %d turns, and not %d", len(v.Turns), turns)
	}
}

// texts are those of the line.
func (l *lecture) texts() string {
	var all []string
	for _, t := range l.rest().Turns {
		all = append(all, t.Text)
	}
	return strings.Join(all, "|")
}

func TestUndo(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 2, 80, 24)
		for _, keys := range [][2]string{{"ctrl+z", "ctrl+y"}, {"alt+u", "alt+shift+u"}} {
			l.Press(keys[0])
			l.at(2)
			l.Sees("2 turns ahead, undone · ctrl+y brings it back", "took back 2 turns; nothing is lost")
			l.Press(keys[1])
			l.at(4)
			l.Sees("brought back 2 turns")
		}
		l.Press("tab", "u")
		l.at(2)
		l.Press("U")
		l.at(4)
		l.Press("esc")
		l.Enter("/undo")
		l.at(2)
		l.Enter("/scrub 1")
		l.at(1)
		l.Sees("the conversation goes on after turn 1 of 4")
		l.Enter("/scrub 0")
		l.at(0)
		l.Enter("/scrub 9")
		l.Sees("write 0 for the beginning, or up to 4")
	})
}

// What is shown stays in view when it is undone: the head, with some of what
// is ahead of it.
func TestUndoShowsTheHead(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 12, 80, 24)
		for range 6 {
			l.Press("ctrl+z")
		}
		l.Sees("answer 5", "12 turns ahead", "question 6")
		l.SeesNot("answer 11")
		l.Press("ctrl+end")
		l.Sees("· You", "answer 11")
	})
}

// The timeline previews each stop, goes on from one, or leaves all as it was.
func TestTimeline(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				l := open(t, 3, size[0], size[1])
				l.Press("f7")
				l.Sees("Stop 6 of 6", "answer 2")
				l.Press("left")
				l.Check()
				l.Sees("Stop 5 of 6")
				l.Press("home")
				l.Sees("Stop 0 of 6", "The beginning")
				l.Press("down")
				l.Sees("Stop 2 of 6")
				l.Press("end", "up", "left", "left", "left", "right")
				l.Sees("Stop 2 of 6")
				l.Check()
				l.at(6)
				l.Press("esc")
				l.SeesNot("Stop")
				l.SeesNot("ahead")
				l.Press("f7", "left", "left", "enter")
				l.at(4)
				l.SeesNot("Stop")
				l.Check()
			})
		})
	}
}

func TestTimelineSaysHowATurnWasMade(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 2, 120, 30)
		l.Enter("/temp 0.8")
		l.Press("f5")
		l.rest()
		l.Enter("/label good one")
		l.Press("alt+g")
		l.Sees("!", "answer · 2000-01-01", "“good one” · version 2 of 2 · scripted", "zero state · no adapter · temp 0.8 · top_p 0.3 · seed ", " tokens", "answer 1")
		l.Press("left")
		l.Sees("prompt · 2000-01-01", "question 1")
		l.Press("esc")
		l.Send(tea.MouseClickMsg{X: 1, Y: 1, Button: tea.MouseLeft})
	})
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 0, 80, 24)
		l.Press("f7")
		l.Sees("there are no turns yet")
	})
}

// A line that is longer than the strip is shown around the stop, and the mouse
// goes over it.
func TestTimelineOfALongLine(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 20, 40, 12)
		l.Press("f7", "home", "pgdown")
		l.Sees("Stop 10 of 40")
		for range 4 {
			l.Press("pgdown")
			l.Check()
		}
		l.Sees("Stop 40 of 40", "answer 19")
		y := l.Row("Stop 40") + 1
		l.Send(tea.MouseWheelMsg{X: 5, Y: y, Button: tea.MouseWheelUp})
		l.Sees("Stop 39 of 40")
		l.Send(tea.MouseClickMsg{X: 2, Y: y, Button: tea.MouseLeft})
		l.Sees("Stop 23 of 40")
	})
}

func TestVersions(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 2, 80, 30)
		l.Enter("/edit another question")
		l.rest()
		l.Sees("version 2 of 2", "another question", "answer 0")
		l.Press("alt+,") // the answer has one version, the prompt above it has more
		l.Sees("answer 1")
		l.SeesNot("another question")
		l.Press("tab", "up", "]")
		l.Sees("another question")
	})
}

func TestTokens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				l := open(t, 2, size[0], size[1])
				before := l.texts()
				l.Press("alt+shift+i")
				l.Sees("Token 1 of ", "this draw", `*"`, "%")
				l.Check()
				l.Press("right", "right")
				l.Sees("Token 3 of ")
				l.Press("end", "home", "right", "enter") // the one that was taken
				l.Sees("Token 2 of ")
				if got := l.texts(); got != before {
					t.Errorf("the line is %q, and not %q", got, before)
				}
				l.Press("down", "down")
				l.Send(tea.MouseClickMsg{X: size[0] / 2, Y: l.Row("this draw") + 1, Button: tea.MouseLeft})
				l.Press("enter") // the first candidate is the one that was taken
				l.Sees("Token 2 of ")
				l.Check()
				l.Press("down", "enter")
				l.SeesNot("Token")
				if got := l.texts(); got == before {
					t.Error("nothing was branched")
				}
				l.Check()
			})
		})
	}
}

func TestTokensRefuse(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 0, 80, 24)
		l.Press("alt+shift+i")
		l.Sees("no answer selected")
		l.Press("esc", "alt+shift+e")
		l.Sees("no answer selected")
		l.Press("esc")
		l.Enter("question 0")
		l.rest()
		l.Enter("/tokens 99")
		l.Sees("the answer has tokens 1 to ")
	})
}

func TestEditingTurns(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 3, 80, 24)
		l.Press("tab", "up", "up", "up", "e") // the second prompt
		l.Sees("editing a prompt")
		l.Type("!")
		l.Press("enter")
		if got := l.texts(); !strings.HasPrefix(got, "question 0|") || !strings.Contains(got, "|question 1!|") {
			t.Errorf("the line is %q", got)
		}
		l.Press("tab", "down", "E")
		l.Sees("editing an answer")
		l.Type(" and more")
		l.Press("enter")
		if got := l.texts(); !strings.HasSuffix(got, "with several words and more") {
			t.Errorf("the line is %q", got)
		}
		l.Press("alt+shift+e", "esc")
		l.SeesNot("editing")
		l.Enter("/rewrite Another one")
		if got := l.texts(); !strings.HasSuffix(got, "|Another one") {
			t.Errorf("the line is %q", got)
		}
		l.Sees("edited · version 3 of 3", "Another one")
		l.Press("alt+shift+e", "left", "left", "left", "f6") // from the cursor on
		if got := l.texts(); !strings.Contains(got, "|Another") || strings.HasSuffix(got, "Another one") {
			t.Errorf("the line is %q", got)
		}
	})
}

func TestForks(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 2, 120, 24)
		l.Press("alt+v")
		l.Sees("1 Lecture", "2 Lecture (2)", "a copy of the conversation up to there")
		l.Press("alt+1", "tab", "up", "up", "F")
		l.Sees("Fork into how many tabs?")
		l.Press("enter")
		l.Sees("write a number from 1 to 32")
		l.Press("3", "enter")
		l.Sees("2 Lecture (2)", "4 Lecture (4)", "5 Lecture (2)", "3 copies of the conversation")
		if n := len(l.Model().(*ui.Model).Tab().View().Turns); n != 2 {
			t.Errorf("the copy has %d turns", n)
		}
		l.Press("alt+1")
		l.Enter("/fork x")
		l.Sees(`"x" is not a number`)
		l.Check()
		l.Press("esc", "ctrl+u")
		l.Enter("/fork 7")
		l.Sees("Fork into 7 tabs?", "enter fork", "esc fork none")
		l.Press("esc")
		if n := len(l.Model().(*ui.Model).Tabs()); n != 5 {
			t.Errorf("%d tabs although nothing was confirmed", n)
		}
		l.Enter("/fork 7")
		l.Press("enter")
		if n := len(l.Model().(*ui.Model).Tabs()); n != 12 {
			t.Errorf("%d tabs", n)
		}
		l.Press("alt+1", "alt+shift+w")
		l.Sees("1 Lecture", "closed 11 tabs; alt+z opens them again")
		if n := len(l.Model().(*ui.Model).Tabs()); n != 1 {
			t.Errorf("%d tabs are left", n)
		}
		l.Press("alt+shift+w")
		l.Sees("there is no other tab")
		l.Press("alt+z", "alt+z")
		l.Sees("1 Lecture", "2 Lecture (2)")
	})
}

func TestLabelsAndPins(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 2, 100, 30)
		last := func() turn.Turn {
			all := l.rest().Turns
			return all[len(all)-1]
		}
		l.Enter("/label the best")
		if got := last().Label; got != "the best" {
			t.Errorf("the turn is called %q", got)
		}
		l.Press("alt+shift+k")
		if !last().Pinned {
			t.Error("the turn is not pinned")
		}
		l.Sees("“the best” · pinned")
		l.Press("tab", "L")
		if last().Pinned {
			t.Error("the turn is still pinned")
		}
		l.Press("l")
		l.Sees("Name the turn")
		l.Enter("!")
		l.Sees("the turn is called “the best!”, and its state is kept")
		if got := last().Label; got != "the best!" {
			t.Errorf("the turn is called %q", got)
		}
		l.Press("l")
		l.Press("ctrl+u", "enter")
		l.Sees("the turn has no name any more")
		l.Check()
	})
}

// On the narrowest screen every dialog says how it is left, and a click beside
// one that holds no work leaves it.
func TestWaysOut(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 1, 40, 12)
		for _, key := range []string{"f7", "alt+shift+i", "alt+shift+v"} {
			before := l.Screen()
			l.Press(key)
			l.Sees("esc ")
			l.Press("esc")
			if l.Screen() != before {
				t.Errorf("%s: esc does not lead back:\n%s", key, l.Screen())
			}
		}
		l.Resize(80, 24)
		l.Press("alt+shift+i")
		l.Send(tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
		l.SeesNot("Token")
	})
}

// Retry, continue and versions are about the selected message, and say so where
// there is nothing to do.
func TestSelectedTurns(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		l := open(t, 3, 80, 40)
		before := l.texts()
		l.Press("alt+,")
		l.Sees("there is one version of this turn")
		l.Press("tab", "up", "up", "up", "up", "r") // the first answer
		l.rest()
		if got := strings.Count(l.texts(), "|"); got != 1 {
			t.Errorf("the retry of the first answer leaves %q", l.texts())
		}
		l.Press("enter", "alt+,")
		if got := l.texts(); got != before {
			t.Errorf("the version before is %q, want %q", got, before)
		}
		l.Press("alt+,")
		l.Sees("this is the first of 2 versions")
		l.Press("alt+.")
		l.Press("alt+.")
		l.Sees("this is the last of 2 versions")
		l.Press("alt+,")
		if got := l.texts(); got != before {
			t.Errorf("forth and back is %q, want %q", got, before)
		}
		l.Press("ctrl+pgdown")
		l.Sees("there is one tab")
		l.Press("alt+7")
		l.Sees("there is no tab 7")
	})
}
