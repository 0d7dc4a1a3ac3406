package panel_test

import (
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/infer/sampler"
	"rookery/ui"
	"rookery/ui/uitest"
)

func TestSamplingPanelTakesEffectAtOnce(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 140, 40, nil)
		p.Press("ctrl+s")
		p.Sees("Sampling")
		p.Press("down", "right")
		if got := p.conversation().Sampling.Temperature; got != 1.05 {
			t.Errorf("the temperature is %v", got)
		}
		p.Press("ctrl+t")
		p.Sees("Sampling")
		p.Press("ctrl+s")
		p.SeesNot("Sampling")
		p.Type("x")
		p.Sees("› x")
	})
}

func TestCandidatesFollowTheConversation(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 140, 40, func(w *uitest.Options, _ *ui.Options) { w.Step = 100 * time.Millisecond })
		steps := func() uint64 { return p.Engine.Stats().Steps }
		before := steps()
		p.Pass(time.Second)
		if steps() != before {
			t.Error("a closed panel costs something")
		}
		p.Press("f3")
		p.Await("next token")
		before = steps()
		p.Press("down", "right", "up")
		p.Pass(time.Second)
		if steps() != before {
			t.Error("moving a parameter asks again")
		}
		p.Press("alt+o")
		p.Enter("Once more")
		p.Await("latest token")
		p.Await("next token")
		p.Press("f3")
		p.SeesNot("next token")
	})
}

func TestSavingPresets(t *testing.T) {
	saved := map[string]sampler.Params{}
	var failed error
	save := func(name string, p sampler.Params) error {
		if failed == nil {
			saved[name] = p
		}
		return failed
	}
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 140, 40, func(_ *uitest.Options, o *ui.Options) { o.SaveSampling = save })
		p.Press("f3", "d")
		p.Sees("new conversations begin with these parameters")
		if p, ok := saved[""]; !ok || p.Temperature != 1 {
			t.Errorf("saved %+v", saved)
		}
		p.Press("s")
		p.Sees("Save the sampling parameters as a preset")
		p.Type("my own")
		p.Press("enter")
		p.Sees("saved as preset my own")
		p.Press("s", "ctrl+u")
		p.Type("Story")
		p.Press("enter")
		p.Sees("comes with the program", "│ Story ")
		p.Press("esc")
		p.SeesNot("comes with the program")
		if p.conversation().Preset != "my own" || saved["my own"].TopP != p.conversation().Sampling.TopP {
			t.Errorf("the preset is %q, saved %+v", p.conversation().Preset, saved)
		}
		p.Press("alt+a")
		p.Sees("my own", "Your own")
		p.Press("esc", "alt+o")
		p.Enter("/save-preset Chat")
		p.Sees("comes with the program")
		failed = errors.New("the disk is full")
		p.Press("esc", "ctrl+u", "alt+o", "s", "enter")
		p.Sees("the disk is full")
	})
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 80, 24, nil)
		p.Enter("/save-default")
		p.Sees("there is no configuration to save to")
	})
}

func TestCommandsOfTheSampling(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 100, 30, nil)
		for line, want := range map[string]string{
			"/temp hot":    `"hot" is not a number: write /temp <0 or more>`,
			"/temp NaN":    "must be a number, not NaN: write /temp",
			"/top_k 1.5":   "is not a whole number: write /top_k",
			"/preset no":   `there is no preset "no": there are`,
			"/think":       "was not trained to think; the G1 models were",
			"/think short": "was not trained to think; the G1 models were",
		} {
			p.Enter(line)
			p.Sees(want)
			p.Press("esc", "ctrl+u")
		}
		p.Enter("/temp 0.5")
		p.Sees("temperature 0.5, from the next token on")
		p.Enter("/seed 7")
		p.Sees("seed 7, from the next answer on")
		if s := p.conversation().Sampling; s.Temperature != 0.5 || s.Seed != 7 {
			t.Errorf("draws with %+v", s)
		}
		p.Enter("/preset greedy")
		p.Sees("preset greedy, from the next token on")
		if s := p.conversation().Sampling; s.Temperature != 0 || s.Seed != 7 {
			t.Errorf("draws with %+v", s)
		}
	})
}

func TestSamplingByMouse(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 140, 40, nil)
		p.Press("f3")
		before := p.conversation().Sampling.TopP
		y := p.Row(" top_p")
		p.Send(tea.MouseClickMsg{X: 128, Y: y, Button: tea.MouseLeft})
		if now := p.conversation().Sampling.TopP; now == before {
			t.Errorf("a click on the bar of top_p leaves it at %v", now)
		}
		p.Press("home")
		p.Send(tea.MouseWheelMsg{X: 128, Y: y, Button: tea.MouseWheelDown})
		p.Press("right")
		if now := p.conversation().Sampling.Temperature; now != 1.05 {
			t.Errorf("one row down from the first, right makes the temperature %v", now)
		}
	})
}

func TestThinkingModeAndPresetFromLists(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		p := open(t, 80, 24, nil)
		p.Engine.Model().Name = "test-g1-20260312" // one that was trained to think
		p.Press("alt+t", "down", "down", "enter")
		p.Sees("think free", "thinking: free, from the next turn on")
		p.Enter("/think hard")
		p.Sees(`"hard" is not a thinking mode`)
		p.Press("esc", "ctrl+u", "alt+a")
		p.Type("greedy")
		p.Press("enter")
		if c := p.conversation(); c.Preset != "greedy" || c.Sampling.Temperature != 0 {
			t.Errorf("draws with %+v", c.Sampling)
		}
	})
}
