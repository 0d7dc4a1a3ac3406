package compare

import "testing"

// Texts part between characters, not within them.
func TestCommonTextHasWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a rook", "a rook", 6},
		{"a rook", "a rook flew", 6},
		{"a rook flew", "a rook", 6},
		{"a crow", "a rook", 2},
		{"é", "è", 0},
		{"a é", "a è", 2},
		{"乌鸦", "乌鸣", 3},
	} {
		if got := commonText(c.a, c.b); got != c.want {
			t.Errorf("%q and %q have %d bytes in common, want %d", c.a, c.b, got, c.want)
		}
	}
}
