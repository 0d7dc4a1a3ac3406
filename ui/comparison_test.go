package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/infer/statefile"
)

// compareDesks is a desk with a conversation, states and adapters.
func compareDesks() *fakeDesk {
	k := &fakeDesk{open: []*fakeDialogue{lecture(1)}}
	for i, name := range []string{"animals", "dialogue", "sad"} {
		k.states = append(k.states, chat.State{ID: chat.ID(i + 1), State: statefile.State{Name: name, ModelName: "test"}})
	}
	for _, name := range []string{"pirate", "broken"} {
		k.rack = append(k.rack, chat.Racked{Adapter: chat.Adapter{Name: name}})
	}
	return k
}

// compared starts a comparison of the bare model with three states that has
// ended; the variants that are named have failed.
func compared(b *bench, failed ...string) *fakeDialogue {
	d := b.k.open[0]
	b.press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "enter")
	if len(failed) > 0 {
		failed = []string{"dialogue"}
	}
	d.rows(false)
	b.send(frameMsg{})
	d.rows(true, failed...)
	if len(failed) > 0 {
		d.v.Err = errors.New("the state of this variant could not be read")
	}
	b.send(frameMsg{})
	return d
}

// top is the comparison that is shown.
func (b *bench) comparison() *comparison {
	b.t.Helper()
	if n := len(b.m.dialogs); n > 0 {
		if c, ok := b.m.dialogs[n-1].(*comparison); ok {
			return c
		}
	}
	b.t.Fatalf("no comparison is shown:\n%s", b.screen())
	return nil
}

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

// What the setup misses is not missed any more once it is written.
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

// Help lies over the setup, over one that loads, and over the panes; they go on.
func TestHelpOverAComparison(t *testing.T) {
	for name, before := range map[string][]string{"setup": {"f12"}, "panes": {"f12", "enter"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, compareDesks(), Settings{}, 80, 24)
			b.press(before...)
			b.press("f1")
			b.sees("↑↓ scroll")
			b.sees(map[string]string{"setup": "choose or write what the cell", "panes": "go to the next pane"}[name])
			b.check()
			b.send(tea.WindowSizeMsg{Width: 40, Height: 12}) // the top stays in reach
			b.press("up", "down")
			b.check()
			b.press("esc")
			if len(b.m.dialogs) != 1 {
				t.Fatalf("%d dialogs after the help:\n%s", len(b.m.dialogs), b.screen())
			}
		})
	}
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.press("f12", "f1")
	s := b.m.dialogs[0].(*setup)
	s.busy = true
	b.send(preparedMsg{compareNow{s: s}, s.variants(), nil})
	b.did("compare seed 1|seed 2")
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
	if !b.m.tab().composer.empty() {
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

func TestComparisonGrows(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {120, 40}, {40, 10}} {
		b := newBench(t, compareDesks(), Settings{}, size[0], size[1])
		b.press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "enter")
		d := b.k.open[0]
		b.did("compare bare|animals|dialogue|sad")
		b.check()
		d.rows(false)
		b.send(frameMsg{})
		b.check()
		b.sees("running")
		if size[1] > 10 {
			b.sees("Once there was aaa")
		}
		b.press("tab", "right", "shift+tab", "4", "up", "down", "pgup", "k", "j", "g", "G", "y", "k", "y", "z", "z", "s")
		b.did("stop")
		b.check()
		d.rows(true)
		b.send(frameMsg{})
		b.did("judge 4 by bare")
		b.check()
	}
}

func TestComparisonMarksDifferences(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 200, 60)
	compared(b)
	b.sees("reference")
	b.sees("differs at 16")
	b.sees("perplexity 2.72")
	mark := b.m.th.SearchCurrent.Render("b")
	if !strings.Contains(b.m.View().Content, mark) {
		t.Errorf("the first token that differs is not marked by %q", mark)
	}
	b.press("3", "r")
	b.did("judge 4 by dialogue")
	if c := b.comparison(); !c.panes[2].differs.empty() || c.panes[0].differs.from != 15 {
		t.Errorf("the reference differs at %v, the first at %v", c.panes[2].differs, c.panes[0].differs)
	}
}

func TestComparisonGoesToTheDifference(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	d := compared(b)
	for i := range d.v.Best {
		d.v.Best[i].Text = strings.Repeat("the same line\n", 40) + d.v.Best[i].Text + strings.Repeat("\nanother line", 40)
	}
	b.send(frameMsg{})
	up, down := b.m.th.Glyphs.Up, b.m.th.Glyphs.Down
	b.seesNot("Once there was")
	b.sees(up + " │")
	b.seesNot(down)
	b.press("g")
	b.sees(down + " │")
	b.seesNot(up)
	b.press("j")
	b.sees(up + down + " │")
	b.press("2", "d")
	b.sees("Once there was bbb")
	b.sees("Once there was aaa") // the reference beside it scrolls too
	b.press("1", "d")
	b.sees("This is the reference")
}

