package kit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/theme"
)

func testArea(t testing.TB, width int, text string) TextArea {
	th, err := theme.New("", true)
	if err != nil {
		t.Fatal(err)
	}
	a := NewTextArea(th, "")
	a.SetWidth(width)
	a.Insert(text)
	return a
}

func TestEditing(t *testing.T) {
	for _, c := range []struct {
		name, text string
		do         []keys.ID
		want       string
	}{
		{"left", "ab", []keys.ID{keys.CharLeft}, "a|b"},
		{"left over the edge", "a\nb", []keys.ID{keys.CharLeft, keys.CharLeft}, "a|\nb"},
		{"right over the edge", "a\nb", []keys.ID{keys.LineStart, keys.CharLeft, keys.CharRight}, "a\n|b"},
		{"right at the end", "ab", []keys.ID{keys.CharRight}, "ab|"},
		{"word left", "one two  ", []keys.ID{keys.WordLeft}, "one |two  "},
		{"words right", "one two", []keys.ID{keys.LineStart, keys.WordRight, keys.WordRight}, "one two|"},
		{"line start and end", "ab\ncd", []keys.ID{keys.LineStart}, "ab\n|cd"},
		{"delete left", "ab", []keys.ID{keys.DeleteLeft}, "a|"},
		{"delete left joins", "a\nb", []keys.ID{keys.LineStart, keys.DeleteLeft}, "a|b"},
		{"delete left of nothing", "", []keys.ID{keys.DeleteLeft}, "|"},
		{"delete right", "ab", []keys.ID{keys.LineStart, keys.DeleteRight}, "|b"},
		{"delete right joins", "a\nb", []keys.ID{keys.LineStart, keys.CharLeft, keys.DeleteRight}, "a|b"},
		{"delete word", "one two", []keys.ID{keys.DeleteWord}, "one |"},
		{"delete word right", "one two", []keys.ID{keys.LineStart, keys.DeleteWordNext}, "| two"},
		{"delete to start", "one\ntwo", []keys.ID{keys.CharLeft, keys.DeleteToStart}, "one\n|o"},
		{"delete to start twice", "one\ntwo", []keys.ID{keys.DeleteToStart, keys.DeleteToStart}, "one|"},
		{"delete to end", "one\ntwo", []keys.ID{keys.LineStart, keys.DeleteToEnd}, "one\n|"},
		{"delete to end twice", "one\ntwo", []keys.ID{keys.LineStart, keys.CharLeft, keys.DeleteToEnd}, "one|two"},
		{"a family is one character", "a👩‍👩‍👧b", []keys.ID{keys.CharLeft, keys.DeleteLeft}, "a|b"},
		{"so is a letter with its accent", "cafe\u0301", []keys.ID{keys.DeleteLeft}, "caf|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := testArea(t, 40, c.text)
			for _, id := range c.do {
				if !a.Edit(id) {
					t.Fatalf("%s is not an editing action", id)
				}
			}
			a.Insert("|")
			if a.Value() != c.want {
				t.Errorf("%q, want %q", a.Value(), c.want)
			}
		})
	}
}

func TestAreaMovesUpAndDownInRows(t *testing.T) {
	a := testArea(t, 10, "one two three four\n日本語日本語日本\nx")
	var places [][2]int
	for {
		row, cell := a.place()
		places = append(places, [2]int{row, cell})
		if !a.Up() {
			break
		}
	}
	if want := [][2]int{{4, 1}, {3, 0}, {2, 0}, {1, 1}, {0, 1}}; len(places) != len(want) {
		t.Fatalf("rows %v, want %v", places, want)
	} else {
		for i := range want {
			if places[i] != want[i] {
				t.Errorf("step %d at %v, want %v", i, places[i], want[i])
			}
		}
	}
	for a.Down() {
	}
	if row, _ := a.place(); row != 4 {
		t.Errorf("down ends in row %d", row)
	}
}

// TestAreaAgainstAPlainString edits at random and compares with a string.
func TestAreaAgainstAPlainString(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bits := []string{"a", "b ", "\n", "日本", "wörter ", "  ", "long-word-without-end", "👍🏽"}
	a := testArea(t, 12, "")
	text, at := "", 0
	for range 4000 {
		switch r.IntN(5) {
		case 0, 1:
			bit := bits[r.IntN(len(bits))]
			a.Insert(bit)
			text = text[:at] + bit + text[at:]
			at += len(bit)
		case 2:
			a.Edit(keys.CharLeft)
			at -= lastCluster(text[:at])
		case 3:
			a.Edit(keys.DeleteLeft)
			cut := lastCluster(text[:at])
			text, at = text[:at-cut]+text[at:], at-cut
		case 4:
			a.SetWidth(1 + r.IntN(30))
			a.Scroll(5)
			lines, x, y := a.Draw(5)
			if x > a.width || y >= 5 || len(lines) > 5 {
				t.Fatalf("%d rows, the cursor at %d,%d", len(lines), x, y)
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w > a.width && w > 2 {
					t.Fatalf("a row of %d cells in a width of %d: %q", w, a.width, line)
				}
			}
		}
		if a.Value() != text {
			t.Fatalf("%q, want %q", a.Value(), text)
		}
		if len(text) > 500 {
			a.Set("")
			text, at = "", 0
		}
	}
}

// lastCluster is how many bytes the last character of a text has.
func lastCluster(text string) int {
	last := ""
	for rest := text; rest != ""; {
		if strings.HasPrefix(rest, "\n") {
			last, rest = "\n", rest[1:]
			continue
		}
		last, _ = ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(last):]
	}
	return len(last)
}
