package panel

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/theme"
)

// Mixer shows the mix of a conversation, a fader for its own run and one for
// each state, and asks for other weights one change at a time, so that each
// has its effect on the next token.
type Mixer struct {
	frame
	mix     turn.Mix
	again   int  // tokens that the next answer reads again for the mix
	playing bool // an answer is drawn from other states than the mix has

	at      int // the chosen fader
	typing  bool
	typed   string
	wrong   string // why the last change was refused
	dragged bool   // the pointer moves a fader
}

// SetMix asks to mix like this from the next token on.
type SetMix struct{ Mix turn.Mix }

// AddState asks for a state to add to the mix.
type AddState struct{}

type (
	// MixPresets asks for the mixes that were saved.
	MixPresets struct{}
	// SaveMix asks for a name to save the present mix under.
	SaveMix struct{}
)

func (SetMix) action()     {}
func (AddState) action()   {}
func (MixPresets) action() {}
func (SaveMix) action()    {}

// NewMixer returns a panel without a mix.
func NewMixer(th theme.Theme) *Mixer { return &Mixer{frame: frame{th: th}} }

// Title is the panel's name.
func (m *Mixer) Title() string { return "Mixer" }

// Set tells the panel the mix in use, how many tokens the next answer reads
// again for it, and whether the running answer is drawn from other states.
func (m *Mixer) Set(mix turn.Mix, again int, playing bool) {
	if !m.mix.Same(mix) {
		m.typing, m.wrong, m.dragged = false, "", false
	}
	m.mix, m.again, m.playing = mix, again, playing
	m.at = min(m.at, m.last())
}

// last is the last fader.
func (m *Mixer) last() int { return len(m.mix.Others) }

// What keys move a fader by, and how far the arrows and the pointer reach.
const (
	fineStep    = 0.05
	coarseStep  = 0.25
	widestStep  = 1
	arrowsReach = 5
)

// HandleKey moves between faders, changes weights and takes typed numbers.
func (m *Mixer) HandleKey(k tea.KeyPressMsg) (Action, bool) {
	if m.typing {
		return m.typeKey(k)
	}
	if act, ok := m.listKey(k.String()); ok {
		return act, true
	}
	if !m.mix.Active() {
		return nil, false
	}
	if by, ok := steps[k.String()]; ok {
		return m.step(by), true
	}
	switch f := m.fader(); k.String() {
	case "m":
		f.Mute = !f.Mute
		return m.ask(f), true
	case "s":
		f.Solo = !f.Solo
		return m.ask(f), true
	case "0":
		f.Weight = 0
		return m.ask(f), true
	case "x", "delete", "backspace":
		return m.remove(), true
	case "enter":
		m.typing, m.typed, m.wrong = true, "", ""
		return nil, true
	}
	if numeric(k.Text) {
		m.typing, m.typed, m.wrong = true, k.Text, ""
		return nil, true
	}
	return nil, false
}

// steps are the keys that move a fader.
var steps = map[string]float64{
	"left": -fineStep, "h": -fineStep, "right": fineStep, "l": fineStep, "+": fineStep, "=": fineStep,
	"shift+left": -coarseStep, "H": -coarseStep, "[": -coarseStep, "pgdown": -coarseStep,
	"shift+right": coarseStep, "L": coarseStep, "]": coarseStep, "pgup": coarseStep,
	"ctrl+left": -widestStep, "{": -widestStep, "ctrl+right": widestStep, "}": widestStep,
}

// listKey are the keys that need no fader.
func (m *Mixer) listKey(key string) (Action, bool) {
	switch key {
	case "up", "k", "shift+tab":
		m.move(-1)
	case "down", "j", "tab":
		m.move(1)
	case "home", "g":
		m.at = 0
	case "end", "G":
		m.at = m.last()
	case "a", "insert":
		return AddState{}, true
	case "p":
		return MixPresets{}, true
	case "w":
		if m.mix.Active() {
			return SaveMix{}, true
		}
		m.wrong = "there is no mix to save yet"
	case "o":
		if m.mix.Active() {
			return SetMix{}, true
		}
	case "esc", "q":
		return Close{}, true
	default:
		return nil, false
	}
	return nil, true
}