func TestComparisonWithAFailedPane(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 200, 60)
	compared(b, "one")
	b.sees("failed")
	b.sees("the state of this variant could not be read")
	b.did("judge 3 by bare")
	b.press("3", "enter")
	b.did("keep [] false")
}

// A key that was pressed for the setup once too often chooses nothing.
func TestNothingIsKeptBeforeItBegins(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 100, 30)
	b.press("f12", "s", "down", " ", "enter", "enter")
	best := b.k.open[0].v.Best
	said := best[0].Text
	best[0].Text = ""
	b.send(frameMsg{})
	b.press("enter", "x")
	b.did("compare bare|animals")
	b.sees("This answer has not begun")
	best[0].Text = said
	b.send(frameMsg{})
	b.press("enter")
	b.did("keep [500] false")
}

func TestComparisonEndings(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
		tabs int
	}{
		"keep one":          {[]string{"2", "enter"}, "keep [501] false", 1},
		"keep two":          {[]string{"2", " ", "4", " ", "enter"}, "keep [503 501] false", 1},
		"only one":          {[]string{"3", "x"}, "keep [502] true", 1},
		"leave":             {[]string{"esc"}, "keep [] false", 1},
		"discard":           {[]string{"X", "enter"}, "keep [] true", 1},
		"fork all":          {[]string{"f"}, "keep [] false", 5},
		"fork one":          {[]string{"2", " ", "f"}, "keep [] false", 2},
		"fork two":          {[]string{"2", " ", "3", " ", "f"}, "keep [] false", 3},
		"again":             {[]string{"a"}, "compare bare|animals|dialogue|sad", 1},
		"vote":              {[]string{"2", "v"}, "vote 501", 1},
		"tie":               {[]string{"t"}, "vote 0", 1},
		"discard, or not":   {[]string{"X", "esc"}, "judge 4 by bare", 1},
		"reveal is no vote": {[]string{"b"}, "judge 4 by bare", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, compareDesks(), Settings{}, 100, 30)
			d := compared(b)
			b.press(c.keys...)
			b.check()
			if name == "fork one" {
				b.sees("the answer goes on in a tab of its own")
			}
			if last := d.calls[len(d.calls)-1]; last != c.want || len(b.m.tabs) != c.tabs {
				t.Errorf("asked for %q with %d tabs, want %q with %d", last, len(b.m.tabs), c.want, c.tabs)
			}
		})
	}
}

func TestComparisonAgainTakesTheNextSeeds(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 100, 30)
	b.press("f12", "n", "backspace", "3", "enter", "enter")
	d := b.k.open[0]
	d.rows(true)
	b.send(frameMsg{})
	b.press("a")
	var seeds []uint64
	for _, v := range d.asked {
		seeds = append(seeds, v.Sampling.Seed)
	}
	if !slices.Equal(seeds, []uint64{4, 5, 6}) {
		t.Errorf("asked for seeds %v", seeds)
	}
}

func TestBlindComparison(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{}, 200, 60)
	b.press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "b")
	b.sees("blind: yes")
	b.press("enter")
	d := b.k.open[0]
	d.rows(false)
	b.send(frameMsg{})
	b.press("v")
	b.sees("The answers are running")
	c := b.comparison()
	order := slices.Clone(c.order)
	d.rows(true)
	b.send(frameMsg{})
	if !slices.Equal(order, c.order) {
		t.Errorf("the panes were %v and are %v", order, c.order)
	}
	for _, name := range []string{"bare", "animals", "dialogue", "sad", "12.5 tok/s", "perplexity"} {
		b.seesNot(name)
	}
	b.press("2", "v")
	b.did(fmt.Sprintf("vote %d", 500+order[1]))
	b.sees("you prefer " + []string{"bare", "animals", "dialogue", "sad"}[order[1]])
	b.sees("12.5 tok/s")
	if !slices.Equal(order, c.order) {
		t.Errorf("the panes moved from %v to %v", order, c.order)
	}
}

func TestComparisonByMouse(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{Mouse: true}, 200, 60)
	compared(b)
	b.send(tea.MouseClickMsg{X: 120, Y: 10, Button: tea.MouseLeft})
	if c := b.comparison(); c.focus != 2 {
		t.Errorf("a click in the third of four panes went to %d", c.focus)
	}
	b.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	b.send(tea.MouseClickMsg{X: 4, Y: 2, Button: tea.MouseLeft})
	if c := b.comparison(); c.focus != 0 {
		t.Errorf("a click on the first tab went to %d", c.focus)
	}
	b.send(tea.MouseWheelMsg{X: 4, Y: 10, Button: tea.MouseWheelDown})
	b.check()
}

