package ui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/keys"
	"rookery/ui/kit"
)

// A heat is the strip below the messages that shows which state of a mix
// pushed each token of an answer: its log-probability by the state alone
// against that by the mix. A cell is a token, the newest one at the right.
type heat struct {
	hidden  bool // by the person
	focused bool // the keyboard is here

	turn   turn.ID
	names  []string      // of the states, the own run first
	tokens []infer.Token // of the answer, with the figures of its states
	at     int           // the selected token; -1: none, the newest are in sight
}

// The strip gets a row for each state where the screen has room for them, and
// otherwise one for all.
const (
	heatStates    = 6  // at most, with a row each
	heatRowsFrom  = 20 // lines of the screen
	heatWidthFrom = 60
	heatFrom      = 14 // lines of the screen for any strip
)

// sync takes over the figures of the running answer, of the selected one or of
// the last.
func (h *heat) sync(t *tab) {
	tn, tokens := t.mixedTokens()
	if tn.ID != h.turn {
		h.turn, h.at = tn.ID, -1
	}
	h.names, h.tokens = nil, nil
	if len(tokens) == 0 || len(tokens[len(tokens)-1].MemberLogprobs) == 0 {
		return
	}
	h.tokens = tokens
	for i, f := range tn.Mix.Members() {
		name := kit.OneLine(f.Name)
		if i == 0 {
			name = "own run"
		}
		h.names = append(h.names, name)
	}
	h.at = min(h.at, len(tokens)-1)
}

// mixedTokens is the answer that the strip is about, and its tokens.
func (t *tab) mixedTokens() (turn.Turn, []infer.Token) {
	if live := t.view.Live; live != nil {
		return live.Turn, live.Drawn
	}
	tn := turn.Turn{}
	for _, other := range slices.Backward(t.view.Turns) {
		if other.Role == turn.RoleAssistant {
			tn = other
			break
		}
	}
	if answer, ok := t.SelectedAnswer(); ok && answer.ID != 0 {
		tn = answer
	}
	if tn.ID == 0 || !tn.Mix.Active() {
		return tn, nil
	}
	return tn, t.d.Drawn(tn.ID)
}

// rows is how many lines the strip takes of a screen.
func (h *heat) rows(width, height int) int {
	if h.hidden || len(h.tokens) == 0 || height < heatFrom {
		return 0
	}
	n := 1
	if h.each(width, height) {
		n = len(h.names)
	}
	if h.focused {
		n++
	}
	return n
}

// each says whether every state has a row.
func (h *heat) each(width, height int) bool {
	return len(h.names) <= heatStates && width >= heatWidthFrom && height >= heatRowsFrom
}

var errNoHeat = errors.New("there is no answer of a mix here whose tokens were drawn since the start: send a prompt with a mix, or retry")

// showHeat goes to the strip, and hides it from there.
func (m *Model) showHeat(string) tea.Cmd {
	switch h := &m.heat; {
	case len(h.tokens) == 0:
		return m.fail(errNoHeat)
	case h.focused:
		h.hidden = true
		m.setFocus(keys.Composer)
	default:
		m.focusHeat()
	}
	return nil
}

// focusHeat moves the keyboard to the strip.
func (m *Model) focusHeat() {
	m.setFocus(keys.Panel)
	m.heat.hidden, m.heat.focused = false, true
	if m.heat.at < 0 {
		m.heat.at = len(m.heat.tokens) - 1
	}
}

// heatKey is a key while the strip has the keyboard; it reports whether it was
// of use.
func (m *Model) heatKey(k tea.KeyPressMsg) bool {
	const far = 10
	h := &m.heat
	if len(h.tokens) == 0 {
		m.setFocus(keys.Composer)
		return false
	}
	switch k.String() {
	case "left", "h":
		h.move(-1)
	case "right", "l":
		h.move(1)
	case "ctrl+left", "alt+left", "shift+left", "pgup", "H":
		h.move(-far)
	case "ctrl+right", "alt+right", "shift+right", "pgdown", "L":
		h.move(far)
	case "home", "g":
		h.at = 0
	case "end", "G":
		h.at = len(h.tokens) - 1
	case "esc", "q":
		m.setFocus(keys.Composer)
	default:
		return false
	}
	return true
}

func (h *heat) move(by int) { h.at = min(max(h.at+by, 0), len(h.tokens)-1) }

// clickHeat selects the token under the pointer.
func (m *Model) clickHeat(x int) {
	m.focusHeat()
	gutter, cells := m.heat.columns(m.width)
	if i := m.heat.first(cells) + x - gutter; x >= gutter && i < len(m.heat.tokens) {
		m.heat.at = i
	}
}
