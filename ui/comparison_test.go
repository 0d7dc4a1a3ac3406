package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer/statefile"
)

// compareDesks is a workspace with a conversation, states and adapters.
func compareDesks() *fakeDesk {
	k := &fakeDesk{open: []*fakeDialogue{lecture(1)}}
	for i, name := range []string{"animals", "dialogue", "sad"} {
		k.states = append(k.states, turn.State{ID: turn.ID(i + 1), State: statefile.State{Name: name, ModelName: "test"}})
	}
	for _, name := range []string{"pirate", "broken"} {
		k.rack = append(k.rack, turn.RegisteredAdapter{Adapter: turn.Adapter{Name: name}})
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

// What is written wrong is said where it is written, and stays to be put right:
// enter, pressed once more, starts nothing.
// What the setup misses is not missed any more once it is written.
// Help lies over the setup, over one that loads, and over the panes; they go on.
func TestHelpOverAComparison(t *testing.T) {
	for name, before := range map[string][]string{"setup": {"f12"}, "panes": {"f12", "enter"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, compareDesks(), Settings{}, 80, 24)
			b.press(before...)
			b.press("f1")
			b.sees("↑↓ scroll")
			b.sees(map[string]string{"setup": "choose or write the value of the cell", "panes": "go to the next pane"}[name])
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
	for i := range d.v.Alternatives {
		d.v.Alternatives[i].Text = strings.Repeat("the same line\n", 40) + d.v.Alternatives[i].Text + strings.Repeat("\nanother line", 40)
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
	best := b.k.open[0].v.Alternatives
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
		for i := range d.v.Alternatives {
			d.v.Alternatives[i].Text = strings.Repeat("a line\n", 60)
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
	p := &plain{ctx: t.Context(), workspace: k, model: modelOf(k), out: &out, d: d}
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
		for i := range d.v.Alternatives {
			d.v.Alternatives[i].Text = text[i:]
		}
		k.send(frameMsg{})
		k.m.View()
	}
}
