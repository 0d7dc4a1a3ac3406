package tree

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// rows is how many candidates there is room for.
func (s *tokenView) rows() int { return max(2, min(MostCandidates+1, s.Height-9)) }

// textRows is how many lines there are for the answer around the token.
func (s *tokenView) textRows() int { return max(1, min(8, s.Height-s.rows()-5)) }

// Draw returns the box.
func (s *tokenView) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(100, s.Width)
	rows := s.rows()
	content := s.text(th, inner, s.textRows())
	content = append(content, "")
	content = append(content, s.table(th, inner, rows)...)
	hints := kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), "go on from it", m.Hint(keys.List, keys.ListCancel), "close",
		m.Hint(keys.Composer, keys.CharLeft)+"/"+m.Hint(keys.Composer, keys.CharRight), "token",
		m.Hint(keys.List, keys.ListUp)+"/"+m.Hint(keys.List, keys.ListDown), "candidate")
	title := fmt.Sprintf("Token %s of %s", kit.FormatCount(s.at+1), kit.FormatCount(len(s.tokens)))
	return kit.Frame(th, title, content, hints, inner, s.Width, s.Height)
}

// text is the answer around the present token, which is highlighted.
func (s *tokenView) text(th theme.Theme, width, height int) []string {
	const around = 400 // tokens: more than the pane shows
	var lines []string
	line, used, here := "", 0, 0
	flush := func() {
		lines = append(lines, line)
		line, used = "", 0
	}
	for i := max(0, s.at-around); i < min(len(s.tokens), s.at+around); i++ {
		piece := kit.Fit(s.tokens[i], width)
		w := ansi.StringWidth(piece)
		if used+w > width {
			flush()
		}
		style := th.Text
		if i > s.at {
			style = th.Muted
		}
		if i == s.at {
			style, here = th.Selected, len(lines)
		}
		line += style.Render(piece)
		used += w
		if strings.HasSuffix(piece, `\n`) {
			flush()
		}
	}
	flush()
	first := min(max(0, here-height/2), max(0, len(lines)-height))
	return lines[first:min(len(lines), first+height)]
}

// table is the candidates with their probabilities under the model, and under
// what the answer was drawn with.
func (s *tokenView) table(th theme.Theme, width, rows int) []string {
	switch {
	case s.failed != "":
		return kit.Wrap("✗ "+s.failed, width)
	case s.seen < 0:
		return []string{th.Muted.Render("reading up to this token")}
	}
	const percent = 8
	name, bar := 16, (width-16-2*percent-8)/2
	if bar < 3 { // the figures matter more than their pictures
		name, bar = min(16, max(4, width-2*percent-6)), 0
	}
	lines := []string{th.Muted.Render(kit.Fit("  "+kit.Pad("token", name)+" "+kit.Pad("the model", bar+percent+1)+" "+kit.Pad("this draw", bar+percent+1), width))}
	for i, c := range s.list {
		if i >= rows {
			break
		}
		mark := "  "
		if c.Taken && s.fresh() {
			mark = " *"
		}
		line := mark + kit.Pad(`"`+c.Text+`"`, name) + " " + gauge(th, c.Model, bar) + share(c.Model) + "  " + gauge(th, c.Drawn, bar) + share(c.Drawn)
		switch {
		case !s.fresh():
			line = th.Muted.Render(ansi.Strip(line))
		case i == s.chosen:
			line = kit.PointAt(th, ansi.Strip(line), width)
		}
		lines = append(lines, line)
	}
	return lines
}

// gauge is a bar for a probability.
func gauge(th theme.Theme, p float64, width int) string {
	n := min(max(int(p*float64(width)+0.5), 0), width)
	return strings.Repeat(th.Glyphs.Block, n) + strings.Repeat(th.Glyphs.Track, width-n)
}

// share writes a probability in 8 cells.
func share(p float64) string {
	switch {
	case p == 0:
		return "      0 "
	case p < 0.0001:
		return " < 0.01%"
	}
	return fmt.Sprintf("%7.2f%%", 100*p)
}
