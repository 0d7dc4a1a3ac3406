package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
)

func sadMix() turn.Mix {
	return turn.Mix{Own: turn.MixMember{Weight: 1}, Others: []turn.MixMember{{State: 2001, Name: "demo-sad", Weight: 0.5}}}
}

// mixed is a workspace with a conversation that has a mix, and one more state.
func mixed() *fakeDesk {
	d := talk()
	d.v.Conversation.Mix = sadMix()
	for i := range d.v.Turns {
		d.v.Turns[i].Tokens = make([]int32, 10)
	}
	k := &fakeDesk{open: []*fakeDialogue{d}, stats: busy()}
	for i, name := range []string{"demo-sad", "demo-animals"} {
		s := turn.State{ID: turn.ID(2001 + i)}
		s.Name = name
		k.states = append(k.states, s)
	}
	return k
}

func TestMixerPanel(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}} {
		b := newBench(t, mixed(), Settings{}, size[0], size[1])
		b.sees("mix own=1,demo-sad=0.5")
		b.press("f9")
		b.sees("Mixer")
		b.sees("2 rows a step; the next answer reads")
		if b.m.focus != keys.Panel {
			t.Fatal("the mixer does not have the keyboard")
		}
		b.press("down", "right")
		b.did("mix own=1,demo-sad=0.55")
		b.press("0", "up", "0")
		b.sees("add up to 0")
		b.check()
		b.press("f9")
		b.seesNot("Mixer")
		b.press("f9")
		b.seesNot("add up to 0")
		b.press("-", "9", "enter")
		b.sees("enter takes it")
		b.press("f10", "f9")
		b.seesNot("enter takes it")
		b.press("f9")
	}
}

// A mix is read in the background: what answers meanwhile waits for it.
func TestAnswersWaitForTheMix(t *testing.T) {
	for name, c := range map[string]struct {
		unknown bool
		keys    []string
		now     string   // what the screen says then
		want    []string // asked of the dialogue once the mix is read
		sees    string
	}{
		"retry":          {keys: []string{"f5"}, now: "waiting for the mix", want: []string{"mix own=1,demo-sad=0.5", "retry"}, sees: "mix own=1,demo-sad=0.5"},
		"retry, unknown": {unknown: true, keys: []string{"f5"}, now: "waiting for the mix", sees: "there is no state"},
		"a prompt":       {keys: []string{"H", "i", "enter"}, now: "the mix is still being read", want: []string{"mix own=1,demo-sad=0.5"}, sees: "› Hi"},
		"the tab left":   {keys: []string{"f5", "ctrl+t"}, want: []string{"mix own=1,demo-sad=0.5"}, sees: "no answer was begun"},
	} {
		t.Run(name, func(t *testing.T) {
			k := mixed()
			d := k.open[0]
			if !c.unknown {
				k.mix = sadMix()
			}
			b := newBench(t, k, Settings{}, 80, 24)
			b.typeText("/mix demo-sad")
			_, read := b.m.Update(keyNamed(t, "enter"))
			b.press(c.keys...)
			if len(d.calls) > 0 {
				t.Fatalf("asked %q before the mix was read", d.calls)
			}
			b.sees(c.now)
			b.do(read)
			if !slices.Equal(d.calls, c.want) {
				t.Errorf("asked %q, want %q", d.calls, c.want)
			}
			b.sees(c.sees)
		})
	}
}

func TestMixerMouse(t *testing.T) {
	b := newBench(t, mixed(), Settings{Mouse: true}, 80, 24)
	b.press("f9")
	lines := strings.Split(b.screen(), "\n")
	y := 0
	for i, l := range lines {
		if strings.Contains(l, "demo-sad ") && strings.Contains(l, "33%") {
			y = i
		}
	}
	at := func(x int) tea.Mouse { return tea.Mouse{X: x, Y: y, Button: tea.MouseLeft} }
	b.send(tea.MouseClickMsg(at(77)))
	b.send(tea.MouseMotionMsg(at(70)))
	calls := b.m.tab().d.(*fakeDialogue).calls
	if len(calls) != 2 || !strings.HasPrefix(calls[0], "mix own=1,demo-sad=1.8") || !strings.HasPrefix(calls[1], "mix own=1,demo-sad=1.") {
		t.Fatalf("asked %q on line %d", calls, y)
	}
	b.send(tea.MouseReleaseMsg(at(70)))
	b.send(tea.MouseMotionMsg(at(60)))
	if got := b.m.tab().d.(*fakeDialogue).calls; len(got) != 2 {
		t.Errorf("a fader that was let go moves: %q", got)
	}
	if b.m.tab().transcript.ClearMarks() {
		t.Error("moving a fader marks text")
	}
}

