package graph

import "strings"

// Histogram draws one bar per count, side by side, in rows of exactly width
// cells. Counts that do not fit are added to their neighbours.
func Histogram(counts []float64, width, rows int, s Style) []string {
	if width <= 0 || rows <= 0 {
		return nil
	}
	bins := bin(counts, width)
	if s == Braille {
		s = Blocks // bars are at least a cell wide, and blocks are finer in height
	}
	top := largest(bins)
	columns := make([]int, width)
	if len(bins) > 0 {
		each := width / len(bins)
		for x := range each * len(bins) {
			if each < 3 || x%each < each-1 { // leave a gap between wide bars
				columns[x] = height(bins[x/each], top, rows*s.steps())
			}
		}
	}
	p := plot{columns: columns, style: s}
	lines := make([]string, rows)
	for y := range lines {
		lines[y] = string(p.row(nil, rows-1-y))
	}
	return lines
}

// bin adds up neighbours until there are at most n.
func bin(counts []float64, n int) []float64 {
	if len(counts) <= n {
		return counts
	}
	out := make([]float64, n)
	for i, c := range counts {
		out[i*n/len(counts)] += c
	}
	return out
}

// Bar is a horizontal bar of exactly width cells, filled to a share between 0
// and 1. A share above zero always shows.
func Bar(share float64, width int, s Style) string {
	if width <= 0 {
		return ""
	}
	if !(share > 0) {
		share = 0
	}
	share = min(share, 1)
	if s == ASCII {
		n := int(share*float64(width) + 0.5)
		if n == 0 && share > 0 {
			return "." + strings.Repeat(" ", width-1)
		}
		return strings.Repeat("#", n) + strings.Repeat(" ", width-n)
	}
	const parts = "▏▎▍▌▋▊▉"
	eighths := int(share*float64(8*width) + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(parts)[rest-1])
	}
	return bar + strings.Repeat(" ", width-(eighths+7)/8)
}
