package compare_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rookery/ui/keys"
	"rookery/ui/uitest"
)

// Whatever is pressed while answers are compared, the screen keeps its promises.
func TestChaos(t *testing.T) {
	t.Chdir(t.TempDir()) // votes are exported
	var names []string
	for _, a := range keys.Actions() {
		if a.Category == keys.Comparison || a.Category == keys.Lists {
			names = append(names, keys.Default().Keys(a.ID)...)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "ctrl+c" }) // it leaves the program
	names = append(names, "f12", "alt+shift+r", "enter", "esc", "a", "1", "2", "3", "backspace", "left", "right", "f1")
	for seed := range uint64(3) {
		uitest.Run(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			g := raise(t, script{tokens: 60})
			for range 200 {
				switch r.IntN(10) {
				case 0:
					g.Resize(1+r.IntN(200), 1+r.IntN(60))
				case 1:
					g.Send(tea.MouseClickMsg{X: r.IntN(120), Y: r.IntN(40), Button: tea.MouseLeft})
				case 2:
					g.Send(tea.MouseWheelMsg{X: r.IntN(120), Y: r.IntN(40), Button: tea.MouseWheelUp})
				default:
					if len(g.host.Dialogs()) == 0 {
						g.Press([]string{"f12", "alt+shift+r"}[r.IntN(2)])
					}
					g.Press(names[r.IntN(len(names))])
				}
				g.Check()
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}
