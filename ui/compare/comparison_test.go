package compare_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/uitest"
)

// Help lies over the setup, over one that loads, and over the panes; they go on.
func TestHelpOverAComparison(t *testing.T) {
	for name, before := range map[string][]string{"setup": {"f12"}, "panes": {"f12", "enter"}} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: 80, height: 24})
			g.Press(before...)
			g.Press("f1")
			g.Sees("↑↓ scroll")
			g.Sees(map[string]string{"setup": "choose or write the value of the cell", "panes": "go to the next pane"}[name])
			g.Check()
			g.Resize(40, 12) // the top stays in reach
			g.Press("up", "down")
			g.Check()
			g.Press("esc")
			if n := len(g.host.Dialogs()); n != 1 {
				t.Fatalf("%d dialogs after the help:\n%s", n, g.Screen())
			}
		})
	}
	uitest.Run(t, func(t *testing.T) {
		m := loadable(t)
		m.gate = make(chan struct{})
		g := raise(t, m.script())
		g.Press("f12")
		g.toModel("small")
		g.Press("enter", "enter", "f1")
		g.Sees("↑↓ scroll")
		close(m.gate)
		g.Settle()
		g.Sees("2 answers side by side")
		g.SeesNot("↑↓ scroll")
	})
}

func TestComparisonGrows(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {120, 40}, {40, 10}} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: size[0], height: size[1], step: 20 * time.Millisecond, tokens: 1000})
			g.compareStates()
			g.Check()
			g.Pass(time.Second)
			g.Check()
			g.Sees("running")
			g.Press("tab", "right", "shift+tab", "4", "up", "down", "pgup", "k", "j", "g", "G", "y", "k", "y", "z", "z", "s")
			g.Check()
			g.finish()
			g.Sees("stopped")
			if rows := g.alternatives(); len(rows) != 4 || len(rows[3].Text) < 10 {
				t.Errorf("%d answers have grown", len(rows))
			}
			g.Check()
		})
	}
}

func TestComparisonMarksDifferences(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := compared(t, script{width: 200, height: 60})
		g.Sees("reference", "differs at ", "differs at ", "differs at ", "perplexity", "perplexity", "perplexity", "perplexity")
		before := perplexities(g.Screen())
		mark := g.host.Theme().SearchCurrent.Render("x")
		mark, _, _ = strings.Cut(mark, "x")
		if n := strings.Count(g.Model().View().Content, mark); n != 3 {
			t.Errorf("%d first differences are marked by %q", n, mark)
		}
		g.Press("3", "r")
		g.Pass(200 * time.Millisecond)
		g.Sees("differs at ", "differs at ", "reference", "differs at ")
		if after := perplexities(g.Screen()); len(after) != 4 || slices.Equal(before, after) {
			t.Errorf("the perplexities were %q and are %q", before, after)
		}
	})
}

// perplexities are the figures on a screen.
func perplexities(screen string) (all []string) {
	for _, part := range strings.Split(screen, "perplexity ")[1:] {
		figure, _, _ := strings.Cut(part, " ")
		all = append(all, figure)
	}
	return all
}

func TestComparisonGoesToTheDifference(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := compared(t, script{width: 80, height: 24, tokens: 400})
		up, down := g.host.Theme().Glyphs.Up, g.host.Theme().Glyphs.Down
		g.Sees(up + " │")
		g.SeesNot(down)
		g.Press("g")
		g.Sees(down + " │")
		g.SeesNot(up)
		g.Press("j")
		g.Sees(up + down + " │")
		g.Press("G", "2", "d")
		g.SeesNot(up + " │") // the first token differs already, and both scroll there
		g.Press("1", "d")
		g.Sees("This is the reference")
	})
}

func TestComparisonWithAFailedPane(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 200, height: 60})
		g.store.torn = 2002
		g.Press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "enter")
		g.finish()
		g.asks("bare|animals|sad")
		g.Sees("failed")
		g.Sees("the state of this variant", "could not be read")
		if n := len(perplexities(g.Screen())); n != 3 {
			t.Errorf("%d perplexities of three answers", n)
		}
		g.Press("3", "enter")
		g.asks("")
		if n := g.versions(); n != 4 {
			t.Errorf("%d versions stay, with the one before", n)
		}
	})
}

// A key that was pressed for the setup once too often chooses nothing.
func TestNothingIsKeptBeforeItBegins(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{step: time.Second})
		g.Press("f12", "s", "down", " ", "enter", "enter", "2", "enter", "x")
		g.asks("bare|animals")
		g.Sees("This answer has not begun")
		g.Pass(5 * time.Second)
		g.Press("enter")
		g.asks("")
	})
}

