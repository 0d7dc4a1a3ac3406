package panel

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/infer/sampler"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Sampling shows the sampling parameters of a conversation and asks for
// others, one change at a time, so that each has its effect on the next token.
type Sampling struct {
	frame
	presets    []prompt.Preset
	rows       []parameter
	params     sampler.Params
	preset     string // that params are, or empty
	base       string // the preset last in use, for going back
	lastSeed   uint64
	tokenName  func(int32) string
	prospect   Prospect
	running    bool // prospect is of a running answer
	candidates []chat.Candidate
	next       nextToken
	set        func(p sampler.Params, preset string) kit.Action // asks for parameters

	at       int  // the chosen row
	dragging bool // of the bar of that row
	typing   bool
	typed    string
	wrong    string // what is wrong with what was typed
}

// A Prospect is a token that is about to be chosen, or was: it gives the k
// likeliest candidates with the probabilities that they have under parameters.
type Prospect interface {
	Under(p sampler.Params, k int) []chat.Candidate
}

// mostCandidates is how many candidates are shown at most.
const mostCandidates = 24

// NewSampling returns a panel that has not looked at anything yet.
func NewSampling(th theme.Theme) *Sampling {
	s := &Sampling{frame: frame{th: th}, set: setSampling}
	s.rows = []parameter{s.presetRow()}
	for _, f := range sampler.Fields {
		s.rows = append(s.rows, fieldRow(f))
	}
	return s
}

// Title is the panel's name.
func (s *Sampling) Title() string { return "Sampling" }

// Set tells the panel the parameters in use and the preset they are from,
// if any.
func (s *Sampling) Set(p sampler.Params, preset string) {
	changed := !sampler.SameRecipe(p, s.params) || !slices.Equal(p.Ban, s.params.Ban) || !slices.Equal(p.Bias, s.params.Bias)
	s.params, s.preset = p, preset
	if preset != "" {
		s.base = preset
	}
	if changed {
		s.consider()
	}
}

// setSampling draws with parameters from the next token on.
func setSampling(p sampler.Params, preset string) kit.Action {
	return func(h kit.Host) tea.Cmd {
		return change(h, func(d *chat.Dialogue) error { return d.SetSampling(p, preset) })
	}
}

// SetProspect tells the panel what the next token would be chosen from or, of a
// running answer, what its latest was; nil is nothing.
func (s *Sampling) SetProspect(p Prospect, running bool) {
	s.prospect, s.running = p, running
	s.consider()
}

// consider makes the candidates what they are under the parameters of now.
func (s *Sampling) consider() {
	s.candidates = nil
	if s.prospect != nil {
		s.candidates = s.prospect.Under(s.params, mostCandidates)
	}
}

// Keys are the panel's own keys.
func (s *Sampling) Keys() [][2]string {
	return [][2]string{
		{"up  down", "choose a parameter"},
		{"left  right", "change it; with shift in large steps"},
		{"0-9", "type a value; enter takes it, esc does not"},
		{"enter", "type the value, or go on to the next; keep the seed of the latest answer"},
		{"delete", "a fresh seed; no banned tokens"},
		{"r", "all parameters as the preset has them"},
	}
}

// HandleKey moves between rows, changes values and takes typed numbers.
func (s *Sampling) HandleKey(k tea.KeyPressMsg) (kit.Action, bool) {
	if s.typing {
		return s.typeKey(k)
	}
	switch k.String() {
	case "up", "k", "shift+tab":
		s.move(-1)
	case "down", "j", "tab":
		s.move(1)
	case "home", "g":
		s.at = 0
	case "end", "G":
		s.at = len(s.rows) - 1
	case "left", "h", "-":
		return s.step(-1, false), true
	case "right", "l", "+", "=":
		return s.step(1, false), true
	case "shift+left", "H", "pgdown", "[":
		return s.step(-1, true), true
	case "shift+right", "L", "pgup", "]":
		return s.step(1, true), true
	case "enter":
		return s.enter(), true
	case "delete", "backspace":
		return s.clear(), true
	case "r":
		return s.reset(), true
	case "esc", "q":
		return closePanel, true
	default:
		return nil, s.startTyping(k.Text)
	}
	return nil, true
}

