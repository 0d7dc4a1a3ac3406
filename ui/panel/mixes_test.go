package panel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui"
	"rookery/ui/uitest"
)

func TestMixerPanel(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}} {
		uitest.Run(t, func(t *testing.T) {
			p := open(t, size[0], size[1], nil)
			p.Enter("/mix own=1,demo-sad=0.5")
			p.Sees("mix own=1,demo-sad=0.5")
			p.Press("f9")
			p.Sees("Mixer")
			p.Sees("this chat")
			p.Sees("2 rows a step; the next answer reads")
			p.Press("down", "right")
			if p.mix() != "own=1,demo-sad=0.55" {
				t.Errorf("mixes %s", p.mix())
			}
			p.Press("0", "up", "0")
			p.Sees("add up to 0")
			p.Check()
			p.Press("f9")
			p.SeesNot("Mixer")
			p.Press("f9")
			p.SeesNot("add up to 0")
			p.Press("-", "9", "enter")
			p.Sees("enter takes it")
			p.Press("f3", "f9")
			p.SeesNot("enter takes it")
		})
	}
}

// slowStates are read as slowly as from a disk that sleeps.
type slowStates struct{ turn.Store }

func (s slowStates) States(ctx context.Context) ([]turn.State, error) {
	time.Sleep(time.Second)
	return s.Store.States(ctx)
}

// A mix is read in the background: what answers meanwhile waits for it.
func TestAnswersWaitForTheMix(t *testing.T) {
	for name, c := range map[string]struct {
		mix  string
		keys []string
		now  string // what the screen says then
		then string // and once the mix is read
		runs bool   // an answer
	}{
		"retry":          {"own=1,demo-sad=0.5", []string{"f5"}, "waiting for the mix", "mix own=1,demo-sad=0.5", true},
		"retry, unknown": {"nobody=1", []string{"f5"}, "waiting for the mix", "there is no state", false},
		"a prompt":       {"own=1,demo-sad=0.5", []string{"H", "i", "enter"}, "the mix is still being read", "› Hi", false},
		"the tab left":   {"own=1,demo-sad=0.5", []string{"f5", "ctrl+t"}, "", "no answer was begun", false},
	} {
		t.Run(name, func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				p := open(t, 80, 24, func(w *uitest.Options, _ *ui.Options) {
					w.Wrap = func(s turn.Store) turn.Store { return slowStates{s} }
				})
				p.Enter("/mix " + c.mix)
				p.Press(c.keys...)
				if v := p.chat.View(); v.Live != nil || v.Conversation.Mix.Active() {
					t.Fatal("answers before the mix is read")
				}
				p.Sees(c.now)
				p.Pass(2 * time.Second)
				p.Sees(c.then)
				if v := p.chat.View(); (v.Siblings[1].Of == 2) != c.runs {
					t.Errorf("the answer has %d versions", v.Siblings[1].Of)
				}
			})
		})
	}
}

func TestMixerByMouse(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 80, 24, nil)
		p.Enter("/mix own=1,demo-sad=0.5")
		p.Press("f9")
		y := p.Row("33%")
		at := func(x int) tea.Mouse { return tea.Mouse{X: x, Y: y, Button: tea.MouseLeft} }
		p.Send(tea.MouseClickMsg(at(77)))
		if !strings.HasPrefix(p.mix(), "own=1,demo-sad=1.8") && !strings.HasPrefix(p.mix(), "own=1,demo-sad=1.9") {
			t.Errorf("a click at the right end mixes %s", p.mix())
		}
		p.Send(tea.MouseMotionMsg(at(70)))
		moved := p.mix()
		p.Send(tea.MouseReleaseMsg(at(70)), tea.MouseMotionMsg(at(60)))
		if p.mix() != moved {
			t.Errorf("a slider that was let go moves: %s, then %s", moved, p.mix())
		}
		p.Send(tea.MouseWheelMsg{X: 20, Y: y, Button: tea.MouseWheelUp})
		p.Sees("› this chat")
		p.Send(tea.MouseWheelMsg{X: 20, Y: y, Button: tea.MouseWheelDown})
		p.Sees("› demo-sad")
	})
}

