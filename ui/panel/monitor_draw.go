package panel

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/infer"
	"rookery/ui/graph"
)

const (
	twoColumns = 76 // cells from which on there are two columns
	leastGraph = 2  // lines of a graph
	mostGraph  = 8
	mostTabs   = 8
)

// lines are all lines of the monitor; there may be more than fit. They are
// kept for as long as they are right, since a program draws more often than it
// measures.
func (m *Monitor) lines() []string {
	if m.drawn == nil {
		m.drawn = m.layout()
	}
	return m.drawn
}

// layout arranges the sections in one column or two.
func (m *Monitor) layout() []string {
	latest, ok := m.history.latest()
	if !ok {
		return []string{m.th.Muted.Render("nothing has been measured yet")}
	}
	if m.width < twoColumns {
		fixed := [][]string{
			m.stepLines(latest, m.width, 2), m.tabLines(latest, m.width), m.paceLines(m.width, 2), m.gpuLines(m.width),
			m.slotLines(latest, m.width), m.memoryLines(latest, m.width), m.totalLines(latest, m.width),
		}
		sections := append(m.graphs(latest, m.width, m.graphRows(3, fixed...)), fixed...)
		if all := stack(true, sections...); len(all) <= m.height {
			return all
		}
		return stack(false, sections...)
	}
	left := (m.width - 3) / 2
	right := m.width - 3 - left
	fixed := stack(true, m.tabLines(latest, right), m.gpuLines(right), m.slotLines(latest, right), m.memoryLines(latest, right), m.totalLines(latest, right))
	graphs := 3
	if len(m.paces) > 0 {
		graphs = 4
	}
	rows := min(max((m.height-3*graphs+4)/graphs, leastGraph), mostGraph)
	sections := m.graphs(latest, left, rows)
	if paces := m.paceLines(left, rows); len(paces) > 0 {
		sections = append(sections, paces)
	}
	histogram := min(max(m.height-len(fixed)-3, leastGraph), mostGraph)
	return m.beside(
		stack(true, sections...),
		stack(true, m.stepLines(latest, right, histogram), fixed), left, right)
}

// graphRows is how high each of n graphs may be beside what has a fixed height.
func (m *Monitor) graphRows(n int, fixed ...[]string) int {
	room := m.height - n // a heading each
	for _, f := range fixed {
		if len(f) > 0 {
			room -= len(f) + 1
		}
	}
	return min(max((room-n)/n, leastGraph), mostGraph)
}

// stack puts sections below each other, with blank lines between if apart.
func stack(apart bool, sections ...[]string) []string {
	var out []string
	for _, s := range sections {
		if len(s) == 0 {
			continue
		}
		if apart && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, s...)
	}
	return out
}

// beside puts two columns beside each other.
func (m *Monitor) beside(a, b []string, left, right int) []string {
	bar := " " + m.th.Border.Render(m.th.Glyphs.Vertical) + " "
	out := make([]string, max(len(a), len(b)))
	for i := range out {
		l, r := "", ""
		if i < len(a) {
			l = a[i]
		}
		if i < len(b) {
			r = b[i]
		}
		out[i] = fit(l, left, m.th.Glyphs.Ellipsis) + bar + fit(r, right, m.th.Glyphs.Ellipsis)
	}
	return out
}

// graphs are those of the speeds and of the rows.
func (m *Monitor) graphs(now *sample, width, rows int) [][]string {
	s := now.stats
	inUse := fmt.Sprintf("%d of %d slots", s.Rows, s.Slots)
	if s.Waiting > 0 {
		inUse += fmt.Sprintf(", %d waiting", s.Waiting)
	}
	if s.Kinds.Resident > 0 {
		inUse += fmt.Sprintf(", %d resident", s.Kinds.Resident)
	}
	return [][]string{
		m.graph(curve{
			"decode", m.th.Muted.Render("last "+shortSpan(spans[m.span])) + "  " + rate(s.DecodeRate) + " tok/s", m.th.Graph1,
			func(s *sample) float64 { return s.stats.DecodeRate },
		}, width, rows),
		m.graph(curve{
			"prefill", rate(s.PrefillRate) + " tok/s", m.th.Graph2,
			func(s *sample) float64 { return s.stats.PrefillRate },
		}, width, rows),
		m.graph(curve{
			"rows", inUse, m.th.Graph3,
			func(s *sample) float64 { return float64(s.stats.Rows) },
		}, width, rows),
	}
}

// A curve is a value over time.
type curve struct {
	name, now string
	style     lipgloss.Style
	value     func(*sample) float64
}

func (m *Monitor) graph(c curve, width, rows int) []string {
	head := spread(m.th.Title.Render(c.name), c.now, width, m.th.Glyphs.Ellipsis)
	if !m.drawsGraphs() {
		return []string{head}
	}
	const gutter = 6
	style := m.style()
	values := m.history.series(spans[m.span], style.Columns(max(1, width-gutter)), c.value)
	area := graph.Area(values, width, rows, graph.Options{
		Style: style,
		Label: func(v float64) string { return fmt.Sprintf("%*s", gutter-1, scaleNumber(v)) },
	})
	lines := []string{head}
	for i, ink := range m.th.Shades(c.style, len(area)) {
		l := area[i]
		if width >= 2*gutter {
			lines = append(lines, m.th.Muted.Render(ansi.Cut(l, 0, gutter))+ink.Render(ansi.Cut(l, gutter, width)))
		} else {
			lines = append(lines, ink.Render(l))
		}
	}
	return lines
}

