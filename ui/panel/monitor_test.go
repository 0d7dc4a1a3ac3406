package panel

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"rookery/infer"
	"rookery/ui/theme"
)

func TestHistoryIsBounded(t *testing.T) {
	m := testMonitor(t, 700)
	if n := m.history.len(); n != keepMost {
		t.Errorf("%d samples are kept, want %d", n, keepMost)
	}
	last, _ := m.history.latest()
	if want := start.Add(700*time.Second - 250*time.Millisecond); !last.at.Equal(want) {
		t.Errorf("the latest sample is of %v, want %v", last.at, want)
	}
	for i := 1; i < m.history.len(); i++ {
		if !m.history.at(i).at.After(m.history.at(i - 1).at) {
			t.Fatalf("sample %d is not after the one before", i)
		}
	}
}

func TestSeries(t *testing.T) {
	var h history
	push := func(seconds, v float64) {
		h.push(sample{at: start.Add(time.Duration(seconds * float64(time.Second))), stats: infer.Stats{DecodeRate: v}})
	}
	value := func(s *sample) float64 { return s.stats.DecodeRate }
	if got := h.series(time.Minute, 4, value); len(got) != 0 {
		t.Errorf("an empty history has the series %v", got)
	}
	push(0, 100) // out of the span
	push(5, 1)
	push(6.5, 3)
	push(6.7, 5)
	push(9.9, 7)
	got := h.series(5*time.Second, 5, value)
	want := []float64{1, 4, 4, math.NaN(), 7} // means, a standing value, a gap
	for i := range want {
		if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fatalf("the series is %v, want %v", got, want)
		}
	}
}

func TestStepTimes(t *testing.T) {
	m := NewMonitor(testTheme(t))
	for i, ms := range []int{10, 10, 20, 40, 40, 40} {
		m.Push(start.Add(time.Duration(i)*time.Second), infer.Stats{Steps: uint64(100 * (i + 1)), StepP50: time.Duration(ms) * time.Millisecond})
	}
	got := m.stepTimes(2)
	if got.least != 10*time.Millisecond || got.most != 40*time.Millisecond {
		t.Errorf("from %v to %v", got.least, got.most)
	}
	// The first sample has no steps of its own; 20 ms is the middle of 10 and 40.
	if got.counts[0] != 100 || got.counts[1] != 400 {
		t.Errorf("counts %v, want 100 and 400", got.counts)
	}
}

func TestMonitorKeys(t *testing.T) {
	m := testMonitor(t, 30)
	m.SetSize(40, 12)
	first := m.Draw()
	m.HandleKey(key("down"))
	if second := m.Draw(); second == first {
		t.Error("down does not scroll")
	}
	m.HandleKey(key("end"))
	if drawn := ansi.Strip(m.Draw()); !strings.Contains(drawn, "int8") {
		t.Errorf("the end is not in sight:\n%s", drawn)
	}
	m.HandleKey(key("home"))
	m.HandleKey(key("+"))
	m.HandleKey(key("+"))
	m.SetSize(80, 24)
	if drawn := ansi.Strip(m.Draw()); !strings.Contains(drawn, "last 5 min") {
		t.Errorf("two steps from one minute are not five:\n%s", drawn)
	}
	if a, taken := m.HandleKey(key("q")); a == nil || !taken {
		t.Errorf("q asks for %v", a)
	}
	if _, taken := m.HandleKey(key("x")); taken {
		t.Error("x is taken")
	}
}

func TestStrip(t *testing.T) {
	var b strings.Builder
	idle := infer.Stats{Slots: 4, Memory: infer.Memory{Weights: 5 << 20}}
	for _, s := range []infer.Stats{statsAt(21), idle, {}} {
		for _, w := range []int{200, 120, 100, 80, 60, 50, 40, 20, 5, 1, 0} {
			line := Strip(s, w, testTheme(t))
			if got := ansi.StringWidth(line); got != w {
				t.Errorf("a strip of %d cells is %d wide: %q", w, got, line)
			}
			b.WriteString(ansi.Strip(line) + "|\n")
		}
	}
	b.WriteString(ansi.Strip(Strip(statsAt(21), 120, testTheme(t).WithGlyphs(theme.ASCIIGlyphs()))) + "|\n")
	golden.RequireEqual(t, b.String())
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{rate(0), "0.0"},
		{rate(99.94), "99.9"},
		{rate(99.96), "100"},
		{rate(9994), "9994"},
		{rate(9996), "10.0k"},
		{rate(123456), "123k"},
		{size(0), "0.0 kB"},
		{size(2_548_039), "2.5 MB"},
		{size(180e6), "180 MB"},
		{size(1e9), "1.0 GB"},
		{size(14 << 30), "15 GB"},
		{millis(1234 * time.Microsecond), "1.2"},
		{millis(12 * time.Millisecond), "12"},
		{millis(12 * time.Second), "12k"},
		{count(0), "0"},
		{count(999), "999"},
		{count(1000), "1,000"},
		{count(1234567), "1,234,567"},
		{percent(0), "-"},
		{percent(0.00001), "<.1%"},
		{percent(0.0123), "1.2%"},
		{percent(0.4242), "42%"},
		{percent(1), "100%"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func BenchmarkMonitorDraw(b *testing.B) {
	m := testMonitor(b, 600)
	m.span = len(spans) - 1
	m.SetSize(120, 40)
	at := start.Add(time.Hour)
	for b.Loop() {
		m.Push(at, statsAt(600))
		_ = m.Draw()
	}
}

// Slots that take memory once they are used are not all counted as if they had
// taken a part of it.
func TestMemoryOfStates(t *testing.T) {
	for name, c := range map[string]struct {
		states, state int64
		kinds         infer.SlotKinds
		want          [3]int64 // running, resident, free
	}{
		"as they are used": {3000, 1000, infer.SlotKinds{Running: 1, Resident: 1, Free: 254}, [3]int64{1000, 1000, 1000}},
		"all at once":      {256000, 1000, infer.SlotKinds{Running: 1, Resident: 1, Free: 254}, [3]int64{1000, 1000, 254000}},
		"in half width":    {128000, 1000, infer.SlotKinds{Running: 2, Free: 254}, [3]int64{1000, 0, 127000}},
		"not known":        {2560, 0, infer.SlotKinds{Resident: 2, Free: 254}, [3]int64{0, 20, 2540}},
		"never too much":   {1500, 1000, infer.SlotKinds{Running: 1, Resident: 1, Free: 6}, [3]int64{1000, 500, 0}},
	} {
		m := NewMonitor(theme.Theme{})
		m.state = c.state
		got := m.statePurposes(infer.Stats{Kinds: c.kinds, Memory: infer.Memory{States: c.states}})
		for i, want := range c.want {
			if got[i].n != want {
				t.Errorf("%s: %s take %d, want %d", name, got[i].name, got[i].n, want)
			}
		}
	}
}
