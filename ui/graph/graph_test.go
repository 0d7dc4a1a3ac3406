package graph

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
)

var styles = map[string]Style{"braille": Braille, "blocks": Blocks, "ascii": ASCII}

// wave is a rise, a fall, a gap and a spike.
func wave(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 40 + 40*math.Sin(float64(i)/9)
		if i > n/2 && i < n/2+6 {
			out[i] = math.NaN()
		}
	}
	out[n-3] = 97
	return out
}

func TestArea(t *testing.T) {
	label := func(v float64) string { return fmt.Sprintf("%g", v) }
	for name, s := range styles {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, size := range [][2]int{{40, 7}, {60, 6}, {12, 2}, {5, 1}} {
				lines := Area(wave(100), size[0], size[1], Options{Style: s, Label: label})
				b.WriteString(strings.Join(lines, "\n") + "\n\n")
			}
			b.WriteString(strings.Join(Area([]float64{1, 2, 3}, 12, 3, Options{Style: s, Max: 3}), "\n"))
			golden.RequireEqual(t, b.String())
		})
	}
}

func TestHistogramAndBars(t *testing.T) {
	for name, s := range styles {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{32, 8, 3} {
				b.WriteString(strings.Join(Histogram([]float64{0, 1, 5, 20, 12, 3, 0, 1}, width, 4, s), "\n") + "\n\n")
			}
			for _, share := range []float64{0, 0.001, 0.3, 0.5, 0.99, 1, 2, -1, math.NaN()} {
				b.WriteString(Bar(share, 10, s) + "|\n")
			}
			b.WriteString(Sparkline(wave(60), 30, 0, s) + "|\n")
			golden.RequireEqual(t, b.String())
		})
	}
}

// Whatever the numbers, a graph has exactly the size asked for.
func TestSizes(t *testing.T) {
	inputs := map[string][]float64{
		"none": nil, "one": {3}, "zeros": make([]float64, 50), "wave": wave(200),
		"odd": {math.NaN(), math.Inf(1), math.Inf(-1), -5, math.MaxFloat64, 1e-300},
	}
	label := func(v float64) string { return fmt.Sprintf("%.3g t/s", v) }
	for style, s := range styles {
		for name, values := range inputs {
			for _, w := range []int{-1, 0, 1, 2, 7, 60} {
				for _, h := range []int{-1, 0, 1, 2, 5, 6} {
					for _, o := range []Options{{Style: s}, {Style: s, Label: label}, {Style: s, Max: 2}} {
						checkSize(t, style+" area of "+name, Area(values, w, h, o), w, h)
					}
					checkSize(t, style+" histogram of "+name, Histogram(values, w, h, s), w, h)
				}
				if got := ansi.StringWidth(Sparkline(values, w, 0, s)); got != max(0, w) {
					t.Errorf("%s sparkline of %s is %d wide, want %d", style, name, got, w)
				}
				if got := ansi.StringWidth(Bar(0.37, w, s)); got != max(0, w) {
					t.Errorf("%s bar is %d wide, want %d", style, got, w)
				}
			}
		}
	}
}

func checkSize(t *testing.T, what string, lines []string, w, h int) {
	t.Helper()
	if w <= 0 || h <= 0 {
		if len(lines) != 0 {
			t.Errorf("%s: %d lines for a size of %dx%d", what, len(lines), w, h)
		}
		return
	}
	if len(lines) != h {
		t.Errorf("%s: %d lines, want %d", what, len(lines), h)
	}
	for _, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Errorf("%s: %q is %d wide, want %d", what, l, got, w)
		}
	}
}

func TestNiceMax(t *testing.T) {
	for _, c := range []struct{ v, least, want float64 }{
		{0, 0, 1},
		{0.3, 0, 0.5},
		{1, 0, 1},
		{1.01, 0, 2},
		{4.2, 0, 5},
		{51, 0, 100},
		{100, 0, 100},
		{3, 20, 20},
		{math.NaN(), 0, 1},
		{math.Inf(1), 0, 1},
	} {
		if got := NiceMax([]float64{c.v}, c.least); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("NiceMax(%v, %v) = %v, want %v", c.v, c.least, got, c.want)
		}
	}
}

func BenchmarkArea60x6(b *testing.B) {
	values := wave(2400)
	b.ReportAllocs()
	for b.Loop() {
		_ = Area(values, 60, 6, Options{})
	}
}
