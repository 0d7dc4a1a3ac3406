package panel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"rookery/infer/sampler"
)

const (
	nameWidth  = 13
	valueWidth = 9
	// besideWidth is how wide the panel must be for the candidates to stand
	// beside the parameters.
	besideWidth = 76
	paramsWidth = 44
)

// paramsColumn is how wide the parameters are where the candidates stand beside
// them: about half of a small terminal.
func (s *Sampling) paramsColumn() int { return min(paramsWidth, (s.width-3)/2) }

// Draw shows the parameters, what the chosen one means, and the candidates.
func (s *Sampling) Draw() string {
	if s.width < besideWidth {
		return s.fill(s.column(s.width, s.height))
	}
	params := s.paramsColumn()
	left := s.column(params, s.height)
	right := s.drawCandidates(s.width-params-3, s.height)
	bar := " " + s.th.Border.Render(s.th.Glyphs.Vertical) + " "
	lines := make([]string, s.height)
	for i := range lines {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines[i] = fit(l, params, s.th.Glyphs.Ellipsis) + bar + r
	}
	return s.fill(lines)
}

// column shows the parameters above the help. Candidates take what is left
// between them, unless they stand elsewhere.
func (s *Sampling) column(width, height int) []string {
	help := s.help(width, height)
	room := height - len(help)
	var rows []string
	for i := range s.rows {
		rows = append(rows, s.drawRow(i, width))
	}
	rows = s.scroll(rows, room)
	if left := room - len(rows) - 1; left >= 3 && s.width < besideWidth {
		rows = append(append(rows, ""), s.drawCandidates(width, left)...)
	}
	for len(rows) < room {
		rows = append(rows, "")
	}
	return append(rows, help...)
}

// help is what fits of drawHelp below some rows.
func (s *Sampling) help(width, height int) []string {
	help := s.drawHelp(width)
	return help[:min(len(help), max(0, height-3))]
}

// scroll keeps the chosen row in sight and says where there are more.
func (s *Sampling) scroll(rows []string, room int) []string {
	if len(rows) <= room || room <= 0 {
		return rows[:min(len(rows), max(0, room))]
	}
	from := s.firstRow(room)
	shown := append([]string(nil), rows[from:from+room]...)
	mark := func(i int, glyph string) {
		if from+i != s.at {
			shown[i] = s.th.Muted.Render(glyph) + ansi.Cut(shown[i], 1, math.MaxInt32)
		}
	}
	if from > 0 {
		mark(0, s.th.Glyphs.Up)
	}
	if from+room < len(rows) {
		mark(room-1, s.th.Glyphs.Down)
	}
	return shown
}

// firstRow is the first row in sight where there is room for so many.
func (s *Sampling) firstRow(room int) int {
	return max(0, min(max(0, s.at-room/2), len(s.rows)-room))
}

func (s *Sampling) drawRow(i, width int) string {
	row := s.rows[i]
	value := row.show(s.params)
	if i == s.at && s.typing {
		value = s.typed + "_"
	}
	room := valueWidth
	if row.share == nil {
		room = max(valueWidth, width-nameWidth-3)
	}
	name := fit(row.name, nameWidth, s.th.Glyphs.Ellipsis)
	line := name + " " + fit(value, room, s.th.Glyphs.Ellipsis)
	if i == s.at {
		line = s.th.Chosen.Render(s.th.Glyphs.Cursor + " " + line)
	} else {
		line = "  " + s.th.Muted.Render(name) + " " + fit(value, room, s.th.Glyphs.Ellipsis)
	}
	if bar := width - ansi.StringWidth(line) - 2; row.share != nil && bar >= 6 && s.drawsGraphs() {
		line += " " + s.th.Graph1.Render(s.bar(row.share(s.params), bar))
	}
	return line
}

// drawHelp says what the chosen row means and which keys there are.
func (s *Sampling) drawHelp(width int) []string {
	var lines []string
	add := func(text string, render func(...string) string) {
		for _, l := range strings.Split(ansi.Wrap(text, max(1, width), ""), "\n") {
			lines = append(lines, render(l))
		}
	}
	lines = append(lines, "")
	if s.wrong != "" {
		add(s.wrong, s.th.Error.Render)
	} else {
		add(s.helpText(), s.th.Text.Render)
	}
	if keys := s.keyHint(width); keys != "" {
		add(keys, s.th.Muted.Render)
	}
	return lines
}

// keyHint is the longest hint at the keys that fits.
func (s *Sampling) keyHint(width int) string {
	hints := []string{"←→ change · shift more · 0-9 type · r preset · s save as · d default", "←→ change · 0-9 type · s save · d default", "←→ change · s save · d default"}
	switch {
	case s.typing:
		hints = []string{"enter takes it, esc does not"}
	case !s.th.Glyphs.Braille:
		hints = []string{"left/right change, shift more, 0-9 type, r preset, s save as, d default", "left/right, 0-9, s save, d default"}
	}
	for _, h := range hints {
		if ansi.StringWidth(h) <= width {
			return h
		}
	}
	return ""
}

func (s *Sampling) helpText() string {
	row := s.rows[s.at]
	switch {
	case row.field == nil:
		if i := s.presetIndex(s.preset); i >= 0 {
			return "A set of parameters for this model. " + s.preset + ": " + s.presets[i].About + "."
		}
		return "Sets of parameters for this model. These are your own."
	case row.is(sampler.Chosen):
		if i := int(s.params.Mode); i < len(row.field.Choices) {
			return row.field.Choices[i].About
		}
		return ""
	case row.is(sampler.Tokens):
		return s.banHelp()
	case row.is(sampler.Biased):
		return s.biasHelp()
	case row.is(sampler.Stream):
		return row.field.About + " Enter keeps that of the latest answer."
	}
	return row.field.About
}

// banHelp lists the banned tokens.
func (s *Sampling) banHelp() string {
	if len(s.params.Ban) == 0 {
		return "Tokens that are never chosen. They are set in the configuration."
	}
	return "Never chosen: " + s.nameTokens(s.params.Ban) + ". Delete allows all."
}

// biasHelp lists the biased tokens.
func (s *Sampling) biasHelp() string {
	if len(s.params.Bias) == 0 {
		return "What is added to the logits of tokens. It is set in the configuration."
	}
	var names []string
	for _, b := range s.params.Bias[:min(len(s.params.Bias), mostNamed)] {
		names = append(names, s.nameTokens([]int32{b.Token})+fmt.Sprintf(" %+g", b.Add))
	}
	if more := len(s.params.Bias) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "Added: " + strings.Join(names, ", ") + ". Delete adds nothing."
}

// mostNamed is how many tokens of a list are named.
const mostNamed = 12

// nameTokens lists tokens by id and text.
func (s *Sampling) nameTokens(ids []int32) string {
	var names []string
	for i, id := range ids {
		if i == mostNamed {
			names = append(names, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		name := strconv.Itoa(int(id))
		if s.tokenName != nil {
			name += " " + strconv.Quote(s.tokenName(id))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
