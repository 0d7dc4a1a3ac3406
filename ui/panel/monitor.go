package panel

import (
	"runtime/metrics"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"rookery/infer"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

// Monitor shows what the engine does over time. Push feeds it.
type Monitor struct {
	frame
	history      history
	span         int // index into spans
	top          int // first line shown, where not all fit
	heap         func() int64
	surroundings Surroundings
	state        int64               // bytes of the state of a slot, in full width; 0: not known
	paces        []Pace              // of the conversation in sight
	noted        paces               // of all answers
	read         func() Surroundings // blocks; may be nil
	reading      bool                // a command is at work
	readAt       time.Time
	drawn        []string // all lines, until something changes; nil if it has
}

// spans are the times that the graphs can cover.
var spans = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, keepFor}

// NewMonitor returns a monitor with an empty past.
func NewMonitor(th theme.Theme) *Monitor {
	return &Monitor{frame: frame{th: th}, span: 1, heap: goHeap}
}

// goHeap is the memory of the Go heap in use, in bytes. Reading it does not
// stop the program.
func goHeap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

// Title is the panel's name.
func (m *Monitor) Title() string { return "Monitor" }

// SetTheme changes the styles.
func (m *Monitor) SetTheme(th theme.Theme) {
	m.frame.SetTheme(th)
	m.drawn = nil
}

// SetSize sets the size of what Draw returns.
func (m *Monitor) SetSize(width, height int) {
	if width != m.width || height != m.height {
		m.frame.SetSize(width, height)
		m.drawn = nil
	}
}

// Push adds a sample. Samples come in order, a few times a second; the oldest
// are forgotten after ten minutes.
func (m *Monitor) Push(now time.Time, s infer.Stats) {
	requests := slices.Clone(s.Requests)
	s.Requests = nil
	m.drawn = nil
	m.history.push(sample{at: now, stats: s, heap: m.heap(), requests: requests})
}

// Keys are the monitor's own keys.
func (m *Monitor) Keys() [][2]string {
	return [][2]string{
		{"left  right", "show less time, more time"},
		{"up  down", "scroll"},
	}
}

// HandleKey changes the time shown and scrolls.
func (m *Monitor) HandleKey(k tea.KeyPressMsg) (kit.Action, bool) {
	switch k.String() {
	case "+", "=", "right", "l":
		m.setSpan(m.span + 1)
	case "-", "left", "h":
		m.setSpan(m.span - 1)
	case "up", "k":
		m.scrollTo(m.top - 1)
	case "down", "j":
		m.scrollTo(m.top + 1)
	case "pgup":
		m.scrollTo(m.top - max(1, m.height-1))
	case "pgdown", "space":
		m.scrollTo(m.top + max(1, m.height-1))
	case "home", "g":
		m.top = 0
	case "end", "G":
		m.scrollTo(len(m.lines()))
	case "esc", "q":
		return closePanel, true
	default:
		return nil, false
	}
	return nil, true
}

func (m *Monitor) setSpan(i int) {
	m.span = min(max(i, 0), len(spans)-1)
	m.drawn = nil
}

// Wheel scrolls.
func (m *Monitor) Wheel(by int) {
	const lines = 3
	m.scrollTo(m.top + lines*by)
}

// scrollTo keeps the last line at the bottom edge or below it.
func (m *Monitor) scrollTo(top int) {
	m.top = min(max(0, top), max(0, len(m.lines())-m.height))
}

// Draw shows the graphs and figures that fit, from the line scrolled to.
func (m *Monitor) Draw() string {
	lines := m.lines()
	top := min(m.top, max(0, len(lines)-m.height))
	return m.fill(lines[top:])
}

// tabs are the labels of the requests in the time shown, those that run now
// first, then the latest.
func (m *Monitor) tabs() []string {
	var labels []string
	add := func(requests []infer.RequestStats) {
		for _, r := range requests {
			if !slices.Contains(labels, r.Label) {
				labels = append(labels, r.Label)
			}
		}
	}
	for i := m.history.len() - 1; i >= 0; i-- {
		s := m.history.at(i)
		if latest, _ := m.history.latest(); latest.at.Sub(s.at) >= spans[m.span] {
			break
		}
		add(s.requests)
	}
	return labels
}
