package kit

import (
	"math/rand/v2"
	"testing"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

// Whatever was done to a text, undo goes back through it and redo forth again.
func TestUndoGoesBackThroughEverything(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		a := NewTextArea(theme.Theme{}, "")
		a.SetWidth(7)
		pieces := []string{"a", "b", " ", "\n", "two\nlines", "猫", "long word "}
		edits := []keys.ID{keys.DeleteLeft, keys.DeleteRight, keys.DeleteWord, keys.DeleteToStart, keys.CharLeft, keys.LineEnd, keys.WordLeft}
		for range 60 {
			switch random.IntN(5) {
			case 0, 1:
				a.Insert(pieces[random.IntN(len(pieces))])
			case 2:
				a.Set(pieces[random.IntN(len(pieces))])
			default:
				a.Edit(edits[random.IntN(len(edits))])
			}
			a.SetWidth(4 + random.IntN(9))
		}
		end := a.Value()
		steps := []string{end}
		for a.Undo() {
			steps = append(steps, a.Value())
		}
		if !a.Empty() {
			t.Fatalf("seed %d: all taken back leaves %q", seed, a.Value())
		}
		for i := len(steps) - 2; i >= 0; i-- {
			if !a.Redo() || a.Value() != steps[i] {
				t.Fatalf("seed %d: step %d forth is %q, want %q", seed, i, a.Value(), steps[i])
			}
		}
		if a.Redo() || a.Value() != end {
			t.Fatalf("seed %d: at the end %q, want %q", seed, a.Value(), end)
		}
	}
}
