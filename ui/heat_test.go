package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
)

// heated is a workspace whose last answer was drawn from a mix of two states.
func heated(tokens int) *fakeDesk {
	d := talk()
	d.v.Conversation.Mix = sadMix()
	d.v.Turns[3].Mix = sadMix()
	var drawn []infer.Token
	for i := range tokens {
		push := []float32{-2, -0.5, -0.1, 0, 0.1, 0.5, 2}[i%7] // of the state; the own run's is opposite
		drawn = append(drawn, infer.Token{ID: int32(100 + i), LogProb: -3, MemberLogprobs: []float32{-3 - push, -3 + push}})
	}
	d.drawn = map[turn.ID][]infer.Token{4: drawn}
	return &fakeDesk{open: []*fakeDialogue{d}, stats: busy()}
}

func TestHeatStrip(t *testing.T) {
	b := newBench(t, heated(7), Settings{}, 80, 24)
	b.sees("own run  █▆▅▄▃▂▁\ndemo-sad ▁▂▃▄▅▆█")
	b.sees("stopped, can be continued · mix own=1,demo-sad=0.5")
	b.check()
	b.press("alt+shift+j")
	b.sees(`7/7 "106"  mix 5%  o own run 0.67% (-2.00)  A demo-sad 37% (+2.00)`)
	b.sees("←→ token · esc back to the prompt · alt+shift+j hide")
	b.press("home", "right")
	b.sees(`2/7 "101"`)
	b.check()
	b.press("esc")
	if b.m.focus != keys.Composer {
		t.Error("esc does not go back to the prompt")
	}
	b.seesNot("2/7")
	b.press("alt+shift+j", "alt+shift+j")
	b.seesNot("demo-sad ▁")
	b.press("alt+shift+j")
	b.sees("2/7")
	b.press("ctrl+p")
	b.sees("Commands")
	b.press("esc", "f9")
	b.sees("Mixer")
	b.sees("demo-sad ▁▂▃▄▅▆█")
	b.check()
}

// Where the figures have letters in place of names, the rows say whose they are.
func TestHeatStripSaysWhoseTheLettersAre(t *testing.T) {
	b := newBench(t, heated(7), Settings{}, 64, 24)
	b.sees("own run  █▆▅▄▃▂▁\ndemo-sad ▁▂▃▄▅▆█")
	b.press("alt+shift+j")
	b.sees("o own r… █▆▅▄▃▂▁\nA demo-… ▁▂▃▄▅▆█")
	b.sees(`o 0.67% (-2.00)  A 37% (+2.00)`)
	b.press("home", "right", "right", "right")
	b.sees(`o 5% (0.00)  A 5% (0.00)`)
}

// Narrow and low screens have one row with the letter of the likeliest state;
// ASCII has other signs. None has it without figures.
func TestHeatStripFits(t *testing.T) {
	for _, size := range [][2]int{{50, 24}, {80, 16}} {
		b := newBench(t, heated(7), Settings{}, size[0], size[1])
		b.sees("pushed   oooo")
		b.sees("AAA")
		b.check()
		b.press("alt+shift+j")
		b.check()
	}
	b := newBench(t, heated(7), Settings{}, 80, 12)
	b.seesNot("pushed")
	b.check()
	b = newBench(t, heated(7), Settings{}, 80, 24)
	b.m.ascii = true
	b.m.applyTheme()
	b.sees("demo-sad .:-=+*#")
	b = newBench(t, mixed(), Settings{}, 80, 24)
	b.press("alt+shift+j")
	b.sees("there is no answer of a mix here")
	for _, w := range []int{40, 60, 61, 200} {
		for _, h := range []int{10, 14, 20, 60} {
			b := newBench(t, heated(1000), Settings{}, w, h)
			b.check()
			b.press("alt+shift+j", "ctrl+left", "home")
			b.check()
		}
	}
}

func TestHeatStripScrolls(t *testing.T) {
	b := newBench(t, heated(1000), Settings{Mouse: true}, 80, 24)
	row := func() string {
		for l := range strings.SplitSeq(b.screen(), "\n") {
			if strings.HasPrefix(l, "demo-sad ") {
				return strings.TrimPrefix(l, "demo-sad ")
			}
		}
		return ""
	}
	newest := []rune(row())
	if got := string(newest[len(newest)-7:]); !strings.HasSuffix(got, pushes[true][999%7]) {
		t.Errorf("the newest token is not at the right: %q", got)
	}
	b.press("alt+shift+j", "home")
	b.sees("1/1,000")
	if !strings.HasPrefix(row(), "▁▂▃") {
		t.Errorf("the first token is not in sight: %q", row())
	}
	y := 0
	for i, l := range strings.Split(b.screen(), "\n") {
		if strings.HasPrefix(l, "demo-sad ") {
			y = i
		}
	}
	b.send(tea.MouseClickMsg{X: len("demo-sad ") + 5, Y: y, Button: tea.MouseLeft})
	b.sees(`6/1,000 "105"`)
}

// The strip follows a running answer, and tokens of other mixes are left out.
func TestHeatStripLive(t *testing.T) {
	k := heated(7)
	d := k.open[0]
	d.generate("Hm", infer.Progress{Generated: 2})
	d.v.Live.Turn.Mix = sadMix()
	d.v.Live.Drawn = []infer.Token{{ID: 5, LogProb: -1}, {ID: 6, LogProb: -1, MemberLogprobs: []float32{-1, 1}}}
	b := newBench(t, k, Settings{}, 80, 24)
	b.sees("own run   ▄\ndemo-sad  █")
	b.press("alt+shift+j", "left")
	b.sees("drawn from other states")
	d.v.Live.Drawn = append(d.v.Live.Drawn, infer.Token{ID: 7, LogProb: -1, MemberLogprobs: []float32{-3, -1}})
	d.v.Version++
	b.send(frameMsg{})
	b.sees("own run   ▄▁\ndemo-sad  █▄")
	d.v.Live.Drawn = nil
	b.send(frameMsg{})
	b.seesNot("demo-sad  █")
	b.check()
	b.press("left")
	if b.m.focus != keys.Composer {
		t.Error("a strip that is gone keeps the keyboard")
	}
}

// A retry with other weights has its own mix, on the turn and in the scrubber.
func TestMixOfATurn(t *testing.T) {
	k := heated(7)
	d := k.open[0]
	d.v.Turns[1].Mix = turn.Mix{Own: turn.MixMember{Weight: 0.25}, Others: []turn.MixMember{{State: 2001, Name: "demo-sad", Weight: 2}}}
	b := newBench(t, k, Settings{}, 120, 50)
	b.sees("mix own=0.25,demo-sad=2")
	b.sees("mix own=1,demo-sad=0.5")
	b.press("f7")
	for i, want := range []string{"mix own=1,demo-sad=0.5", "", "mix own=0.25,demo-sad=2"} {
		stop := 4 - i
		b.sees(fmt.Sprintf("Stop %d of 4", stop))
		if want != "" {
			b.sees("no adapter · " + want)
		}
		b.press("left")
	}
}
