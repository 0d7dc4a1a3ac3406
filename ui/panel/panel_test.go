package panel

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"rookery/chat"
	"rookery/chat/prompt"
	"rookery/infer"
	"rookery/infer/gauge"
	"rookery/infer/sampler"
	"rookery/ui/kit"
	"rookery/ui/theme"
)

func testTheme(t testing.TB) theme.Theme {
	t.Helper()
	th, err := theme.New(theme.Default, true)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

var presets = []prompt.Preset{
	{Name: "chat", About: "Conversation", Sampling: sampler.Params{Temperature: 1, TopP: 0.3, Presence: 0.5, Frequency: 0.5, Decay: 0.996}},
	{Name: "greedy", About: "Always the likeliest token", Sampling: sampler.Params{TopP: 1, Decay: 0.996}},
	{Name: "twin", About: "The same as the first", Sampling: sampler.Params{Temperature: 1, TopP: 0.3, Presence: 0.5, Frequency: 0.5, Decay: 0.996}},
}

func testSampling(t testing.TB) *Sampling {
	t.Helper()
	s := NewSampling(testTheme(t))
	s.presets, s.tokenName = presets, func(id int32) string { return fmt.Sprintf("tok\x1b%d", id) }
	p := presets[0].Sampling
	p.Ban = []int32{5, 77}
	s.Set(p, "chat")
	s.SetProspect(testProspect{}, true)
	return s
}

// testProspect keeps, of seven candidates, the first ones up to top_p.
type testProspect struct{}

func (testProspect) Under(p sampler.Params, k int) []chat.Candidate {
	var list []chat.Candidate
	sum := 0.0
	for i, text := range []string{" the", " a", `\n`, " 鸟", `\x1b[2J`, " rookery", " rook"} {
		c := chat.Candidate{Token: int32(i), Text: text, Model: math.Exp(-float64(i))*0.6 + 0.0004, Taken: i == 1}
		if sum < float64(p.TopP) {
			c.Drawn = c.Model
		}
		sum += c.Model
		list = append(list, c)
	}
	kept := 0.0
	for _, c := range list {
		kept += c.Drawn
	}
	for i := range list {
		list[i].Drawn /= kept
	}
	return list[:min(k, len(list))]
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// statsAt are those of a busy engine, seconds after the start.
func statsAt(seconds float64) infer.Stats {
	wave := 1 + math.Sin(seconds/4)
	s := infer.Stats{
		Backend: "cpu, 2 threads, AVX-512 VNNI, int8", Rows: 3, Waiting: 1, Slots: 8, RowsInStep: 3,
		DecodeRate: 60 + 20*wave, Steps: uint64(30 * seconds), Read: uint64(1000 * seconds), Generated: uint64(70 * seconds),
		StepP50: time.Duration(12+3*wave) * time.Millisecond, StepP95: time.Duration(16+4*wave) * time.Millisecond,
		Kinds:  infer.SlotKinds{Running: 3, Resident: 4, Free: 1},
		Memory: infer.Memory{Weights: 180 << 20, States: 19 << 20, Scratch: 3 << 20}, SnapshotBytes: 41 << 20,
		Requests: []infer.RequestStats{
			{Label: "Feeding the rook", Progress: infer.Progress{Read: 12, ToRead: 12, Generated: 80, Rate: 28 + 8*wave}},
			{Label: "中文的标签页", Progress: infer.Progress{Read: 9, ToRead: 9, Generated: 10, Rate: 22}},
			{Label: "A long paste", Progress: infer.Progress{Read: 1200, ToRead: 4000, Rate: 900}},
		},
	}
	if int(seconds)%20 < 3 {
		s.PrefillRate = 1234
	}
	return s
}

func testMonitor(t testing.TB, seconds int) *Monitor {
	t.Helper()
	m := NewMonitor(testTheme(t))
	m.heap = func() int64 { return 50 << 20 }
	m.SetSurroundings(testSurroundings())
	m.SetPaces([]Pace{{0, 200, 18 * time.Millisecond}, {600, 1000, 19 * time.Millisecond}, {1000, 1900, 18 * time.Millisecond}})
	for i := range 4 * seconds {
		m.Push(start.Add(time.Duration(i)*250*time.Millisecond), statsAt(float64(i)/4))
	}
	return m
}

func testSurroundings() Surroundings {
	return Surroundings{
		Adapters: 2e6, OtherModels: 26e6, InMemory: 30e6, MemoryBudget: 1e9, Unsaved: 1e6, Disk: 77e6,
		GPUs: []gauge.Reading{{Name: "NVIDIA H100 80GB HBM3", Load: 0.43, MemoryUsed: 12 << 30, MemoryTotal: 80 << 30, Power: 251.4, PowerLimit: 700, Temperature: 54}},
	}
}

var sizes = [][2]int{{80, 24}, {120, 40}, {40, 12}, {42, 30}}

// Each panel in all its sizes and glyphs is one file.
func TestGoldens(t *testing.T) {
	ascii := testTheme(t).WithGlyphs(theme.ASCIIGlyphs())
	spoken := testTheme(t).WithGlyphs(theme.SpokenGlyphs())
	for name, p := range map[string]kit.Panel{"sampling": testSampling(t), "monitor": testMonitor(t, 90), "mixer": testMixer(t), "adapters": testAdapters(t)} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			draw := func(title string, th theme.Theme, width, height int, look func(string) string) {
				p.SetTheme(th)
				p.SetSize(width, height)
				fmt.Fprintf(&b, "=== %s, %dx%d\n%s\n", title, width, height, look(p.Draw()))
			}
			for _, size := range sizes {
				draw("plain", testTheme(t), size[0], size[1], ansi.Strip)
			}
			draw("styled", testTheme(t), 80, 24, func(text string) string { return text })
			draw("ascii", ascii, 60, 40, ansi.Strip)
			draw("spoken", spoken, 60, 30, ansi.Strip)
			golden.RequireEqual(t, b.String())
		})
	}
}

