package panel

import (
	"math"
	"time"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/graph"
)

// A Pace is what tokens have cost at a part of a conversation: of a model with
// a recurrent state the same everywhere.
type Pace struct {
	From, To int // tokens before it, and with it
	PerToken time.Duration
}

// SetPaces tells the monitor what the tokens of the conversation in sight have
// cost. The slice is not kept.
func (m *Monitor) SetPaces(paces []Pace) {
	m.paces = append(m.paces[:0], paces...)
	m.drawn = nil
}

// paceLines are the milliseconds for a token against its position.
func (m *Monitor) paceLines(width, rows int) []string {
	total, cost := 0, time.Duration(0)
	end := 0
	for _, p := range m.paces {
		total += p.To - p.From
		cost += p.PerToken * time.Duration(p.To-p.From)
		end = max(end, p.To)
	}
	if total == 0 {
		return nil
	}
	lines := []string{spread(m.th.Title.Render("ms a token by position"), millis(cost/time.Duration(total))+" ms", width, m.th.Glyphs.Ellipsis)}
	const gutter = 6
	if !m.drawsGraphs() || width < 2*gutter {
		return lines
	}
	style := m.style()
	area := graph.Area(m.paceColumns(end, style.Columns(width-gutter)), width, rows, graph.Options{
		Style: style,
		Label: func(v float64) string { return pad(scaleNumber(v), gutter-1) },
	})
	for i, ink := range m.th.Shades(m.th.Graph3, len(area)) {
		lines = append(lines, m.th.Muted.Render(ansi.Cut(area[i], 0, gutter))+ink.Render(ansi.Cut(area[i], gutter, width)))
	}
	return append(lines, m.th.Muted.Render(spread(pad("", gutter)+"0", count(uint64(end))+" tokens", width, m.th.Glyphs.Ellipsis)))
}

// paceColumns are n means over equal parts of the positions up to end, in
// milliseconds; NaN where no token was drawn.
func (m *Monitor) paceColumns(end, n int) []float64 {
	sums, weights := make([]float64, n), make([]float64, n)
	for _, p := range m.paces {
		ms := float64(p.PerToken) / float64(time.Millisecond)
		for i := p.From * n / end; i < n && i*end < p.To*n; i++ {
			from, to := max(float64(p.From), float64(i*end)/float64(n)), min(float64(p.To), float64((i+1)*end)/float64(n))
			if w := to - from; w > 0 {
				sums[i] += ms * w
				weights[i] += w
			}
		}
	}
	for i := range sums {
		if weights[i] == 0 {
			sums[i] = math.NaN()
		} else {
			sums[i] /= weights[i]
		}
	}
	return sums
}

// pad puts a short text to the right of width cells.
func pad(s string, width int) string {
	for len(s) < width {
		s = " " + s
	}
	return s
}
