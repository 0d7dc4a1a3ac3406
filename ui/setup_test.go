package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestSetup(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"two seeds at first":    {nil, `compare seed 1|seed 2`},
		"states":                {[]string{"s", "down", " ", "down", "down", " ", "enter"}, `compare bare|animals|sad`},
		"one state is too few":  {[]string{"s", "enter"}, `compare seed 1|seed 2`},
		"adapters":              {[]string{"a", "down", " ", "enter"}, `compare no adapter|pirate`},
		"seeds":                 {[]string{"n", "backspace", "3", "enter"}, `compare seed 1|seed 2|seed 3`},
		"too many seeds":        {[]string{"n", "backspace", "9", "enter", "esc"}, `compare seed 1|seed 2`},
		"duplicated":            {[]string{"d"}, `compare seed 1|seed 1 (2)|seed 2`},
		"at least two":          {[]string{"x"}, `compare seed 1|seed 2`},
		"duplicated, removed":   {[]string{"d", "d", "up", "x"}, `compare seed 1|seed 1 (2)|seed 2`},
		"a state in a cell":     {[]string{" ", "down", "enter"}, `compare animals, seed 1|bare, seed 2`},
		"an adapter in a cell":  {[]string{"right", " ", "down", "enter"}, `compare pirate, seed 1|no adapter, seed 2`},
		"a seed in a cell":      {[]string{"right", "right", "right", "right", " ", "backspace", "7", "enter"}, `compare seed 7|seed 2`},
		"a name":                {[]string{"r", "m", "e", "enter"}, `compare me|seed 2`},
		"a prompt":              {[]string{"w", "H", "i", "enter"}, `compare "Hi" seed 1|seed 2`},
		"a mix that is unknown": {[]string{"right", "right", " ", "x", "=", "1", "enter", "esc"}, `compare seed 1|seed 2`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{80, 24}, {40, 10}} {
				b := newBench(t, compareDesks(), Settings{}, size[0], size[1])
				b.press("f12")
				for _, key := range c.keys {
					b.press(key)
					b.check()
				}
				b.press("enter")
				b.did(c.want)
			}
		})
	}
}

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
			b := newBench(t, compareDesks(), Settings{}, 80, 24)
			b.press("f12")
			b.press(c.keys...)
			b.typeText(c.text)
			for range 2 {
				b.press("enter")
				b.sees(c.want)
				b.sees("│ " + c.text + " ")
				b.check()
			}
			b.press("left")
			b.seesNot(c.want)
			b.send(tea.WindowSizeMsg{Width: 40, Height: 10})
			b.press("enter")
			b.check()
			b.press("esc")
			b.seesNot(c.want)
			if len(b.k.open[0].calls) > 0 {
				t.Errorf("asked %q", b.k.open[0].calls)
			}
		})
	}
}

func TestSetupForgetsWhatWasMissing(t *testing.T) {
	k := compareDesks()
	k.open = nil
	b := newBench(t, k, Settings{}, 80, 24)
	b.press("f12", "enter")
	b.sees("There is no prompt yet.")
	b.typeText("Hello")
	b.press("enter")
	b.sees("Prompt  Hello")
	b.seesNot("There is no prompt yet.")
}

func TestSetupOfMany(t *testing.T) {
	for _, height := range []int{10, 12, 24} {
		b := newBench(t, compareDesks(), Settings{Mouse: true}, 60, height)
		b.press("f12", "n", "backspace", "8", "enter")
		for range 8 {
			b.check()
			b.press("down")
		}
		b.sees("8 seed 8")
		b.send(tea.MouseClickMsg{X: 12, Y: height / 2, Button: tea.MouseLeft})
		b.check()
		b.press("up", "x", "enter")
		if d := b.k.open[0]; len(d.asked) != 7 {
			t.Errorf("asked for %d variants:\n%s", len(d.asked), b.screen())
		}
	}
}

func TestSetupWaitsForWhatThereIs(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	cmd := b.m.compareAnswers("")
	b.press("s")
	b.sees("Reading what there is.")
	b.do(cmd)
	b.sees("A variant for each of these states")
	b.sees("animals")
}

func TestSetupOfSampling(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 100, 30)
	b.press("f12", "right", "right", "right", " ")
	b.typeText("Other")
	b.press("enter", "ctrl+u")
	b.typeText("temp=0.2 presence=x")
	b.press("enter")
	b.sees("is not a number")
	b.press(" ")
	b.typeText("Other")
	b.press("enter", "ctrl+u")
	b.typeText("temp=0.2, top_p=0.5")
	b.press("enter", "d", " ")
	b.typeText("greedy")
	b.press("enter", "enter")
	d := b.k.open[0]
	if len(d.asked) != 3 {
		t.Fatalf("asked for %v:\n%s", d.asked, b.screen())
	}
	if p := d.asked[0].Sampling; p.Temperature != 0.2 || p.TopP != 0.5 || p.Decay != 0.996 {
		t.Errorf("the first variant has %+v", p)
	}
	if p := d.asked[1].Sampling; p.Temperature != 0 || p.Seed != 1 {
		t.Errorf("the second variant has %+v", p)
	}
}

func TestSetupIsRememberedAndTakesTheComposer(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.typeText("What is a rook?")
	b.press("f12", "d", "r", "m", "e", "enter", "enter")
	b.did(`compare "What is a rook?" seed 1|me|seed 2`)
	if !b.m.tab().composer.Empty() {
		t.Error("the prompt is still in the composer")
	}
	b.press("esc")
	b.typeText("/compare And a raven?")
	b.press("enter")
	b.sees("Compare 3 variants")
	b.sees("And a raven?")
	b.press("enter")
	b.did(`compare "And a raven?" seed 1|me|seed 2`)
}

func TestSetupWithoutAPrompt(t *testing.T) {
	b := newBench(t, &fakeDesk{}, Settings{}, 80, 24)
	b.press("f12")
	b.sees("none yet")
	b.press("enter")
	b.sees("Prompt to compare answers to")
	b.press("H", "i", "enter", "enter")
	b.did(`compare "Hi" seed 1|seed 2`)
}

func TestSetupSaysWhatCannotBeLoaded(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.press("f12", "a", "down", "down", " ", "enter", "enter")
	b.sees("its file is cut short")
	b.sees("Compare 2 variants")
	b.press("esc")
	b.seesNot("Compare 2 variants")
}
