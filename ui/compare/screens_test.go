package compare_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"rookery/ui/theme"
	"rookery/ui/uitest"
)

// screens are the states of the room that are compared with what they were.
var screens = []struct {
	name string
	do   func(g *stage)
}{
	{"compare setup", func(g *stage) { g.Press("f12", "s", "down", " ", "down", " ", "enter", "right") }},
	{"compare", func(g *stage) {
		g.store.torn = 2002
		g.Press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "enter")
		g.finish()
	}},
	{"compare zoomed", func(g *stage) {
		g.compareStates()
		g.finish()
		g.Press("3", " ", "z")
	}},
	{"best", func(g *stage) {
		g.Enter("/best 3")
		g.finish()
	}},
}

// firstToken depends on the step that a variant has come to first.
var firstToken = regexp.MustCompile(`first \d ms`)

func TestScreens(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			var all strings.Builder
			for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 12}, {200, 60}} {
				uitest.Run(t, func(t *testing.T) {
					g := raise(t, script{width: size[0], height: size[1], says: strings.Repeat(" and so on", 20), seed: 100, step: 2 * time.Millisecond, tokens: 400})
					s.do(g)
					g.Pass(2 * time.Second) // answers are scored
					g.Check()
					fmt.Fprintf(&all, "=== %dx%d\n", size[0], size[1])
					lines := strings.Split(firstToken.ReplaceAllString(g.Screen(), "first 2 ms"), "\n")
					for _, line := range lines[:len(lines)-1] { // the last has figures of the engine
						all.WriteString(strings.TrimRight(line, " ") + "\n")
					}
				})
			}
			golden.RequireEqual(t, all.String())
		})
	}
}

// A screen of ASCII alone has no other sign than those that the program
// replaces: see plainer in package ui.
func TestComparisonInASCII(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		g := raise(t, script{width: 120, height: 40, says: " and so on"})
		g.store.torn = 2002
		g.Press("f12", "s", "down", " ", "down", " ", "down", " ", "enter", "enter")
		g.finish()
		box := g.host.Dialogs()[0].Draw(g.host.Theme().WithGlyphs(theme.ASCIIGlyphs()), g.host.Keymap())
		for _, line := range box.Lines {
			for _, r := range ansi.Strip(line) {
				if r > 126 && !strings.ContainsRune("·…✗↑↓“”", r) {
					t.Errorf("the line %q shows %q", ansi.Strip(line), r)
				}
			}
		}
	})
}
