package states

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"rookery/infer/rwkv"
	"rookery/ui/theme"
)

func TestHeatmapOfManyHeads(t *testing.T) {
	var norms []rwkv.Norms
	for range 61 {
		norms = append(norms, rwkv.Norms{Heads: make([]float64, 64)})
	}
	norms[60].Heads[63] = 5
	h := newHeatmap(norms)
	th, err := theme.New(theme.Default, true)
	if err != nil {
		t.Fatal(err)
	}
	if lines := h.lines(th, true, 74); len(lines) != 31 || ansi.StringWidth(lines[0]) != 72 {
		t.Errorf("%d lines of %d cells", len(lines), ansi.StringWidth(lines[0]))
	}
	lines := h.lines(th, false, 74)
	if len(lines) != 61 || !strings.HasSuffix(lines[60], " █") {
		t.Errorf("%d lines, the last %q", len(lines), lines[60])
	}
}