// Each pane that scrolls alone is the one under the pointer, whichever has the
// keyboard.
func TestComparisonWheel(t *testing.T) {
	for _, alone := range []bool{false, true} {
		b := newBench(t, compareDesks(), Settings{Mouse: true}, 200, 20)
		d := compared(b)
		for i := range d.v.Best {
			d.v.Best[i].Text = strings.Repeat("a line\n", 60)
		}
		b.send(frameMsg{})
		c := b.comparison()
		c.alone = alone
		before := c.panes[0].top
		b.send(tea.MouseWheelMsg{X: 120, Y: 10, Button: tea.MouseWheelUp})
		if c.panes[2].top >= before || (c.panes[0].top == before) != alone || c.focus != 0 {
			t.Errorf("alone %v: the panes are at %d and %d of %d, focus %d", alone, c.panes[0].top, c.panes[2].top, before, c.focus)
		}
		b.send(tea.MouseWheelMsg{X: 120, Y: 10, Button: tea.MouseWheelLeft})
		b.check()
	}
}

// The names above the panes stand still when answers end, and the hints say how
// to get help and how to see names that are hidden.
func TestComparisonHints(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		b := newBench(t, compareDesks(), Settings{}, width, 14)
		b.press("f12", "n", "backspace", "8", "enter", "enter")
		d := b.k.open[0]
		tabs := func() string { return strings.ReplaceAll(strings.Split(b.screen(), "\n")[2], "…", " ") }
		d.rows(false)
		b.send(frameMsg{})
		b.press("z")
		running := tabs()
		d.rows(true)
		b.send(frameMsg{})
		if tabs() != running {
			t.Errorf("at %d the names were\n%s\nand are\n%s", width, running, tabs())
		}
		b.sees("f1 help")
	}
	b := newBench(t, compareDesks(), Settings{}, 80, 24)
	b.press("f12", "b", "enter")
	b.sees("b names")
	b.sees("s stop")
	b.press("b")
	b.seesNot("b names")
}

func TestComparisonWithoutColours(t *testing.T) {
	b := newBench(t, compareDesks(), Settings{Appearance: "light"}, 120, 40)
	b.m.setASCII(true)
	compared(b, "one")
	for i, r := range b.screen() {
		if r > 126 {
			t.Fatalf("the screen shows %q at %d:\n%s", r, i, b.screen())
		}
	}
}

func TestPaneTextGrowsAsItIsMadeAtOnce(t *testing.T) {
	text := "One paragraph of several words, 中文字符 too.\n\nAnother\tone\nand a last line that is long enough to be broken"
	for _, width := range []int{1, 7, 20, 200} {
		var grown, whole paneText
		for i := range text {
			grown.set(text[:i], width)
		}
		grown.set(text, width)
		whole.set(text, width)
		th := defaultTheme(true)
		a, b := grown.draw(th, 0, 1000, span{}, span{4, 9}), whole.draw(th, 0, 1000, span{}, span{4, 9})
		if !slices.Equal(a, b) || len(a) != len(whole.rows) {
			t.Errorf("at width %d the text is %q, at once %q", width, a, b)
		}
	}
}

func TestPlainCompare(t *testing.T) {
	k := compareDesks()
	d := k.open[0]
	var out strings.Builder
	p := &plain{ctx: t.Context(), desk: k, model: modelOf(k), out: &out, d: d}
	if err := p.command("compare", "everything"); err == nil || !strings.Contains(err.Error(), "/compare states") {
		t.Errorf("an unknown word is refused with %v", err)
	}
	if err := p.command("compare", "states And then?"); err != nil {
		t.Fatal(err)
	}
	if last := d.calls[len(d.calls)-1]; last != `compare "And then?" bare|animals|dialogue|sad` {
		t.Errorf("asked for %s", last)
	}
	d.rows(true)
	p.speak()
	for _, want := range []string{"4 answers are being made.", "Answer 2 of 4, animals, 41 tokens, 12.5 a second, the first after 0.31 s, perplexity 7.39 for the first: Once there was bbb"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, out.String())
		}
	}
}

// BenchmarkComparison is a frame of eight panes that have all grown by a word.
func BenchmarkComparison(b *testing.B) {
	k := newBench(b, compareDesks(), Settings{}, 200, 60)
	k.press("f12", "n", "backspace", "8", "enter", "enter")
	d := k.k.open[0]
	text := strings.Repeat("Once there was a rook that wanted to see the sea. ", 160)
	for b.Loop() {
		text += " more"
		for i := range d.v.Best {
			d.v.Best[i].Text = text[i:]
		}
		k.send(frameMsg{})
		k.m.View()
	}
}
