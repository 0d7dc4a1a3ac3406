package panel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/infer"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// pushes are the signs of a token, from one that a state would hardly have
// drawn to one that it pushed; the middle is as likely as by the mix. They
// differ without colours too.
var pushes = map[bool][]string{
	true:  {"▁", "▂", "▃", "▄", "▅", "▆", "█"},
	false: {".", ":", "-", "=", "+", "*", "#"},
}

// pushFrom is from how many nats on, up or down, a sign is one further from the
// middle.
var pushFrom = []float32{0.05, 0.3, 1}

// level is which of the signs a push is.
func level(push float32) int {
	n := len(pushFrom)
	for _, from := range pushFrom {
		switch {
		case push >= from:
			n++
		case push <= -from:
			n--
		}
	}
	return n
}

// columns are the width of the names, and how many tokens are seen.
func (s *heat) columns(width int) (gutter, cells int) {
	const longest = 16
	for _, n := range s.names {
		gutter = max(gutter, min(longest, ansi.StringWidth(n)))
	}
	gutter = min(gutter, width/3) + 1
	return gutter, max(1, width-gutter)
}

// first is the first token in sight of so many.
func (s *heat) first(cells int) int {
	newest := max(0, len(s.tokens)-cells)
	if s.at >= 0 && s.at < newest {
		return max(0, s.at-cells/2)
	}
	return newest
}

// Draw returns the strip in as many lines as Rows says.
func (s *heat) Draw(th theme.Theme, width, height int) []string {
	if s.Rows(width, height) == 0 {
		return nil
	}
	gutter, cells := s.columns(width)
	first := s.first(cells)
	seen := s.tokens[first:min(len(s.tokens), first+cells)]
	var lines []string
	label := func(name string) string { return kit.Pad(kit.Fit(name, gutter-1), gutter) }
	detail, letters := "", false
	if s.focused {
		detail = s.detail(th, true)
		if letters = s.named() > width || ansi.StringWidth(detail) > width; letters {
			detail = s.detail(th, false)
		}
	}
	if s.each(width, height) {
		for k, name := range s.names {
			if letters { // say whose they are
				name = letter(k) + " " + name
			}
			lines = append(lines, th.Muted.Render(label(name))+s.line(seen, first, func(t infer.Token) string { return s.pushed(th, t, k) }, th))
		}
	} else {
		lines = append(lines, th.Muted.Render(label("pushed"))+s.line(seen, first, func(t infer.Token) string { return s.winner(th, t) }, th))
	}
	if s.focused {
		lines = append(lines, kit.Fit(detail, width))
	}
	return lines
}

// named is about the width of the longest figures with the states' names, so
// that names do not come and go from one token to the next.
func (s *heat) named() int {
	w := len(`100/100 "token"  mix 0.67%`)
	for _, name := range s.names {
		w += len("  A  0.67% (-2.00)") + ansi.StringWidth(name)
	}
	return w
}

// line is one cell for each token, the selected one marked.
func (s *heat) line(seen []infer.Token, first int, cell func(infer.Token) string, th theme.Theme) string {
	var b strings.Builder
	for i, t := range seen {
		c := cell(t)
		if s.focused && first+i == s.at {
			c = th.Selected.Render(ansi.Strip(c))
		}
		b.WriteString(c)
	}
	return b.String()
}

// pushed is the cell of a token in the row of a state.
func (s *heat) pushed(th theme.Theme, t infer.Token, k int) string {
	if len(t.MemberLogprobs) != len(s.names) {
		return " " // it was drawn from another mix, or from none
	}
	n := level(t.MemberLogprobs[k] - t.LogProb)
	sign := pushes[th.Glyphs.Braille][n]
	switch {
	case n < 3:
		return th.Graph2.Render(sign)
	case n > 3:
		return th.Graph3.Render(sign)
	}
	return th.Muted.Render(sign)
}

// winner is the cell of a token in the one row for all states: the letter of
// the state that found it likeliest.
func (s *heat) winner(th theme.Theme, t infer.Token) string {
	if len(t.MemberLogprobs) != len(s.names) {
		return " "
	}
	k := slices.Index(t.MemberLogprobs, slices.Max(t.MemberLogprobs))
	inks := []lipgloss.Style{th.Graph1, th.Graph2, th.Graph3, th.Accent, th.Warning, th.Code}
	return inks[max(0, k)%len(inks)].Render(letter(max(0, k)))
}

// letter stands for a state of the mix: o is this chat.
func letter(k int) string {
	const letters = "oABCDEFGHIJKLMNPQRSTUVWXYZ"
	return letters[k%len(letters) : k%len(letters)+1]
}

// detail is the selected token and its figures, with the states' names or with
// their letters alone.
func (s *heat) detail(th theme.Theme, names bool) string {
	t := s.tokens[min(max(s.at, 0), len(s.tokens)-1)]
	line := th.Muted.Render(fmt.Sprintf("%s/%s ", kit.FormatCount(s.at+1), kit.FormatCount(len(s.tokens)))) + `"` + s.tokenText(t.ID) + `"` + "  mix " + likely(t.LogProb)
	if len(t.MemberLogprobs) != len(s.names) {
		return line + th.Muted.Render("  drawn from other states")
	}
	for k, name := range s.names {
		line += "  " + letter(k) + " "
		if names {
			line += name + " "
		}
		line += fmt.Sprintf("%s (%s)", likely(t.MemberLogprobs[k]), nats(t.MemberLogprobs[k]-t.LogProb))
	}
	return line
}

// nats writes a push, without the sign of one that is none.
func nats(push float32) string {
	if text := fmt.Sprintf("%+.2f", push); text != "+0.00" && text != "-0.00" {
		return text
	}
	return "0.00"
}

// likely writes the probability of a logarithm.
func likely(logProb float32) string {
	p := math.Exp(float64(logProb))
	switch {
	case p < 0.0001:
		return "<0.01%"
	case p < 0.0995:
		return fmt.Sprintf("%.2g%%", 100*p)
	}
	return fmt.Sprintf("%.0f%%", 100*p)
}

// tokenText is a token in one line.
func (s *heat) tokenText(id int32) string {
	if s.text == nil {
		return fmt.Sprint(id)
	}
	return s.text(id)
}