// A panel is exactly as large as it was told to be, whatever it shows.
func TestDrawFits(t *testing.T) {
	panels := map[string]kit.Panel{
		"sampling": testSampling(t), "bare sampling": NewSampling(testTheme(t)),
		"monitor": testMonitor(t, 20), "new monitor": NewMonitor(testTheme(t)), "one sample": testMonitor(t, 1),
		"mixer": testMixer(t), "no mix": NewMixer(testTheme(t)),
		"adapters": testAdapters(t), "no adapters": NewAdapters(testTheme(t)),
	}
	for name, p := range panels {
		for _, w := range []int{0, 1, 2, 5, 13, 30, 42, 75, 76, 84, 200} {
			for _, h := range []int{0, 1, 2, 3, 8, 24, 90} {
				p.SetSize(w, h)
				for range 4 { // in every corner of the panel
					checkFits(t, fmt.Sprintf("%s %dx%d", name, w, h), p.Draw(), w, h)
					p.HandleKey(key("end"))
					checkFits(t, fmt.Sprintf("%s %dx%d, end", name, w, h), p.Draw(), w, h)
					p.HandleKey(key("up"))
				}
			}
		}
	}
}

func checkFits(t *testing.T, what, drawn string, w, h int) {
	t.Helper()
	if h == 0 {
		if drawn != "" {
			t.Errorf("%s: something is drawn in no lines: %q", what, drawn)
		}
		return
	}
	lines := strings.Split(drawn, "\n")
	if len(lines) != h {
		t.Errorf("%s: %d lines", what, len(lines))
	}
	for _, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Errorf("%s: a line is %d wide: %q", what, got, l)
		}
	}
}

// key is the key of that name.
func key(name string) tea.KeyPressMsg {
	k := tea.Key{}
	for {
		rest, found := strings.CutPrefix(name, "shift+")
		if !found {
			break
		}
		k.Mod, name = k.Mod|tea.ModShift, rest
	}
	special := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "tab": tea.KeyTab,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	}
	if code, ok := special[name]; ok {
		k.Code = code
	} else {
		k.Code, k.Text = []rune(name)[0], name
	}
	return tea.KeyPressMsg(k)
}
