package states

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"rookery/infer/rwkv"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A heatmap is the norms of a state: a row for each layer, a column for each head.
type heatmap struct {
	norms []rwkv.Norms
	low   float64 // the smallest and the largest norm of a head
	high  float64
}

func newHeatmap(norms []rwkv.Norms) heatmap {
	h := heatmap{norms: norms}
	for i, n := range norms {
		for j, v := range n.Heads {
			if i+j == 0 || v < h.low {
				h.low = v
			}
			h.high = max(h.high, v)
		}
	}
	return h
}

// shades are the levels without colours, with block elements and without.
var shades = map[bool][]string{
	true:  {" ", "░", "▒", "▓", "█"},
	false: {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"},
}

// inks are the levels in the colours of a theme, from cold to hot.
func inks(th theme.Theme) []lipgloss.Style {
	return []lipgloss.Style{th.Graph2, th.Code, th.Graph1, th.Warning, th.Graph3, th.Error.Bold(false)}
}

// level is which of n levels a norm is on.
func (h heatmap) level(v float64, n int) int {
	if h.high <= h.low {
		return n - 1
	}
	return min(n-1, int((v-h.low)/(h.high-h.low)*float64(n)))
}

// heatGutter is the width of the layer numbers.
const heatGutter = 8

// lines draws the map within a width. With colours two layers share a line, as
// the halves of its cells; without them every layer has its own and its level
// is a shade.
func (h heatmap) lines(th theme.Theme, colours bool, width int) []string {
	if len(h.norms) == 0 || len(h.norms[0].Heads) == 0 {
		return nil
	}
	heads := len(h.norms[0].Heads)
	cell := max(1, min(6, (width-heatGutter)/heads))
	if colours && th.Glyphs.Braille {
		return h.halves(th, cell, width)
	}
	ramp := shades[th.Glyphs.Braille]
	var lines []string
	for i, n := range h.norms {
		var b strings.Builder
		for _, v := range n.Heads {
			b.WriteString(strings.Repeat(ramp[h.level(v, len(ramp))], cell))
		}
		lines = append(lines, kit.Fit(fmt.Sprintf("%5d   ", i)+b.String(), width))
	}
	return lines
}

func (h heatmap) halves(th theme.Theme, cell, width int) []string {
	ramp := inks(th)
	var lines []string
	for i := 0; i < len(h.norms); i += 2 {
		label := fmt.Sprintf("%5d   ", i)
		if i+1 < len(h.norms) {
			label = fmt.Sprintf("%3d-%-3d ", i, i+1)
		}
		var b strings.Builder
		for j, v := range h.norms[i].Heads {
			style := lipgloss.NewStyle().Foreground(ramp[h.level(v, len(ramp))].GetForeground())
			if i+1 < len(h.norms) {
				style = style.Background(ramp[h.level(h.norms[i+1].Heads[j], len(ramp))].GetForeground())
			}
			b.WriteString(style.Render(strings.Repeat("▀", cell)))
		}
		lines = append(lines, kit.Fit(th.Muted.Render(label)+b.String(), width))
	}
	return lines
}

// legend says what the colours or shades mean.
func (h heatmap) legend(th theme.Theme, colours bool) string {
	var b strings.Builder
	if colours && th.Glyphs.Braille {
		for _, ink := range inks(th) {
			b.WriteString(lipgloss.NewStyle().Foreground(ink.GetForeground()).Render("██"))
		}
	} else {
		for _, s := range shades[th.Glyphs.Braille] {
			b.WriteString(s + s)
		}
	}
	return th.Muted.Render(fmt.Sprintf("norm %.4g ", h.low)) + b.String() + th.Muted.Render(fmt.Sprintf(" %.4g", h.high))
}