func TestMixStates(t *testing.T) {
	b := newBench(t, mixed(), Settings{}, 100, 30)
	b.press("f9", "a")
	b.sees("Add a state to the mix")
	b.sees("demo-animals")
	b.press("enter")
	b.did("mix own=1,demo-sad=0.5,demo-animals=0.5")
	b.sees("3 rows a step")
	b.press("a")
	b.sees("There are no other states for this model.")
	b.press("esc", "down", "x")
	b.did("mix own=1,demo-animals=0.5")
	b.press("o")
	b.sees("No mix.")
	b.press("f9")
	b.m.tab().composer.Set("/mix demo-sad=1")
	b.press("enter")
	b.sees(`there is no state "demo-sad=1"`)
	b.k.mix = sadMix()
	b.press("enter")
	b.did("mix own=1,demo-sad=0.5")
	b.m.tab().composer.Set("/mix off")
	b.press("enter")
	b.did("mix ")
}

func TestSavedMixes(t *testing.T) {
	b := newBench(t, mixed(), Settings{}, 100, 30)
	run := func(line string) {
		b.m.tab().composer.Set(line)
		b.press("enter")
	}
	run("/save_mix gloom")
	b.sees("saved the mix “gloom”")
	run("/mix off")
	run("/save_mix gloom")
	b.sees("there is no mix to save")
	run("/mixes gloom")
	b.did("mix own=1,demo-sad=0.5")
	b.press("f9", "down", "m", "w")
	b.typeText("gloom")
	b.press("enter")
	b.sees("Replace the mix?")
	b.sees("own=1,demo-sad=0.5 (mute)")
	b.press("enter")
	if len(b.k.saved) != 1 || b.k.saved[0].Mix.String() != "own=1,demo-sad=0.5 (mute)" {
		t.Fatalf("saved %v", b.k.saved)
	}
	b.press("m", "p")
	b.sees("Saved mixes")
	b.sees("ctrl+x delete")
	b.seesNot("rename") // there is no such thing
	b.press("enter")
	b.did("mix own=1,demo-sad=0.5 (mute)")
	b.press("p", "ctrl+x")
	b.sees("Delete the mix?")
	b.press("enter")
	if len(b.k.saved) != 0 {
		t.Errorf("still saved: %v", b.k.saved)
	}
	run("/mixes nobody")
}

// A mix that changed its states does not reach the running answer.
func TestMixerBesideAnAnswer(t *testing.T) {
	k := mixed()
	k.open[0].generate("Hm", infer.Progress{Generated: 1})
	k.open[0].v.Live.Turn.Mix = sadMix()
	b := newBench(t, k, Settings{}, 140, 40)
	b.press("f9")
	b.seesNot("running answer keeps")
	b.press("a", "enter")
	b.sees("the running answer keeps")
	b.press("esc")
	b.check()
}

func TestPlainMix(t *testing.T) {
	got := converse(t, 0, "/mix", "/mix off", "/mix nobody=1", "/mix x", "/mixes", "/save_mix", "/save_mix gloom", "/mixes gloom")
	for _, want := range []string{
		"No mix: the conversation's own run alone.\n", "state=weight", `Error: there is no state "nobody"`, `Error: mix "x": write state=weight,state=weight`,
		"No mix was saved yet.", "Error: write /save_mix and a name", "Error: there is no mix to save", `there is no saved mix "gloom": none was saved yet`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
