package tree

import (
	"fmt"
	"strings"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Draw returns the strip, at the bottom of the screen.
func (s *timeline) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := s.inner()
	content := []string{s.strip(th, inner)}
	content = append(content, s.about(th, inner)...)
	hints := kit.HintLine(th, inner-2,
		m.Hint(keys.List, keys.ListAccept), "go on from here", m.Hint(keys.List, keys.ListCancel), "back",
		m.Hint(keys.Composer, keys.CharLeft)+"/"+m.Hint(keys.Composer, keys.CharRight), "turn",
		m.Hint(keys.List, keys.ListUp)+"/"+m.Hint(keys.List, keys.ListDown), "exchange")
	title := fmt.Sprintf("Stop %s of %s", kit.FormatCount(s.at), kit.FormatCount(len(s.turns)))
	b := kit.Frame(th, title, content, hints, inner, s.Width, s.Height)
	b.X, b.Y = 0, max(0, s.Height-len(b.Lines))
	return b
}

// strip draws the stops: the one that is chosen, those with versions, labels
// or pins, prompts and answers.
func (s *timeline) strip(th theme.Theme, width int) string {
	first, n := s.window(width)
	rule := th.Glyphs.Rule
	if rule == "" {
		rule = " "
	}
	var b strings.Builder
	for i := first; i < first+n; i++ {
		style := th.Text
		if i > s.at {
			style = th.Muted
		}
		if i > first {
			b.WriteString(style.Render(rule))
		}
		if i == s.at {
			style = th.Selected
		}
		b.WriteString(style.Render(s.mark(i, th)))
	}
	return b.String()
}

// mark is the sign of a stop.
func (s *timeline) mark(i int, th theme.Theme) string {
	if i == 0 {
		return "0"
	}
	t := s.turns[i-1]
	switch {
	case t.Label != "" || t.Pinned:
		return "!"
	case i-1 < len(s.siblings) && s.siblings[i-1].Of > 1:
		return "+"
	case t.Role == turn.RoleUser:
		return th.Glyphs.Cursor
	}
	return th.Glyphs.Bullets[0]
}

// about says how the turn before the stop was made, in a fixed number of lines.
func (s *timeline) about(th theme.Theme, width int) []string {
	if s.at == 0 {
		return []string{"The beginning: what is sent from here starts a line of its own.", "", ""}
	}
	t := s.turns[s.at-1]
	first := []string{speaker(t), t.Created.Local().Format("2006-01-02 15:04:05")}
	if t.Label != "" {
		first = append(first, "“"+kit.OneLine(t.Label)+"”")
	}
	if i := s.at - 1; i < len(s.siblings) && s.siblings[i].Of > 1 {
		first = append(first, fmt.Sprintf("version %d of %d", s.siblings[i].N, s.siblings[i].Of))
	}
	if t.ModelName != "" {
		first = append(first, kit.OneLine(t.ModelName))
	}
	second := append([]string{stateName(t), adapterName(t), kit.AboutMix(t), samplingLine(t.Sampling)}, costs(t)...)
	text := t.Text
	if t.Role == turn.RoleAssistant {
		_, text, _ = prompt.SplitThought(text)
	}
	const enough = 400 // bytes: more than a line shows
	text = kit.OneLine(strings.ToValidUTF8(text[:min(len(text), enough)], ""))
	lines := []string{kit.JoinFitting(first, width), kit.JoinFitting(second, width)}
	return append(lines, th.Muted.Render(kit.Fit(text, width)))
}

func speaker(t turn.Turn) string {
	if t.Role == turn.RoleUser {
		return "prompt"
	}
	if t.Edited {
		return "answer, edited"
	}
	return "answer"
}

func stateName(t turn.Turn) string {
	if t.Base == "" {
		return "zero state"
	}
	return "state " + kit.OneLine(t.Base)
}

func adapterName(t turn.Turn) string {
	if t.Adapter == "" {
		return "no adapter"
	}
	return "adapter " + kit.OneLine(t.Adapter)
}

func samplingLine(p sampler.Params) string {
	line := fmt.Sprintf("temp %.4g · top_p %.4g", p.Temperature, p.TopP)
	if p.TopK > 0 {
		line += fmt.Sprintf(" · top_k %d", p.TopK)
	}
	if p.Seed != 0 {
		line += fmt.Sprintf(" · seed %d", p.Seed)
	}
	return line
}

// costs are the tokens of a turn and their speed.
func costs(t turn.Turn) []string {
	parts := []string{kit.FormatCount(len(t.Tokens)) + " tokens"}
	if rate := t.Usage.Rate(); rate > 0 {
		parts = append(parts, kit.FormatRate(rate)+" tok/s")
	}
	return parts
}
