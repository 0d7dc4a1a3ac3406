package panel

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/prompt"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// A heat is the strip below the messages that shows which state of a mix
// pushed each token of an answer: its log-probability by the state alone
// against that by the mix. A cell is a token, the newest one at the right.
type heat struct {
	hidden  bool // by the person
	focused bool // the keyboard is here

	turn   turn.ID
	names  []string           // of the members, this chat first
	tokens []infer.Token      // of the answer, with the figures of its states
	at     int                // the selected token; -1: none, the newest are in sight
	text   func(int32) string // of a token; nil: its number
}

// Title is the strip's name.
func (s *heat) Title() string { return "Heat strip" }

// Keys are the strip's own keys.
func (s *heat) Keys() [][2]string {
	return [][2]string{
		{"left  right", "choose a token; with shift ten further"},
		{"home  end", "the first token; the last"},
		{"esc", "back to the prompt"},
	}
}

// Hints are the keys to point at while the strip has the keyboard.
func (s *heat) Hints(th theme.Theme, m keys.Map) []string {
	arrows := "left/right"
	if th.Glyphs.Braille {
		arrows = "←→"
	}
	return []string{arrows, "token", "esc", "back to the prompt", m.Hint(keys.Panel, keys.Heat), "hide"}
}

// The strip gets a row for each state where the screen has room for them, and
// otherwise one for all.
const (
	heatStates    = 6  // at most, with a row each
	heatRowsFrom  = 20 // lines of the screen
	heatWidthFrom = 60
	heatFrom      = 14 // lines of the screen for any strip
)

// Look takes over the figures of the running answer, of the selected one or of
// the last.
func (s *heat) Look(h kit.Host) {
	if m := h.Model(); m != nil && m.Tokenizer != nil {
		s.text = func(id int32) string { return prompt.TokenText(m.Tokenizer.Bytes(id)) }
	}
	v := h.Tab().View()
	if v.Live != nil {
		s.show(v.Live.Turn, v.Live.Drawn)
		return
	}
	answer, ok := h.Tab().SelectedAnswer()
	if !ok || answer.ID == 0 {
		answer, _ = kit.LastAnswer(v.Turns)
	}
	var drawn []infer.Token
	if d := h.Tab().Dialogue(); d != nil && answer.ID != 0 && answer.Mix.Active() {
		drawn = d.Drawn(answer.ID)
	}
	s.show(answer, drawn)
}

// show takes over the tokens of an answer, if its mix has figures of them.
func (s *heat) show(answer turn.Turn, drawn []infer.Token) {
	if answer.ID != s.turn {
		s.turn, s.at = answer.ID, -1
	}
	s.names, s.tokens = nil, nil
	if len(drawn) == 0 || len(drawn[len(drawn)-1].MemberLogprobs) == 0 {
		return
	}
	s.tokens = drawn
	for i, member := range answer.Mix.Members() {
		s.names = append(s.names, kit.OneLine(memberName(i, member)))
	}
	s.at = min(s.at, len(drawn)-1)
}

// Rows is how many lines the strip takes of a screen.
func (s *heat) Rows(width, height int) int {
	if s.hidden || len(s.tokens) == 0 || height < heatFrom {
		return 0
	}
	n := 1
	if s.each(width, height) {
		n = len(s.names)
	}
	if s.focused {
		n++
	}
	return n
}

// each says whether every state has a row.
func (s *heat) each(width, height int) bool {
	return len(s.names) <= heatStates && width >= heatWidthFrom && height >= heatRowsFrom
}

var errNoHeat = errors.New("there is no answer of a mix here whose tokens were drawn since the start: send a prompt with a mix, or retry")

// toggle goes to the strip, and hides it from there.
func (s *heat) toggle(h kit.Host, _ string) tea.Cmd {
	switch {
	case len(s.tokens) == 0:
		return h.Fail(errNoHeat)
	case s.focused:
		s.hidden = true
		h.Focus(keys.Composer)
	default:
		s.focus(h)
	}
	return nil
}

// focus moves the keyboard to the strip.
func (s *heat) focus(h kit.Host) {
	h.Focus(keys.Panel)
	s.hidden, s.focused = false, true
	if s.at < 0 {
		s.at = len(s.tokens) - 1
	}
}

// Focused says whether the strip has the keyboard.
func (s *heat) Focused() bool { return s.focused }

// Blur takes the keyboard away.
func (s *heat) Blur() { s.focused = false }

// HandleKey moves between tokens.
func (s *heat) HandleKey(k tea.KeyPressMsg) (kit.Action, bool) {
	const far = 10
	if len(s.tokens) == 0 {
		return toPrompt, false
	}
	switch k.String() {
	case "left", "h":
		s.move(-1)
	case "right", "l":
		s.move(1)
	case "ctrl+left", "alt+left", "shift+left", "pgup", "H":
		s.move(-far)
	case "ctrl+right", "alt+right", "shift+right", "pgdown", "L":
		s.move(far)
	case "home", "g":
		s.at = 0
	case "end", "G":
		s.at = len(s.tokens) - 1
	case "esc", "q":
		return toPrompt, true
	default:
		return nil, false
	}
	return nil, true
}

func toPrompt(h kit.Host) tea.Cmd {
	h.Focus(keys.Composer)
	return nil
}

func (s *heat) move(by int) { s.at = min(max(s.at+by, 0), len(s.tokens)-1) }

// Press selects the token under the pointer.
func (s *heat) Press(x, width int) kit.Action {
	return func(h kit.Host) tea.Cmd {
		s.focus(h)
		gutter, cells := s.columns(width)
		if i := s.first(cells) + x - gutter; x >= gutter && i < len(s.tokens) {
			s.at = i
		}
		return nil
	}
}
