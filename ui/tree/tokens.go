package tree

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/turn"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A tokenView goes through the tokens of an answer and shows what else could
// have stood there.
type tokenView struct {
	kit.Window
	dialogue *chat.Dialogue
	turn     turn.ID
	tokens   []string
	at       int // token
	list     []chat.Candidate
	seen     int // token that list is for; -1: none
	failed   string
	chosen   int  // candidate
	busy     bool // candidates are being read
}

// MostCandidates is how many likely tokens are asked for.
const MostCandidates = 12

// openTokens opens the tokens of the selected or last answer.
func openTokens(h kit.Host, arg string) tea.Cmd {
	answer, ok := findAnswer(h.Tab())
	if !ok {
		return h.Fail(errNoAnswer)
	}
	d := h.Tab().Dialogue()
	tokens, err := d.Tokens(answer.ID)
	if err == nil && len(tokens) == 0 {
		err = fmt.Errorf("the answer has no tokens")
	}
	at, bad := kit.ParseNumber(strings.Fields(arg + " 1")[0], 1)
	if err == nil && (bad != nil || at < 1 || at > len(tokens)) {
		err = fmt.Errorf("the answer has tokens 1 to %d", len(tokens))
	}
	if err != nil {
		return h.Fail(err)
	}
	s := &tokenView{dialogue: d, turn: answer.ID, tokens: tokens, at: at - 1, seen: -1}
	h.OpenDialog(s)
	return s.read(h)
}

// branch goes on from the chosen candidate.
func (s *tokenView) branch(h kit.Host) tea.Cmd {
	h.CloseDialog()
	err := s.dialogue.Branch(s.turn, s.at, s.list[s.chosen].Token)
	h.Tab().ScrollToEnd()
	return tea.Batch(kit.Report(h, "", err), h.Refresh())
}

// read reads the candidates of the present token, of one token at a time: what
// was passed meanwhile is not read.
func (s *tokenView) read(h kit.Host) tea.Cmd {
	if s.busy || s.fresh() {
		return nil
	}
	s.busy = true
	ctx, at := h.Context(), s.at
	return kit.Await(func() ([]chat.Candidate, error) {
		return s.dialogue.Candidates(ctx, s.turn, at, MostCandidates)
	}, func(h kit.Host, list []chat.Candidate, err error) tea.Cmd {
		s.busy = false
		s.seen, s.list, s.failed = at, list, ""
		if err != nil {
			s.failed = kit.OneLine(err.Error())
		}
		s.chosen = max(0, slices.IndexFunc(list, func(c chat.Candidate) bool { return c.Taken }))
		if !kit.OnTop(h, s) {
			return nil
		}
		return s.read(h)
	})
}

// Press takes a key.
func (s *tokenView) Press(id keys.ID, _ string) kit.Action {
	const far = 10
	switch id {
	case keys.ListCancel:
		return kit.Close
	case keys.ListAccept:
		if s.fresh() && s.chosen < len(s.list) && !s.list[s.chosen].Taken {
			return s.branch
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
func (s *tokenView) fresh() bool { return s.seen == s.at }

func (s *tokenView) choose(by int) {
	if s.fresh() {
		s.chosen = max(0, min(s.chosen+by, len(s.list)-1, s.rows()-1))
	}
}

func (s *tokenView) move(by int) kit.Action {
	s.at = min(max(s.at+by, 0), len(s.tokens)-1)
	return s.read
}

// Click chooses the candidate under the pointer.
func (s *tokenView) Click(_, y int) kit.Action {
	inner := kit.InnerWidth(100, s.Width)
	text := s.text(theme.Theme{}, inner, s.textRows())
	if i := y - 1 - len(text) - 2; i >= 0 && i < min(len(s.list), s.rows()) && s.fresh() && s.failed == "" {
		s.chosen = i
	}
	return nil
}

// Wheel goes to another token.
func (s *tokenView) Wheel(by, _, _ int) kit.Action { return s.move(by) }
