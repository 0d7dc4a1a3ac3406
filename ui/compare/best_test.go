package compare_test

import (
	"slices"
	"testing"

	"rookery/ui/uitest"
)

// The best of several is a comparison of one variant with consecutive seeds.
func TestBest(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {120, 40}, {40, 10}} {
		uitest.Run(t, func(t *testing.T) {
			g := raise(t, script{width: size[0], height: size[1]})
			g.Enter("/best 3")
			g.Sees("3 answers side by side")
			g.Check()
			g.finish()
			first := g.alternatives()[0].Variant.Sampling.Seed
			if got := g.seeds(); !slices.Equal(got, []uint64{first, first + 1, first + 2}) {
				t.Errorf("the seeds are %v", got)
			}
			g.Check()
			g.Press("2", "enter")
			g.asks("")
			if n := g.versions(); n != 4 {
				t.Errorf("%d versions, want the one before and three", n)
			}
			g.Check()
		})
	}
}

func TestBestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		keys           []string
		at             int // the answer that the conversation goes on from
		versions, tabs int
	}{
		"the focused one": {[]string{"enter"}, 0, 5, 1},
		"another one":     {[]string{"right", "enter"}, 1, 5, 1},
		"only one":        {[]string{"3", "ctrl+x"}, 2, 2, 1},
		"several":         {[]string{"3", " ", "4", " ", "ctrl+x"}, 3, 3, 1},
		"leave":           {[]string{"esc"}, 0, 5, 1},
		"a tab for each":  {[]string{"f"}, 0, 5, 5},
		"a tab for one":   {[]string{"2", " ", "f"}, 0, 5, 2},
	} {
		t.Run(name, func(t *testing.T) {
			uitest.Run(t, func(t *testing.T) {
				g := raise(t, script{width: 120, height: 40})
				g.Press("alt+shift+r")
				g.finish()
				g.Sees("1 seed ", "2 seed ", "perplexity")
				d, rows := g.dialogue(), g.alternatives()
				g.Press(c.keys...)
				v := d.View()
				if last := v.Turns[len(v.Turns)-1]; last.ID != rows[c.at].Turn.ID {
					t.Errorf("the conversation goes on from %q, want %q", last.Text, rows[c.at].Text)
				}
				if of := v.Siblings[len(v.Siblings)-1].Of; of != c.versions || len(g.host.Tabs()) != c.tabs {
					t.Errorf("%d versions and %d tabs, want %d and %d", of, len(g.host.Tabs()), c.versions, c.tabs)
				}
				if v.Conversation.Sampling.Seed != 0 {
					t.Errorf("the conversation has the seed %d", v.Conversation.Sampling.Seed)
				}
			})
		})
	}
}

// The same again takes the seeds that follow; there is nothing to vote on; what
// was left open is shown again.
func TestBestAgain(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 120, height: 40})
		g.Enter("/best 2")
		g.finish()
		before := g.seeds()
		g.Press("v")
		g.Sees("these are answers of one variant")
		g.Press("a")
		g.finish()
		if got := g.seeds(); !slices.Equal(got, []uint64{before[0] + 2, before[1] + 2}) {
			t.Errorf("the seeds were %v and are %v", before, got)
		}
		g.Press("v")
		g.Sees("these are answers of one variant")
		g.host.CloseDialogs()
		g.Press("alt+shift+r")
		g.Sees("2 answers side by side", "1 seed ")
	})
}

func TestBestOfWhatIsWritten(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{empty: true})
		g.Enter("/best 3")
		g.Sees("there is no turn to go on from")
		g.Press("esc", "ctrl+u")
		g.Type("a new prompt")
		g.Press("alt+shift+r")
		g.Sees("4 answers side by side: a new prompt")
		if got := g.host.Tab().Prompt().Text(); got != "" || g.prompt() != "a new prompt" {
			t.Errorf("the composer has %q, the prompt is %q", got, g.prompt())
		}
		g.finish()
		g.Press("esc")
		g.Enter("/best 12")
		g.Sees("choose from 2 to 8 answers, not 12")
	})
}