// typeKey is a key while a weight is typed.
func (m *Mixer) typeKey(k tea.KeyPressMsg) (Action, bool) {
	switch k.String() {
	case "enter", "tab":
		return m.endTyping(), true
	case "esc":
		m.typing, m.wrong = false, ""
	case "backspace":
		if m.typed != "" {
			m.typed = m.typed[:len(m.typed)-1]
		}
	default:
		if k.Text == "" {
			return nil, false
		}
		if numeric(k.Text) && len(m.typed)+len(k.Text) <= 10 {
			m.typed, m.wrong = m.typed+k.Text, ""
		}
	}
	return nil, true
}

// StopTyping forgets what was typed, and why the last change was refused.
func (m *Mixer) StopTyping() { m.typing, m.wrong = false, "" }

func (m *Mixer) endTyping() Action {
	v, err := strconv.ParseFloat(m.typed, 32)
	if err != nil {
		m.wrong = fmt.Sprintf("%q is not a number", m.typed)
		return nil
	}
	f := m.fader()
	f.Weight = float32(v)
	act := m.ask(f)
	m.typing = act == nil
	return act
}

// Wheel goes to another fader.
func (m *Mixer) Wheel(by int) {
	if !m.typing {
		m.at, m.wrong = min(max(m.at+by, 0), m.last()), ""
	}
}

func (m *Mixer) move(by int) {
	m.at, m.wrong = (m.at+by+m.last()+1)%(m.last()+1), ""
}

// fader is the chosen one.
func (m *Mixer) fader() turn.MixMember { return m.mix.Members()[m.at] }

// step moves the chosen fader, to multiples of the step.
func (m *Mixer) step(by float64) Action {
	f, size := m.fader(), math.Abs(by)
	v := float64(f.Weight) / size
	if by > 0 {
		v = math.Floor(v+1e-4) + 1
	} else {
		v = math.Ceil(v-1e-4) - 1
	}
	f.Weight = rounded(min(max(v*size, -arrowsReach), arrowsReach))
	return m.ask(f)
}

// rounded leaves out what multiplication has added.
func rounded(v float64) float32 { return float32(math.Round(v*1e4) / 1e4) }

// ask asks for another chosen fader, unless the weights cannot be used.
func (m *Mixer) ask(f turn.MixMember) Action { return m.use(m.mix.WithMember(m.at, f)) }

// use asks for a mix, unless it cannot be used. What it shows follows when it
// is told of it.
func (m *Mixer) use(mix turn.Mix) Action {
	if err := mix.Check(); err != nil {
		m.wrong = err.Error()
		return nil
	}
	m.wrong = ""
	return SetMix{mix}
}

// remove takes the chosen state out of the mix; without states there is none.
func (m *Mixer) remove() Action {
	if m.at == 0 {
		m.wrong = "the conversation's own run is always in the mix: 0 or m silences it"
		return nil
	}
	mix := m.mix
	mix.Others = slices.Delete(slices.Clone(mix.Others), m.at-1, m.at)
	if !mix.Active() {
		return SetMix{}
	}
	return m.use(mix)
}

// Press chooses the fader under the pointer, and moves it.
func (m *Mixer) Press(x, y int) Action {
	i, ok := m.faderAt(y)
	if !ok {
		return nil
	}
	m.at, m.typing, m.wrong, m.dragged = i, false, "", false
	if at, width := m.barPlace(); x < at || x >= at+width {
		return nil
	}
	m.dragged = true
	return m.Drag(x, y)
}

// Drag moves the fader that was pressed.
func (m *Mixer) Drag(x, _ int) Action {
	if !m.dragged {
		return nil
	}
	f := m.fader()
	if f.Weight = m.weightAt(x); f.Weight == m.fader().Weight {
		return nil
	}
	return m.ask(f)
}

// Release lets the fader go.
func (m *Mixer) Release() { m.dragged = false }
