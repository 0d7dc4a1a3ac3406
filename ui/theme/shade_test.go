package theme

import "testing"

// A graph of a theme with colours of its own goes from the colour to a fainter
// one; the terminal's colours stay as they are.
func TestShades(t *testing.T) {
	const rows = 5
	for _, dark := range []bool{false, true} {
		rook, err := New("rook", dark)
		if err != nil {
			t.Fatal(err)
		}
		shades := rook.Shades(rook.Graph1, rows)
		seen := map[[3]uint32]bool{}
		last := -1
		for i, s := range shades {
			r, g, b, _ := s.GetForeground().RGBA()
			seen[[3]uint32{r, g, b}] = true
			contrast := int(r + g + b) // from black
			if !dark {
				contrast = 3*0xffff - contrast
			}
			if i > 0 && contrast >= last {
				t.Errorf("dark %v: row %d stands out more than the one above", dark, i)
			}
			last = contrast
		}
		if len(seen) != rows {
			t.Errorf("dark %v: %d shades of %d rows", dark, len(seen), rows)
		}
	}
	ansi := ansiTheme(true)
	for _, s := range ansi.Shades(ansi.Graph1, rows) {
		if s.GetForeground() != ansi.Graph1.GetForeground() {
			t.Error("a colour of the terminal was changed")
		}
	}
}
