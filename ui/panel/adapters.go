package panel

import (
	"math"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/chat"
	"rookery/chat/library"
	"rookery/chat/turn"
	"rookery/infer"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Adapters shows the adapters that are known and asks for one of them, at a
// strength, for the conversation. What it shows is told to it.
type Adapters struct {
	frame
	families [][]turn.RegisteredAdapter // see chat.Families
	known    bool                       // families were told
	problem  error                      // why they could not be
	weights  int64                      // bytes of the model's own
	inUse    string                     // fingerprint of the conversation's; "" is none
	name     string                     // what people call that
	of       turn.ID                    // the conversation
	// strengths were chosen for adapters, by key. chosen is the
	// key of the one asked for last: at strength 0 the conversation has none,
	// and a new strength is not in the list at once.
	strengths map[string]float32
	chosen    string
	wanted    string // key of the adapter whose line is gone to next
	at        int    // the chosen line; 0 is "none"
	dragged   bool
	jobs      adapterJobs
	dialogue  *chat.Dialogue          // in sight
	given     map[string]turn.Adapter // that conversations got here, by fingerprint
	listing   bool                    // the list is being read
	listed    time.Time
	use       func(a turn.Adapter, strength float32) kit.Action // asks for an adapter
}

// The strengths that the slider reaches, and its steps.
const (
	strongest    = 2
	strengthStep = 0.1
	strengthMore = 0.5
)

// NewAdapters returns a panel that has not been told anything yet.
func NewAdapters(th theme.Theme) *Adapters {
	p := &Adapters{frame: frame{th: th}, strengths: map[string]float32{}, given: map[string]turn.Adapter{}}
	p.use = p.useAdapter
	return p
}

// Title is the panel's name.
func (p *Adapters) Title() string { return "Adapters" }

// Set tells what is known, or why that cannot be said, and how many bytes the
// model's own weights take.
func (p *Adapters) Set(list []turn.RegisteredAdapter, err error, weights int64) {
	p.known, p.problem, p.weights = true, err, weights
	if err != nil {
		return
	}
	key := ""
	if f := p.family(); f != nil {
		key = keyOf(f[0].Adapter)
	}
	if p.wanted != "" {
		key, p.wanted = p.wanted, ""
	}
	p.families = library.GroupByFamily(list)
	p.at = min(p.at, len(p.families))
	for i, f := range p.families {
		if keyOf(f[0].Adapter) == key {
			p.at = i + 1
		}
	}
}

// GoTo chooses the line of an adapter when it is in the list that is set next.
func (p *Adapters) GoTo(a turn.Adapter) { p.wanted = keyOf(a) }

// SetUse tells which adapter the conversation uses.
func (p *Adapters) SetUse(conversation turn.ID, fingerprint, name string) {
	if p.of != conversation {
		p.of, p.chosen = conversation, ""
		clear(p.strengths)
	}
	p.inUse, p.name = fingerprint, name
}

// keyOf is the same for an adapter at all strengths.
func keyOf(a turn.Adapter) string { return a.Path + "\n" + a.Name + "\n" + a.Options.Blocks }

// family is the adapter on the chosen line, or nil.
func (p *Adapters) family() []turn.RegisteredAdapter {
	if p.at < 1 || p.at > len(p.families) {
		return nil
	}
	return p.families[p.at-1]
}

// using is the member of a family that the conversation uses. The list may be older
// than what was loaded here.
func (p *Adapters) using(f []turn.RegisteredAdapter) (turn.Adapter, bool) {
	if p.inUse == "" {
		return turn.Adapter{}, false
	}
	for _, a := range f {
		if a.Fingerprint == p.inUse {
			return a.Adapter, true
		}
	}
	a, ok := p.given[p.inUse]
	return a, ok && keyOf(a) == keyOf(f[0].Adapter)
}

// used reports whether a family is the conversation's, be it at strength 0, or will
// be when it is loaded.
func (p *Adapters) used(f []turn.RegisteredAdapter) bool {
	if p.inUse == "" || p.chosen != "" && p.jobs.isBusyFor(p.dialogue) {
		return p.chosen == keyOf(f[0].Adapter)
	}
	_, ok := p.using(f)
	return ok
}

// strength is where the slider of a family stands: where the engine runs it, or is
// to run it, or would.
func (p *Adapters) strength(f []turn.RegisteredAdapter) float32 {
	a, inUse := p.using(f)
	if k, ok := p.strengths[keyOf(f[0].Adapter)]; ok && (!inUse || p.jobs.isBusyFor(p.dialogue)) {
		return k
	}
	if inUse {
		return a.Strength()
	}
	return f[0].Strength()
}

// loaded are the members of a family that are in memory.
func loaded(f []turn.RegisteredAdapter) (all []infer.LoadedAdapter) {
	for _, a := range f {
		if a.Loaded != nil {
			all = append(all, *a.Loaded)
		}
	}
	return all
}

// Keys are the panel's own keys.
func (p *Adapters) Keys() [][2]string {
	return [][2]string{
		{"up  down", "choose an adapter"},
		{"enter", "use it in this conversation, from the next token on"},
		{"left  right", "its strength in steps of 0.1; with shift of 0.5"},
		{"0  1", "strength 0; full strength"},
		{"m", "merge it into weights of its own, or put it beside the model's again"},
		{"d  x", "take it out of memory; out of the list"},
		{"a", "load a file"},
	}
}

// HandleKey moves, chooses, and moves the slider.
func (p *Adapters) HandleKey(k tea.KeyPressMsg) (kit.Action, bool) {
	switch k.String() {
	case "up", "k", "shift+tab":
		p.at = max(0, p.at-1)
	case "down", "j", "tab":
		p.at = min(len(p.families), p.at+1)
	case "home", "g":
		p.at = 0
	case "end", "G":
		p.at = len(p.families)
	case "left", "h", "-":
		return p.turn(-strengthStep), true
	case "right", "l", "+", "=":
		return p.turn(strengthStep), true
	case "shift+left", "H", "[":
		return p.turn(-strengthMore), true
	case "shift+right", "L", "]":
		return p.turn(strengthMore), true
	case "0":
		return p.turn(-strongest), true
	case "1":
		if f := p.family(); f != nil {
			return p.turn(1 - p.strength(f)), true
		}
	case "enter", "space":
		return p.choose(), true
	case "a", "o":
		return p.askFile, true
	case "esc", "q":
		return closePanel, true
	default:
		return p.change(k.String())
	}
	return nil, true
}

// change is a key that changes the adapter on the chosen line.
func (p *Adapters) change(key string) (kit.Action, bool) {
	f := p.family()
	switch {
	case key != "d" && key != "x" && key != "delete" && key != "m":
		return nil, false
	case f == nil:
		return nil, true
	case key == "d":
		return p.drop(f), true
	case key == "m":
		a, ok := p.using(f)
		if !ok {
			a = f[0].Adapter
		}
		return p.merge(a, !a.Merged), true
	}
	return p.askForget(f[0].Adapter), true
}

// choose uses what is on the chosen line.
func (p *Adapters) choose() kit.Action {
	f := p.family()
	if f == nil {
		p.chosen = ""
		return p.use(turn.Adapter{}, 0)
	}
	return p.useFamily(f, p.strength(f))
}

// useFamily asks for a family at a strength; 0 is as if there were none.
func (p *Adapters) useFamily(f []turn.RegisteredAdapter, strength float32) kit.Action {
	p.chosen = keyOf(f[0].Adapter)
	if strength == 0 {
		return p.use(turn.Adapter{}, 0)
	}
	for _, a := range f {
		if a.Strength() == strength {
			return p.use(a.Adapter, strength)
		}
	}
	return p.use(f[0].Adapter, strength)
}

// turn moves the slider of the chosen line. That of the conversation's adapter
// is heard at once, another one when it is chosen.
func (p *Adapters) turn(by float32) kit.Action {
	f := p.family()
	if f == nil {
		return nil
	}
	return p.setStrength(f, p.strength(f)+by)
}

func (p *Adapters) setStrength(f []turn.RegisteredAdapter, to float32) kit.Action {
	to = min(max(float32(math.Round(float64(to)*20)/20), 0), strongest)
	was, used := p.strength(f), p.used(f)
	if to == was {
		return nil
	}
	p.strengths[keyOf(f[0].Adapter)] = to
	if !used {
		return nil
	}
	return p.useFamily(f, to)
}

// Wheel goes to another line.
func (p *Adapters) Wheel(by int) { p.at = min(max(p.at+by, 0), len(p.families)) }

// Press takes the line under the pointer, and its slider.
func (p *Adapters) Press(x, y int) kit.Action {
	from, n := p.window()
	p.dragged = false
	if y < 0 || y >= n {
		return nil
	}
	p.at = from + y
	if p.family() == nil {
		return p.choose()
	}
	if at, width := p.barPlace(); width > 0 && x >= at && x < at+width {
		p.dragged = true
		return p.Drag(x, y)
	}
	return p.choose()
}

// Drag moves the slider that was pressed.
func (p *Adapters) Drag(x, _ int) kit.Action {
	f := p.family()
	if !p.dragged || f == nil {
		return nil
	}
	at, width := p.barPlace()
	return p.setStrength(f, strongest*float32(x-at)/float32(max(1, width-1)))
}

// Release lets the slider go.
func (p *Adapters) Release() { p.dragged = false }
