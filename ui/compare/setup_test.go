package compare_test

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/uitest"
)

func TestSetup(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"two seeds at first":    {nil, "seed 1|seed 2"},
		"states":                {[]string{"s", "down", " ", "down", "down", " ", "enter"}, "bare|animals|sad"},
		"one state is too few":  {[]string{"s", "enter"}, "seed 1|seed 2"},
		"adapters":              {[]string{"a", "down", " ", "enter"}, "no adapter|plume"},
		"seeds":                 {[]string{"n", "backspace", "3", "enter"}, "seed 1|seed 2|seed 3"},
		"too many seeds":        {[]string{"n", "backspace", "9", "enter", "esc"}, "seed 1|seed 2"},
		"duplicated":            {[]string{"d"}, "seed 1|seed 1 (2)|seed 2"},
		"at least two":          {[]string{"x"}, "seed 1|seed 2"},
		"duplicated, removed":   {[]string{"d", "d", "up", "x"}, "seed 1|seed 1 (2)|seed 2"},
		"a state in a cell":     {[]string{" ", "down", "enter"}, "animals, seed 1|bare, seed 2"},
		"an adapter in a cell":  {[]string{"right", " ", "down", "enter"}, "plume, seed 1|no adapter, seed 2"},
		"a seed in a cell":      {[]string{"right", "right", "right", "right", " ", "backspace", "7", "enter"}, "seed 7|seed 2"},
		"a name":                {[]string{"r", "m", "e", "enter"}, "me|seed 2"},
		"a prompt":              {[]string{"w", "H", "i", "enter"}, "seed 1|seed 2"},
		"a mix":                 {[]string{"right", "right", " ", "s", "a", "d", "=", "1", "enter"}, "own=0,sad=1, seed 1|no mix, seed 2"},
		"a mix that is unknown": {[]string{"right", "right", " ", "x", "=", "1", "enter", "esc"}, "seed 1|seed 2"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{80, 24}, {40, 10}} {
				uitest.Run(t, func(t *testing.T) {
					g := raise(t, script{width: size[0], height: size[1]})
					g.Press("f12")
					for _, key := range c.keys {
						g.Press(key)
						g.Check()
					}
					g.Press("enter")
					g.asks(c.want)
					want := "Which bird is it?"
					if name == "a prompt" {
						want = "Hi"
					}
					if got := g.prompt(); got != want {
						t.Errorf("the prompt is %q, want %q", got, want)
					}
				})
			}
		})
	}
}

// What is written wrong is said where it is written, and stays to be put right:
// enter, pressed once more, starts nothing.
func TestWrongAnswersOfTheSetup(t *testing.T) {
	for name, c := range map[string]struct {
		keys       []string
		text, want string
	}{
		"seeds":    {[]string{"n", "backspace"}, "8x", `"8x" is not a number`},
		"9 seeds":  {[]string{"n", "backspace"}, "9", "2 to 8 seeds can be compared"},
		"a seed":   {[]string{"right", "right", "right", "right", " ", "backspace"}, "one", `"one" is not a seed`},
		"a mix":    {[]string{"right", "right", " "}, "nothing=1", "there is no state"},
		"sampling": {[]string{"right", "right", "right", " ", "end", "down", "down", "down", "down", "down", "enter", "ctrl+u"}, "heat=2", `"heat=2" is not a sampling parameter`},
	} {
		t.Run(name, func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				g := raise(t, script{width: 80, height: 24})
				g.Press("f12")
				g.Press(c.keys...)
				g.Type(c.text)
				for range 2 {
					g.Press("enter")
					g.Sees(c.want)
					g.Sees("│ " + c.text + " ")
					g.Check()
				}
				g.Press("left")
				g.SeesNot(c.want)
				g.Resize(40, 10)
				g.Press("enter")
				g.Check()
				g.Press("esc")
				g.SeesNot(c.want)
				g.asks("")
			})
		})
	}
}

// What the setup misses is not missed any more once it is written.
func TestSetupWithoutAPrompt(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{empty: true})
		g.Press("f12")
		g.Sees("none yet")
		g.Press("enter")
		g.Sees("There is no prompt yet.")
		g.Sees("Prompt to compare answers to")
		g.Enter("Hello")
		g.Sees("Prompt  Hello")
		g.SeesNot("There is no prompt yet.")
		g.Press("enter")
		g.asks("seed 1|seed 2")
		if got := g.prompt(); got != "Hello" {
			t.Errorf("the prompt is %q", got)
		}
	})
}

func TestSetupOfMany(t *testing.T) {
	for _, height := range []int{10, 12, 24} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: 60, height: height})
			g.Press("f12", "n", "backspace", "8", "enter")
			for range 8 {
				g.Check()
				g.Press("down")
			}
			g.Sees("8 seed 8")
			g.Send(tea.MouseClickMsg{X: 12, Y: height / 2, Button: tea.MouseLeft})
			g.Check()
			g.Press("up", "x", "enter")
			if n := len(g.alternatives()); n != 7 {
				t.Errorf("%d variants answer:\n%s", n, g.Screen())
			}
		})
	}
}