// scaleNumber writes a round number short.
func scaleNumber(v float64) string {
	if v >= 10_000 {
		return fmt.Sprintf("%gk", v/1000)
	}
	return fmt.Sprintf("%.4g", v)
}

// shortSpan writes a span of the graphs.
func shortSpan(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// stepLines are the step times and how they are spread.
func (m *Monitor) stepLines(now *sample, width, rows int) []string {
	s := now.stats
	if s.StepP50 <= 0 {
		return []string{spread(m.th.Title.Render("step"), "none yet", width, m.th.Glyphs.Ellipsis)}
	}
	lines := []string{spread(m.th.Title.Render("step"),
		fmt.Sprintf("p50 %s ms  p95 %s ms", millis(s.StepP50), millis(s.StepP95)), width, m.th.Glyphs.Ellipsis)}
	bins := m.stepTimes(max(1, min(width/2, 40)))
	if !m.drawsGraphs() || len(bins.counts) < 2 {
		return lines
	}
	for _, l := range graph.Histogram(bins.counts, width, rows, m.style()) {
		lines = append(lines, m.th.Graph2.Render(l))
	}
	return append(lines, m.th.Muted.Render(spread(millis(bins.least)+" ms", millis(bins.most)+" ms", width, m.th.Glyphs.Ellipsis)))
}

// tabLines are the requests of the time shown, with their speeds.
func (m *Monitor) tabLines(now *sample, width int) []string {
	labels := m.tabs()
	if len(labels) == 0 {
		return nil
	}
	lines := []string{m.th.Title.Render("tabs")}
	nameWidth := min(20, max(6, width/3))
	for _, label := range labels[:min(len(labels), mostTabs)] {
		line := fit(clean(label), nameWidth, m.th.Glyphs.Ellipsis) + " "
		status := m.th.Muted.Render(fmt.Sprintf("%*s", statusWidth, "done"))
		for _, r := range now.requests {
			if r.Label == label {
				status = fmt.Sprintf("%*s", statusWidth, requestStatus(r))
			}
		}
		if spark := width - nameWidth - statusWidth - 2; spark >= 4 && m.drawsGraphs() {
			line += m.th.Graph1.Render(m.sparkline(label, spark))
		}
		lines = append(lines, spread(line, status, width, m.th.Glyphs.Ellipsis))
	}
	if more := len(labels) - mostTabs; more > 0 {
		lines = append(lines, m.th.Muted.Render(fmt.Sprintf("and %d more", more)))
	}
	return lines
}

const statusWidth = 13

// requestStatus is how far a prompt is read, or how fast tokens come.
func requestStatus(r infer.RequestStats) string {
	if r.Generated == 0 && r.Read < r.ToRead {
		return fmt.Sprintf("reading %d%%", 100*r.Read/r.ToRead)
	}
	return rate(r.Rate) + " tok/s"
}

// sparkline is the decoding speed of a tab over the time shown.
func (m *Monitor) sparkline(label string, width int) string {
	style := m.style()
	values := m.history.series(spans[m.span], style.Columns(width), func(s *sample) float64 {
		for _, r := range s.requests {
			if r.Label == label && r.Generated > 0 {
				return r.Rate
			}
		}
		return 0
	})
	return graph.Sparkline(values, width, 0, style)
}

// memoryLines are the bytes by purpose, with bars of their share.
func (m *Monitor) memoryLines(now *sample, width int) []string {
	parts := m.purposes(now)
	total := int64(0)
	for _, p := range parts {
		total += p.n
	}
	lines := []string{spread(m.th.Title.Render("memory"), size(total), width, m.th.Glyphs.Ellipsis)}
	for _, p := range parts {
		if p.n == 0 {
			continue
		}
		line := fit(p.name, 11, m.th.Glyphs.Ellipsis)
		if bar := width - 11 - 9; bar >= 4 && m.drawsGraphs() {
			line += m.th.Graph3.Render(m.bar(float64(p.n)/float64(total), bar))
		}
		lines = append(lines, spread(line, fmt.Sprintf("%8s", size(p.n)), width, m.th.Glyphs.Ellipsis))
	}
	return append(lines, m.storeLines(width)...)
}

// totalLines are the counts since the start, and what the engine runs on.
func (m *Monitor) totalLines(now *sample, width int) []string {
	s := now.stats
	lines := []string{spread(m.th.Title.Render("since the start"), count(s.Steps)+" steps", width, m.th.Glyphs.Ellipsis)}
	text := count(s.Read) + " tokens read, " + count(s.Generated) + " generated"
	lines = append(lines, strings.Split(ansi.Wrap(text, max(1, width), ""), "\n")...)
	if s.Backend != "" {
		lines = append(lines, m.th.Muted.Render(fit(clean(s.Backend), width, m.th.Glyphs.Ellipsis)))
	}
	return lines
}
