package panel

import (
	"fmt"
	"math"

	"rookery/chat"
)

// The columns of the candidates: a mark, the text, and twice a bar with its
// percentage.
const (
	leastText    = 8
	mostText     = 18
	percentWidth = 6
)

// drawCandidates shows what a token is chosen from: each candidate by the model
// alone, and after penalties, truncation and temperature.
func (s *Sampling) drawCandidates(width, rows int) []string {
	if len(s.candidates) == 0 || rows < 2 {
		return nil
	}
	c := s.candidateColumns(width)
	lines := []string{c.heading(s)}
	for _, candidate := range s.candidates[:min(len(s.candidates), rows-1)] {
		lines = append(lines, c.line(s, candidate))
	}
	return lines
}

// candidateColumns are the widths of the columns.
type candidateColumns struct{ width, text, bar int }

func (s *Sampling) candidateColumns(width int) candidateColumns {
	c := candidateColumns{width: width, text: min(mostText, max(leastText, width/4))}
	if bar := (width - 2 - c.text - 2*(percentWidth+2)) / 2; bar >= 3 && s.drawsGraphs() {
		c.bar = bar
	}
	return c
}

func (c candidateColumns) heading(s *Sampling) string {
	name := "next token"
	if s.running {
		name = "latest token"
	}
	column := c.bar + percentWidth
	right := fmt.Sprintf("%*s  %*s", column, "model", column, "drawn")
	return spread(s.th.Title.Render(name), s.th.Muted.Render(right), c.width, s.th.Glyphs.Ellipsis)
}

func (c candidateColumns) line(s *Sampling, candidate chat.Candidate) string {
	mark := "  "
	if candidate.Taken {
		mark = s.th.Accent.Render(s.th.Glyphs.Cursor) + " "
	}
	text := fit(`"`+clean(candidate.Text)+`"`, c.text, s.th.Glyphs.Ellipsis)
	before := s.th.Muted.Render(c.bars(s, candidate.Model) + fmt.Sprintf("%*s", percentWidth, percent(candidate.Model)))
	after := s.th.Graph2.Render(c.bars(s, candidate.Drawn)) + fmt.Sprintf("%*s", percentWidth, percent(candidate.Drawn))
	return spread(mark+text, before+"  "+after, c.width, s.th.Glyphs.Ellipsis)
}

// bars is a bar, or nothing where there is no room for one.
func (c candidateColumns) bars(s *Sampling, p float64) string { return s.bar(p, c.bar) }

// percent writes a probability in four characters or fewer.
func percent(p float64) string {
	switch {
	case math.IsNaN(p) || p <= 0:
		return "-"
	case p < 0.001:
		return "<.1%"
	case p < 0.0995:
		return fmt.Sprintf("%.1f%%", p*100)
	}
	return fmt.Sprintf("%.0f%%", p*100)
}