// typeKey is a key while a number is typed.
func (s *Sampling) typeKey(k tea.KeyPressMsg) (kit.Action, bool) {
	switch k.String() {
	case "enter", "tab":
		return s.endTyping(), true
	case "esc":
		s.typing, s.wrong = false, ""
	case "backspace":
		if s.typed != "" {
			s.typed = s.typed[:len(s.typed)-1]
		}
	default:
		if k.Text == "" {
			return nil, false
		}
		if numeric(k.Text) && len(s.typed)+len(k.Text) <= 20 {
			s.typed, s.wrong = s.typed+k.Text, ""
		}
	}
	return nil, true
}

// numeric says whether text can be part of a number.
func numeric(text string) bool {
	for _, r := range text {
		if (r < '0' || r > '9') && r != '.' && r != '-' {
			return false
		}
	}
	return text != ""
}

// startTyping begins a number with its first digit.
func (s *Sampling) startTyping(text string) bool {
	if s.rows[s.at].parse == nil || !numeric(text) {
		return false
	}
	s.typing, s.typed, s.wrong = true, text, ""
	return true
}

// StopTyping forgets what was typed, and what was wrong with it.
func (s *Sampling) StopTyping() { s.typing, s.wrong = false, "" }

func (s *Sampling) endTyping() kit.Action {
	p := s.current()
	if err := s.rows[s.at].parse(&p, s.typed); err != nil {
		s.wrong = err.Error()
		return nil
	}
	s.typing = false
	return s.ask(p)
}

func (s *Sampling) move(by int) { s.at = (s.at + by + len(s.rows)) % len(s.rows) }

// current is a copy of the parameters that may be changed.
func (s *Sampling) current() sampler.Params {
	p := s.params
	p.Ban, p.Bias = slices.Clone(p.Ban), slices.Clone(p.Bias)
	return p
}

func (s *Sampling) step(n int, coarse bool) kit.Action {
	row := s.rows[s.at]
	if row.step == nil {
		return nil
	}
	p := s.current()
	row.step(&p, n, coarse)
	return s.ask(p)
}

// enter edits the value as text where there is one, and steps elsewhere.
func (s *Sampling) enter() kit.Action {
	row := s.rows[s.at]
	switch {
	case row.is(sampler.Stream):
		return s.toggleSeed()
	case row.parse != nil:
		s.typing, s.typed, s.wrong = true, "", ""
		return nil
	}
	return s.step(1, false)
}

// clear empties what can be empty: the seed and the lists of tokens.
func (s *Sampling) clear() kit.Action {
	p := s.current()
	switch row := s.rows[s.at]; {
	case row.is(sampler.Stream):
		p.Seed = 0
	case row.is(sampler.Tokens):
		p.Ban = nil
	case row.is(sampler.Biased):
		p.Bias = nil
	default:
		return nil
	}
	return s.ask(p)
}

// reset goes back to the preset last in use, or to the first one.
func (s *Sampling) reset() kit.Action {
	if len(s.presets) == 0 {
		return nil
	}
	p := s.current()
	s.usePreset(&p, max(0, s.presetIndex(s.base)))
	return s.ask(p)
}

// usePreset puts a preset into p. Seed and banned tokens are not part of it.
func (s *Sampling) usePreset(p *sampler.Params, i int) {
	*p = p.WithRecipe(s.presets[i].Sampling)
	s.base = s.presets[i].Name
}

// ask asks for parameters, under the name of the preset that they are: the
// last one in use if several are the same.
func (s *Sampling) ask(p sampler.Params) kit.Action {
	name := ""
	for _, q := range s.presets {
		if sampler.SameRecipe(p, q.Sampling) && (name == "" || q.Name == s.base) {
			name = q.Name
		}
	}
	return s.set(p, name)
}

func (s *Sampling) presetIndex(name string) int {
	return slices.IndexFunc(s.presets, func(p prompt.Preset) bool { return p.Name == name })
}

// toggleSeed switches between a fresh seed for every answer and that of the
// latest one.
func (s *Sampling) toggleSeed() kit.Action {
	p := s.current()
	switch {
	case p.Seed != 0:
		p.Seed = 0
	case s.lastSeed != 0:
		p.Seed = s.lastSeed
	default:
		p.Seed = 1
	}
	return s.ask(p)
}
