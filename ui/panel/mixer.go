package panel

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"rookery/chat/turn"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Mixer shows the mix of a conversation, a slider for the chat itself and one for
// each state, and asks for other weights one change at a time, so that each
// has its effect on the next token.
type Mixer struct {
	frame
	mix     turn.Mix
	again   int  // tokens that the next answer reads again for the mix
	playing bool // an answer is drawn from other states than the mix has

	at      int // the chosen slider
	typing  bool
	typed   string
	wrong   string // why the last change was refused
	dragged bool   // the pointer moves a slider

	set func(turn.Mix) kit.Action // asks for a mix
}

// NewMixer returns a panel without a mix.
func NewMixer(th theme.Theme) *Mixer { return &Mixer{frame: frame{th: th}, set: setMix} }

// Title is the panel's name.
func (m *Mixer) Title() string { return "Mixer" }

// Keys are the panel's own keys.
func (m *Mixer) Keys() [][2]string {
	return [][2]string{
		{"up  down", "choose a weight"},
		{"left  right", "change it by 0.05; with shift by 0.25, with ctrl by 1"},
		{"1-9  -", "type a weight; enter takes it, esc does not"},
		{"m  s", "mute the state; let it, and others that are solo, speak alone"},
		{"0", "weight 0: the state reads on and has no say"},
		{"a  x", "add a state of the library; remove this one"},
		{"p  w", "use a saved mix; save this one"},
		{"o", "end the mix"},
	}
}

// Look takes over the mix of the conversation.
func (m *Mixer) Look(h kit.Host) tea.Cmd {
	v := h.Tab().View()
	playing := v.Live != nil && !v.Live.Turn.Mix.Same(v.Conversation.Mix)
	m.Set(v.Conversation.Mix, v.Rereads(), playing)
	return nil
}

// Set tells the panel the mix in use, how many tokens the next answer reads
// again for it, and whether the running answer is drawn from other states.
func (m *Mixer) Set(mix turn.Mix, again int, playing bool) {
	if !m.mix.Same(mix) {
		m.typing, m.wrong, m.dragged = false, "", false
	}
	m.mix, m.again, m.playing = mix, again, playing
	m.at = min(m.at, m.last())
}

// last is the last slider.
func (m *Mixer) last() int { return len(m.mix.Others) }

// What keys move a slider by, and how far the arrows and the pointer reach.
const (
	fineStep    = 0.05
	coarseStep  = 0.25
	widestStep  = 1
	arrowsReach = 5
)

// HandleKey moves between sliders, changes weights and takes typed numbers.
func (m *Mixer) HandleKey(k tea.KeyPressMsg) (kit.Action, bool) {
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
	switch f := m.member(); k.String() {
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

// steps are the keys that move a slider.
var steps = map[string]float64{
	"left": -fineStep, "h": -fineStep, "right": fineStep, "l": fineStep, "+": fineStep, "=": fineStep,
	"shift+left": -coarseStep, "H": -coarseStep, "[": -coarseStep, "pgdown": -coarseStep,
	"shift+right": coarseStep, "L": coarseStep, "]": coarseStep, "pgup": coarseStep,
	"ctrl+left": -widestStep, "{": -widestStep, "ctrl+right": widestStep, "}": widestStep,
}

// listKey are the keys that need no slider.
func (m *Mixer) listKey(key string) (kit.Action, bool) {
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
		return askState, true
	case "p":
		return showMixes, true
	case "w":
		if m.mix.Active() {
			return askMixName, true
		}
		m.wrong = "there is no mix to save yet"
	case "o":
		if m.mix.Active() {
			return m.set(turn.Mix{}), true
		}
	case "esc", "q":
		return closePanel, true
	default:
		return nil, false
	}
	return nil, true
}

// typeKey is a key while a weight is typed.
func (m *Mixer) typeKey(k tea.KeyPressMsg) (kit.Action, bool) {
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

func (m *Mixer) endTyping() kit.Action {
	v, err := strconv.ParseFloat(m.typed, 32)
	if err != nil {
		m.wrong = fmt.Sprintf("%q is not a number", m.typed)
		return nil
	}
	f := m.member()
	f.Weight = float32(v)
	act := m.ask(f)
	m.typing = act == nil
	return act
}

// Wheel goes to another slider.
func (m *Mixer) Wheel(by int) {
	if !m.typing {
		m.at, m.wrong = min(max(m.at+by, 0), m.last()), ""
	}
}

func (m *Mixer) move(by int) {
	m.at, m.wrong = (m.at+by+m.last()+1)%(m.last()+1), ""
}

// member is the chosen one.
func (m *Mixer) member() turn.MixMember { return m.mix.Members()[m.at] }

// step moves the chosen slider, to multiples of the step.
func (m *Mixer) step(by float64) kit.Action {
	f, size := m.member(), math.Abs(by)
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

// ask asks for another chosen slider, unless the weights cannot be used.
func (m *Mixer) ask(f turn.MixMember) kit.Action { return m.use(m.mix.WithMember(m.at, f)) }

// use asks for a mix, unless it cannot be used. What it shows follows when it
// is told of it.
func (m *Mixer) use(mix turn.Mix) kit.Action {
	if err := mix.Check(); err != nil {
		m.wrong = err.Error()
		return nil
	}
	m.wrong = ""
	return m.set(mix)
}

// remove takes the chosen state out of the mix; without states there is none.
func (m *Mixer) remove() kit.Action {
	if m.at == 0 {
		m.wrong = "this chat is always in the mix: 0 or m silences it"
		return nil
	}
	mix := m.mix
	mix.Others = slices.Delete(slices.Clone(mix.Others), m.at-1, m.at)
	if !mix.Active() {
		return m.set(turn.Mix{})
	}
	return m.use(mix)
}

// Press chooses the slider under the pointer, and moves it.
func (m *Mixer) Press(x, y int) kit.Action {
	i, ok := m.sliderAt(y)
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

// Drag moves the slider that was pressed.
func (m *Mixer) Drag(x, _ int) kit.Action {
	if !m.dragged {
		return nil
	}
	f := m.member()
	if f.Weight = m.weightAt(x); f.Weight == m.member().Weight {
		return nil
	}
	return m.ask(f)
}

// Release lets the slider go.
func (m *Mixer) Release() { m.dragged = false }