func TestSetupWaitsForWhatThereIs(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{})
		g.store.gate = make(chan struct{})
		g.Press("f12", "s")
		g.Sees("Reading what there is.")
		g.SeesNot("A variant for each")
		close(g.store.gate)
		g.Settle()
		g.Sees("A variant for each of these states", "animals")
	})
}

func TestSetupOfSampling(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{})
		g.Press("f12", "right", "right", "right", " ")
		g.Type("Other")
		g.Press("enter", "ctrl+u")
		g.Enter("temp=0.2 presence=x")
		g.Sees("is not a number")
		g.Press("esc", " ")
		g.Type("Other")
		g.Press("enter", "ctrl+u")
		g.Enter("temp=0.2, top_p=0.5")
		g.Press("d", " ")
		g.Enter("greedy")
		g.Press("enter")
		rows := g.alternatives()
		if len(rows) != 3 {
			t.Fatalf("%d variants answer:\n%s", len(rows), g.Screen())
		}
		if p := rows[0].Variant.Sampling; p.Temperature != 0.2 || p.TopP != 0.5 || p.Decay != 1 {
			t.Errorf("the first variant has %+v", p)
		}
		if p := rows[1].Variant.Sampling; p.Temperature != 0 || p.Seed != 1 {
			t.Errorf("the second variant has %+v", p)
		}
	})
}

func TestSetupIsRememberedAndTakesTheComposer(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 80, height: 24})
		g.Type("What is a rook?")
		g.Press("f12", "d", "r", "m", "e", "enter", "enter")
		g.asks("seed 1|me|seed 2")
		if got := g.prompt(); got != "What is a rook?" {
			t.Errorf("the prompt is %q", got)
		}
		if got := g.host.Tab().Prompt().Text(); got != "" {
			t.Errorf("the composer still has %q", got)
		}
		g.finish()
		g.Press("esc")
		g.Enter("/compare And a raven?")
		g.Sees("Compare 3 variants", "And a raven?")
		g.Press("enter")
		g.asks("seed 1|me|seed 2")
		if got := g.prompt(); got != "And a raven?" {
			t.Errorf("the prompt is %q", got)
		}
		g.finish()
		g.Press("esc", "up") // it is in the history
		if got := g.host.Tab().Prompt().Text(); got != "And a raven?" {
			t.Errorf("the history begins with %q", got)
		}
	})
}

// A table of variants that was changed and closed is there again.
func TestSetupIsRememberedWhenClosed(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 80, height: 24})
		g.Press("f12", "esc")
		g.Enter("/seed 5")
		g.Press("f12")
		g.Sees("1 seed 5") // what nobody changed is not remembered
		g.Press("d", "x", "d", "r", "m", "e", "enter", "b", "esc", "f12")
		g.Sees("Compare 3 variants", "3 me", "blind: yes")
	})
}

// A prompt that was written for a comparison is not lost with the setup.
func TestSetupGivesThePromptBack(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 80, height: 24})
		g.Enter("/compare Which one?")
		g.Press("esc")
		if got := g.host.Tab().Prompt().Text(); got != "Which one?" {
			t.Errorf("the composer has %q", got)
		}
		g.Press("f12", "w")
		g.Enter(" Say it.")
		g.Press("esc")
		if got := g.host.Tab().Prompt().Text(); got != "Which one? Say it." {
			t.Errorf("after a change the composer has %q", got)
		}
	})
}

// On the narrowest screen every dialog still says how it is left.
func TestWayOutOfTheSetup(t *testing.T) {
	for name, pressed := range map[string][]string{"setup": {"f12"}, "checklist": {"f12", "s"}, "seeds": {"f12", "n"}} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: 40, height: 12})
			g.Press(pressed...)
			if n := len(g.host.Dialogs()); n != len(pressed) {
				t.Fatalf("%s: %d dialogs", name, n)
			}
			if !strings.Contains(g.Screen(), "esc ") {
				t.Errorf("%s does not say how it is left:\n%s", name, g.Screen())
			}
			for range pressed {
				g.Press("esc")
			}
			if n := len(g.host.Dialogs()); n != 0 {
				t.Errorf("%s: %d dialogs after esc:\n%s", name, n, g.Screen())
			}
		})
	}
}

// A click beside a dialog with work in it closes nothing.
func TestClicksBesideComparisons(t *testing.T) {
	for _, pressed := range [][]string{{"f12"}, {"f12", "enter"}, {"alt+shift+r"}} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: 80, height: 24})
			g.Press(pressed...)
			g.Send(tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
			if n := len(g.host.Dialogs()); n != 1 {
				t.Errorf("%s: %d dialogs after a click beside it", fmt.Sprint(pressed), n)
			}
		})
	}
}

func TestSetupSaysWhatCannotBeLoaded(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 80, height: 24})
		g.w.Workspace.UseAdapters(nil, []string{"broken"})
		g.Press("f12", "a", "down", " ", "enter", "enter")
		g.Sees("Compare 2 variants")
		g.asks("")
		g.Press("esc")
		g.SeesNot("Compare 2 variants")
	})
}
