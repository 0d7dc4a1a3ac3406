package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A microscope goes through the tokens of an answer and shows what else could
// have stood there.
type microscope struct {
	turn          turn.ID
	tokens        []string
	at            int // token
	list          []chat.Candidate
	seen          int // token that list is for; -1: none
	failed        string
	chosen        int  // candidate
	busy          bool // a command is at work
	width, height int
}

// mostCandidates is how many likely tokens are asked for.
const mostCandidates = 12

// lookAtTokens opens the microscope on the selected or last answer.
func (m *Model) lookAtTokens(arg string) tea.Cmd {
	t := m.tab()
	answer, ok := t.SelectedAnswer()
	if !ok || t.generating() && t.view.Live.Turn.ID == answer.ID {
		return m.fail(errNoAnswerYet)
	}
	tokens, err := t.d.Tokens(answer.ID)
	if err == nil && len(tokens) == 0 {
		err = fmt.Errorf("the answer has no tokens")
	}
	at, bad := number(strings.Fields(arg + " 1")[0], 1)
	if err == nil && (bad != nil || at < 1 || at > len(tokens)) {
		err = fmt.Errorf("the answer has tokens 1 to %d", len(tokens))
	}
	if err != nil {
		return m.fail(err)
	}
	s := &microscope{turn: answer.ID, tokens: tokens, at: at - 1, seen: -1}
	m.OpenDialog(s)
	return m.lookNow(s)
}

// lookAt asks for the candidates of the present token, branch goes on from another one.
type (
	lookAt struct{ s *microscope }
	branch struct {
		turn  turn.ID
		at    int
		token int32
	}
)

func (i lookAt) do(h kit.Host) tea.Cmd { return h.(*Model).lookNow(i.s) }

func (i branch) do(h kit.Host) tea.Cmd {
	m := h.(*Model)
	m.CloseDialog()
	err := m.tab().d.Branch(i.turn, i.at, i.token)
	m.tab().transcript.ScrollToEnd()
	return tea.Batch(m.report("", err), m.look(), m.tick())
}

// candidatesMsg brings what could stand at a token.
type candidatesMsg struct {
	s    *microscope
	at   int
	list []chat.Candidate
	err  error
}

// lookNow asks for one token at a time; what was passed meanwhile is not asked for.
func (m *Model) lookNow(s *microscope) tea.Cmd {
	if s.busy || s.fresh() {
		return nil
	}
	s.busy = true
	d, id, at, ctx := m.tab().d, s.turn, s.at, m.ctx
	return func() tea.Msg {
		list, err := d.Candidates(ctx, id, at, mostCandidates)
		return candidatesMsg{s, at, list, err}
	}
}

func (m *Model) onCandidates(msg candidatesMsg) tea.Cmd {
	s := msg.s
	s.busy = false
	s.seen, s.list, s.failed, s.chosen = msg.at, msg.list, "", 0
	if msg.err != nil {
		s.failed = kit.OneLine(msg.err.Error())
	}
	s.chosen = max(0, slices.IndexFunc(s.list, func(c chat.Candidate) bool { return c.Taken }))
	if len(m.dialogs) == 0 || m.dialogs[len(m.dialogs)-1] != kit.Dialog(s) {
		return nil
	}
	return m.lookNow(s)
}

func (s *microscope) Press(id keys.ID, _ string) kit.Action {
	const far = 10
	switch id {
	case keys.ListCancel:
		return kit.Close
	case keys.ListAccept:
		if s.fresh() && s.chosen < len(s.list) && !s.list[s.chosen].Taken {
			return branch{s.turn, s.at, s.list[s.chosen].Token}.do
		}
	case keys.CharLeft:
		return s.move(-1)
	case keys.CharRight:
		return s.move(1)
	case keys.WordLeft, keys.ListPageUp:
		return s.move(-far)
	case keys.WordRight, keys.ListPageDown:
		return s.move(far)
	case keys.LineStart:
		return s.move(-len(s.tokens))
	case keys.LineEnd:
		return s.move(len(s.tokens))
	case keys.ListUp:
		s.choose(-1)
	case keys.ListDown:
		s.choose(1)
	}
	return nil
}

// fresh says that the list is that of the present token, and not of one that
// was left.
func (s *microscope) fresh() bool { return s.seen == s.at }

func (s *microscope) choose(by int) {
	if s.fresh() {
		s.chosen = max(0, min(s.chosen+by, len(s.list)-1, s.rows()-1))
	}
}

func (s *microscope) move(by int) kit.Action {
	s.at = min(max(s.at+by, 0), len(s.tokens)-1)
	return lookAt{s}.do
}

// Click chooses the candidate under the pointer.
func (s *microscope) Click(_, y int) kit.Action {
	inner := kit.InnerWidth(100, s.width)
	text := s.text(theme.Theme{}, inner, s.textRows())
	if i := y - 1 - len(text) - 2; i >= 0 && i < min(len(s.list), s.rows()) && s.fresh() && s.failed == "" {
		s.chosen = i
	}
	return nil
}

func (s *microscope) Wheel(by, _, _ int) kit.Action { return s.move(by) }
func (s *microscope) Resize(width, height int)      { s.width, s.height = width, height }

// rows is how many candidates there is room for.
func (s *microscope) rows() int { return max(2, min(mostCandidates+1, s.height-9)) }

// textRows is how many lines there are for the answer around the token.
func (s *microscope) textRows() int { return max(1, min(8, s.height-s.rows()-5)) }

func (s *microscope) Draw(th theme.Theme, m keys.Map) kit.Box {
	inner := kit.InnerWidth(100, s.width)
	rows := s.rows()
	content := s.text(th, inner, s.textRows())
	content = append(content, "")
	content = append(content, s.table(th, inner, rows)...)
	hints := kit.HintLine(th, inner-2, m.Hint(keys.List, keys.ListAccept), "go on from it", m.Hint(keys.List, keys.ListCancel), "close",
		m.Hint(keys.Composer, keys.CharLeft)+"/"+m.Hint(keys.Composer, keys.CharRight), "token",
		m.Hint(keys.List, keys.ListUp)+"/"+m.Hint(keys.List, keys.ListDown), "candidate")
	title := fmt.Sprintf("Token %s of %s", kit.FormatCount(s.at+1), kit.FormatCount(len(s.tokens)))
	return kit.Frame(th, title, content, hints, inner, s.width, s.height)
}

// text is the answer around the present token, which is highlighted.
func (s *microscope) text(th theme.Theme, width, height int) []string {
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
func (s *microscope) table(th theme.Theme, width, rows int) []string {
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
			mark = "* "
		}
		line := mark + kit.Pad(`"`+c.Text+`"`, name) + " " + gauge(th, c.Model, bar) + share(c.Model) + "  " + gauge(th, c.Drawn, bar) + share(c.Drawn)
		switch {
		case !s.fresh():
			line = th.Muted.Render(ansi.Strip(line))
		case i == s.chosen:
			line = th.Selected.Render(kit.Pad(ansi.Strip(line), width))
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
