package compare

import (
	"slices"
	"testing"

	"rookery/ui/theme"
)

func TestPaneTextGrowsAsItIsMadeAtOnce(t *testing.T) {
	th, err := theme.New("", true)
	if err != nil {
		t.Fatal(err)
	}
	text := "One paragraph of several words, 中文字符 too.\n\nAnother\tone\nand a last line that is long enough to be broken"
	for _, width := range []int{1, 7, 20, 200} {
		var grown, whole paneText
		for i := range text {
			grown.set(text[:i], width)
		}
		grown.set(text, width)
		whole.set(text, width)
		a, b := grown.draw(th, 0, 1000, span{}, span{4, 9}), whole.draw(th, 0, 1000, span{}, span{4, 9})
		if !slices.Equal(a, b) || len(a) != len(whole.rows) {
			t.Errorf("at width %d the text is %q, at once %q", width, a, b)
		}
	}
}

// BenchmarkPaneText is a frame of eight panes that have all grown by a word.
func BenchmarkPaneText(b *testing.B) {
	th, err := theme.New("", true)
	if err != nil {
		b.Fatal(err)
	}
	text := ""
	for range 160 {
		text += "Once there was a rook that wanted to see the sea. "
	}
	var panes [8]paneText
	for b.Loop() {
		text += " more"
		for i := range panes {
			panes[i].set(text[i:], 48)
			panes[i].draw(th, len(panes[i].rows)-50, 50, span{}, span{4, 9})
		}
	}
}