func TestComparisonEndings(t *testing.T) {
	for name, c := range map[string]struct {
		keys           []string
		goesOn         string // from the answer of this variant
		versions, tabs int
	}{
		"keep one":          {[]string{"2", "enter"}, "animals", 5, 1},
		"keep two":          {[]string{"2", " ", "4", " ", "enter"}, "sad", 5, 1},
		"only one":          {[]string{"3", "x"}, "dialogue", 2, 1},
		"only two":          {[]string{"3", " ", "2", " ", "ctrl+x"}, "animals", 3, 1},
		"leave":             {[]string{"esc"}, "bare", 5, 1},
		"discard":           {[]string{"X", "enter"}, "", 1, 1},
		"fork all":          {[]string{"f"}, "bare", 5, 5},
		"fork one":          {[]string{"2", " ", "f"}, "bare", 5, 2},
		"fork two":          {[]string{"2", " ", "3", " ", "f"}, "bare", 5, 3},
		"again":             {[]string{"a"}, "bare", 9, 1},
		"vote":              {[]string{"2", "v"}, "bare", 5, 1},
		"tie":               {[]string{"t"}, "bare", 5, 1},
		"discard, or not":   {[]string{"X", "esc"}, "bare", 5, 1},
		"reveal is no vote": {[]string{"b"}, "bare", 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				g := compared(t, script{})
				texts := map[string]string{}
				for _, r := range g.alternatives() {
					texts[r.Variant.Name] = r.Text
				}
				d := g.dialogue()
				before := d.View().Turns[1].Text // the first of the comparison leads meanwhile
				g.Press(c.keys...)
				if name != "again" {
					g.finish()
				}
				g.Check()
				v := d.View()
				last := v.Turns[len(v.Turns)-1]
				if c.goesOn != "" && last.Text != texts[c.goesOn] && name != "again" {
					t.Errorf("the conversation goes on from %q, want the answer of %q", last.Text, c.goesOn)
				}
				if c.goesOn == "" && last.Text == before {
					t.Errorf("the conversation goes on from %q, which was discarded", last.Text)
				}
				if name == "again" {
					g.finish()
					v = d.View()
				}
				if of := v.Siblings[len(v.Siblings)-1].Of; of != c.versions || len(g.host.Tabs()) != c.tabs {
					t.Errorf("%d versions and %d tabs, want %d and %d", of, len(g.host.Tabs()), c.versions, c.tabs)
				}
				votes, err := g.w.Workspace.Votes(t.Context())
				uitest.Must(t, err)
				if voted := name == "vote" || name == "tie"; (len(votes) == 1) != voted {
					t.Errorf("%d votes", len(votes))
				}
				if name == "fork one" {
					g.Sees("the answer goes on in a tab of its own")
				}
			})
		})
	}
}

func TestComparisonAgainTakesTheNextSeeds(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{})
		g.Press("f12", "n", "backspace", "3", "enter", "enter")
		g.finish()
		g.Press("a")
		if got := g.seeds(); !slices.Equal(got, []uint64{4, 5, 6}) {
			t.Errorf("asked for seeds %v", got)
		}
	})
}

// seeds are those of what is compared.
func (g *stage) seeds() (seeds []uint64) {
	for _, r := range g.alternatives() {
		seeds = append(seeds, r.Variant.Sampling.Seed)
	}
	return seeds
}

func TestBlindComparison(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 200, height: 60, step: 10 * time.Millisecond, tokens: 100})
		g.Press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "b")
		g.Sees("blind: yes")
		g.Press("enter", "v")
		g.Sees("The answers are running")
		g.finish()
		g.Pass(5 * time.Second) // they are scored
		for _, name := range []string{"bare", "animals", "dialogue", "sad", "tok/s", "perplexity"} {
			above, _, _ := strings.Cut(g.Screen(), "enter keep") // the status line has figures, too
			if strings.Contains(above, name) {
				t.Errorf("%q is seen before the vote:\n%s", name, g.Screen())
			}
		}
		g.Press("2", "v")
		_, said, _ := strings.Cut(g.Screen(), "you prefer ")
		winner, _, _ := strings.Cut(said, " ")
		if heads := strings.Split(g.Screen(), "\n")[g.Row("reference")]; !strings.Contains(heads, "2 "+winner) {
			t.Errorf("%q was preferred to others, of %q", winner, heads)
		}
		g.Sees("tok/s", "perplexity")
	})
}

func TestComparisonByMouse(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := compared(t, script{width: 200, height: 60})
		g.Send(tea.MouseClickMsg{X: 120, Y: 10, Button: tea.MouseLeft})
		g.Press("r") // what has the focus becomes the reference
		g.Sees("3 dialogue", "reference")
		g.Resize(80, 24)
		g.Send(tea.MouseClickMsg{X: 4, Y: 2, Button: tea.MouseLeft})
		g.Press("r")
		g.Sees("1 bare", "reference")
		g.Send(tea.MouseWheelMsg{X: 4, Y: 10, Button: tea.MouseWheelDown})
		g.Check()
	})
}

// Each pane that scrolls alone is the one under the pointer, whichever has the
// keyboard.
func TestComparisonWheel(t *testing.T) {
	for _, alone := range []bool{false, true} {
		uitest.Run(t, func(t *testing.T) {
			g := compared(t, script{width: 200, height: 20, tokens: 800})
			if alone {
				g.Press("y")
			}
			down := g.host.Theme().Glyphs.Down
			g.SeesNot(down)
			g.Send(tea.MouseWheelMsg{X: 120, Y: 10, Button: tea.MouseWheelUp})
			want := 4
			if alone {
				want = 1
			}
			if n := strings.Count(g.Screen(), down); n != want {
				t.Errorf("alone %v: %d panes have scrolled, want %d:\n%s", alone, n, want, g.Screen())
			}
			g.Send(tea.MouseWheelMsg{X: 120, Y: 10, Button: tea.MouseWheelLeft})
			g.Check()
		})
	}
}

// The names above the panes stand still when answers end, and the hints say how
// to get help and how to see names that are hidden.
func TestComparisonHints(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: width, height: 14, step: 50 * time.Millisecond})
			g.Press("f12", "n", "backspace", "8", "enter", "enter")
			tabs := func() string { return strings.ReplaceAll(strings.Split(g.Screen(), "\n")[2], "…", " ") }
			g.Press("z")
			running := tabs()
			g.finish()
			if tabs() != running {
				t.Errorf("at %d the names were\n%s\nand are\n%s", width, running, tabs())
			}
			g.Sees("f1 help")
		})
	}
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 80, height: 24, step: 50 * time.Millisecond})
		g.Press("f12", "b", "enter")
		g.Sees("b names")
		g.Sees("s stop")
		g.Press("b")
		g.SeesNot("b names")
	})
}
