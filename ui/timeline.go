package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer/sampler"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A timeline is a strip over the whole visible line, one stop for each turn
// and one for the beginning. The transcript shows what it would be to go on
// from the stop.
type timeline struct {
	turns         []turn.Turn
	siblings      []chat.Siblings
	at            int // turns before the stop
	width, height int
}

// Intents of the scrubber.
type (
	// previewHead shows the line as if its first n turns were behind the head.
	previewHead struct{ turns int }
	// takeHead goes on from there, dropHead leaves all as it was.
	takeHead struct{ turn turn.ID }
	dropHead struct{}
)

func (i previewHead) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.preview(i.turns)
	return nil
}

func (i takeHead) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	err := m.tab().d.SetHead(i.turn)
	cmd := tea.Batch(m.report("", err), m.look())
	m.endPreview()
	return cmd
}

func (dropHead) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	m.endPreview()
	return nil
}

// scrub opens the scrubber, or goes to a turn by its number.
func (m *Model) scrub(arg string) tea.Cmd {
	t := m.tab()
	if arg != "" {
		said, err := goToTurn(t.d, arg)
		cmd := m.report(said, err)
		if err == nil {
			t.transcript.toHead()
		}
		return tea.Batch(cmd, m.look())
	}
	switch {
	case t.generating():
		return m.fail(chat.ErrBusy)
	case t.empty():
		return m.fail(errNoTurns)
	}
	v := t.view
	s := &timeline{turns: append(v.Turns[:len(v.Turns):len(v.Turns)], v.Ahead...), siblings: v.Siblings, at: len(v.Turns)}
	m.OpenDialog(s)
	m.preview(s.at)
	return nil
}

// preview shows a stop of the line in the transcript.
func (m *Model) preview(turns int) {
	t := m.tab()
	t.preview = &turns
	t.transcript.synced = false
	t.transcript.sync(t.shown())
	t.transcript.toHead()
}

// endPreview shows the conversation as it is.
func (m *Model) endPreview() {
	t := m.tab()
	t.preview = nil
	t.transcript.synced = false
	t.transcript.sync(t.shown())
	t.transcript.toHead()
}

// shown is the view that the transcript draws.
func (t *tab) shown() chat.View {
	v := t.view
	line := append(v.Turns[:len(v.Turns):len(v.Turns)], v.Ahead...)
	if t.preview == nil || v.Live != nil || *t.preview > len(line) {
		return v
	}
	v.Turns, v.Ahead = line[:*t.preview], line[*t.preview:]
	return v
}

func (s *timeline) Press(id keys.ID, _ string) kit.Action {
	switch id {
	case keys.ListCancel:
		return dropHead{}.do
	case keys.ListAccept:
		if s.at == 0 {
			return takeHead{0}.do
		}
		return takeHead{s.turns[s.at-1].ID}.do
	case keys.CharLeft:
		return s.move(-1)
	case keys.CharRight:
		return s.move(1)
	case keys.ListUp, keys.WordLeft:
		return s.move(-s.exchange(-1))
	case keys.ListDown, keys.WordRight:
		return s.move(s.exchange(1))
	case keys.ListPageUp:
		return s.move(-10)
	case keys.ListPageDown:
		return s.move(10)
	case keys.LineStart:
		return s.move(-len(s.turns))
	case keys.LineEnd:
		return s.move(len(s.turns))
	}
	return nil
}

func (s *timeline) move(by int) kit.Action {
	s.at = min(max(s.at+by, 0), len(s.turns))
	return previewHead{s.at}.do
}

// exchange is how many stops it is to the next end of an exchange.
func (s *timeline) exchange(by int) int {
	n := 1
	for at := s.at + by; at > 0 && at < len(s.turns) && s.turns[at].Role != turn.RoleUser; at += by {
		n++
	}
	return n
}

func (s *timeline) Wheel(by, _, _ int) kit.Action { return s.move(by) }
func (s *timeline) Click(x, y int) kit.Action     { return s.clicked(x, y) }
func (s *timeline) Resize(width, height int)      { s.width, s.height = width, height }

// clicked goes to the stop under a cell of the strip.
func (s *timeline) clicked(x, y int) kit.Action {
	if y != 1 {
		return nil
	}
	first, _ := s.window(s.inner())
	return s.move(first + (x-2)/stopWidth - s.at)
}

func (s *timeline) inner() int { return max(8, s.width-4) }

// stopWidth is the cells of a stop: its mark and the line to the next.
const stopWidth = 2

// window is the stops that a strip of some cells shows: first and how many.
func (s *timeline) window(width int) (first, n int) {
	n = min(len(s.turns)+1, max(1, (width+1)/stopWidth))
	first = min(max(0, s.at-n/2), len(s.turns)+1-n)
	return first, n
}

func (s *timeline) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := s.inner()
	content := []string{s.strip(th, inner)}
	content = append(content, s.about(th, inner)...)
	hints := kit.HintLine(th, inner-2,
		m.Hint(keys.List, keys.ListAccept), "go on from here", m.Hint(keys.List, keys.ListCancel), "back",
		m.Hint(keys.Composer, keys.CharLeft)+"/"+m.Hint(keys.Composer, keys.CharRight), "turn",
		m.Hint(keys.List, keys.ListUp)+"/"+m.Hint(keys.List, keys.ListDown), "exchange")
	title := fmt.Sprintf("Stop %s of %s", kit.FormatCount(s.at), kit.FormatCount(len(s.turns)))
	b := kit.Frame(th, title, content, hints, inner, s.width, s.height)
	b.X, b.Y = 0, max(0, s.height-len(b.Lines))
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
	lines := []string{joined(first, width), joined(second, width)}
	return append(lines, th.Muted.Render(kit.Fit(text, width)))
}

// joined are parts on one line; those that do not fit are left out from the end.
func joined(parts []string, width int) string {
	line := parts[0]
	for _, p := range parts[1:] {
		if p == "" {
			continue
		}
		if next := line + " · " + p; ansi.StringWidth(next) <= width {
			line = next
		}
	}
	return kit.Fit(line, width)
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
	line := samplingSummary(p)
	if p.Seed != 0 {
		line += fmt.Sprintf(" · seed %d", p.Seed)
	}
	return line
}

// costs are the tokens of a turn and their speed.
func costs(t turn.Turn) []string {
	parts := []string{kit.FormatCount(len(t.Tokens)) + " tokens"}
	if u := t.Usage; u.DecodeTime > 0 && u.Generated > 0 {
		parts = append(parts, kit.FormatRate(float64(u.Generated)/u.DecodeTime.Seconds())+" tok/s")
	}
	return parts
}
