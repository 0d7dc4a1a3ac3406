package uitest_test

import (
	"testing"

	"rookery/ui"
	"rookery/ui/uitest"
)

func TestWorld(t *testing.T) {
	uitest.Run(t, func(t *testing.T) {
		w := uitest.New(t, uitest.Options{})
		w.Converse("Rooks", "Do you hear a rook?")
		term := uitest.Open(t, ui.New(t.Context(), ui.Options{Workspace: w.Workspace}), 80, 24)
		term.Sees("1 Rooks", "Do you hear a rook?", uitest.Answer)
		term.Enter("And now?")
		term.Pass(100_000_000)
		term.Sees("And now?", uitest.Answer)
		term.Check()
	})
}