func TestMixStates(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 100, 30, nil)
		p.Press("f9", "a")
		p.Sees("Add a state to the mix", "demo-animals")
		p.Type("sad")
		p.Press("enter", "a", "enter")
		if p.mix() != "own=1,demo-sad=0.5,demo-animals=0.5" {
			t.Errorf("mixes %s", p.mix())
		}
		p.Sees("3 rows a step")
		p.Press("a")
		p.Sees("There are no other states for this model.")
		p.Press("esc", "down", "x")
		if p.mix() != "own=1,demo-animals=0.5" {
			t.Errorf("mixes %s", p.mix())
		}
		p.Press("o")
		p.Sees("No mix.")
		p.Press("f9")
		p.Enter("/mix nobody=1")
		p.Sees("› /mix nobody=1", `there is no state "nobody"`)
		p.Press("esc", "ctrl+u")
		p.Enter("/mix demo-sad=1")
		p.Sees("mix own=0,demo-sad=1")
		p.Enter("/mix off")
		p.Sees("no mix: this chat alone")
	})
}

func TestSavedMixes(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 100, 30, nil)
		saved := func() string {
			t.Helper()
			list, err := p.Workspace.Mixes(t.Context())
			uitest.Must(t, err)
			var all []string
			for _, m := range list {
				all = append(all, m.Name+": "+m.Mix.String())
			}
			return strings.Join(all, "; ")
		}
		p.Enter("/mixes")
		p.Sees("None yet.")
		p.Press("esc")
		p.Enter("/mix own=1,demo-sad=0.5")
		p.Enter("/save_mix gloom")
		p.Sees("saved the mix “gloom”")
		p.Enter("/mix off")
		p.Enter("/save_mix gloom")
		p.Sees("there is no mix to save")
		p.Press("esc", "ctrl+u")
		p.Enter("/mixes gloom")
		p.Sees("mix own=1,demo-sad=0.5")
		p.Press("f9", "down", "m", "w")
		p.Enter("gloom")
		p.Sees("Replace the mix?", "own=1,demo-sad=0.5 (mute)")
		p.Press("enter")
		if saved() != "gloom: own=1,demo-sad=0.5 (mute)" {
			t.Errorf("saved %s", saved())
		}
		p.Press("m", "p")
		p.Sees("Saved mixes", "ctrl+x delete")
		p.SeesNot("rename") // there is no such thing
		p.Press("enter")
		if p.mix() != "own=1,demo-sad=0.5 (mute)" {
			t.Errorf("mixes %s", p.mix())
		}
		p.Press("p", "ctrl+x")
		p.Sees("Delete the mix?")
		p.Press("enter")
		p.Sees("deleted the mix “gloom”")
		if saved() != "" {
			t.Errorf("still saved: %s", saved())
		}
	})
}

// A mix that changed its states does not reach the running answer.
func TestMixerBesideAnAnswer(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 140, 40, func(w *uitest.Options, _ *ui.Options) { w.Step = time.Second })
		p.Enter("/mix own=1,demo-sad=0.5")
		p.Enter("Once more")
		p.Press("f9")
		p.SeesNot("running answer keeps")
		p.Press("a", "enter")
		p.Sees("the running answer keeps")
		p.Press("esc")
		p.Check()
	})
}

// An answer says what it was drawn from, and the strip which state pushed each
// of its tokens.
func TestHeatStripOfAnAnswer(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 80, 24, nil)
		p.Press("alt+shift+j")
		p.Sees("there is no answer of a mix here")
		p.Press("esc")
		p.Enter("/mix own=1,demo-sad=0.5")
		p.Press("f5")
		p.Await("this chat ▄")
		p.Sees("mix own=1,demo-sad=0.5", "demo-sad  ▄")
		p.Press("alt+shift+j")
		p.Sees("o this chat", "A demo-sad", "←→ token · esc back to the prompt · alt+shift+j hide")
		p.Press("home", "right")
		p.Sees("\n2/")
		p.Press("f1")
		p.Sees("In the panels: Heat strip")
		p.Press("esc", "esc")
		p.SeesNot("\n2/")
		p.Press("alt+shift+j", "alt+shift+j")
		p.SeesNot("demo-sad  ▄")
		p.Press("alt+shift+j")
		p.Sees("\n2/")
		p.Send(tea.MouseClickMsg{X: len("demo-sad  ") + 3, Y: p.Row("demo-sad  ▄"), Button: tea.MouseLeft})
		p.Sees("\n4/")
		p.Press("ctrl+p")
		p.Sees("Commands")
		p.Press("esc", "f9")
		p.Sees("Mixer")
		p.Check()
	})
}
